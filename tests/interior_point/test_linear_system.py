"""The matrix that is factorised, and its solutions, against dense arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from solvers.core.device import cpu
from solvers.core.problem import BoolArray, FloatArray
from solvers.interior_point import on_host
from solvers.interior_point.assembly import Pattern, pair_count
from solvers.interior_point.linear_system import LinearSystem, SingularError
from solvers.interior_point.on_host import OnHost
from tests.cases import through

BOTH_LIBRARIES = pytest.mark.parametrize(
    "by_qdldl",
    [
        pytest.param(
            True,
            marks=pytest.mark.skipif(
                not on_host.qdldl_is_installed(), reason="the package qdldl is not installed"
            ),
        ),
        False,
    ],
)


def matrix(rng: np.random.Generator, rows: int, columns: int) -> sp.csr_array:
    dense = np.where(rng.random((rows, columns)) < 0.3, rng.normal(size=(rows, columns)), 0.0)
    dense[:, :rows] += np.eye(rows)
    return sp.csr_array(dense)


def kept_sets(columns: int) -> list[np.ndarray]:
    some = np.zeros(columns, dtype=bool)
    some[::3] = True
    return [np.zeros(columns, dtype=bool), some, np.ones(columns, dtype=bool)]


def analysed(A: sp.csr_array, kept: BoolArray, factors: OnHost) -> LinearSystem:
    pattern = Pattern.of(A.T.tocsr(), kept)
    factors.analyse(pattern.row, pattern.column, pattern.size)
    return LinearSystem(A, A.T.tocsr(), pattern.assembly(A.T.tocsr(), cpu()), factors)


@pytest.mark.parametrize("which", range(3))
def test_the_assembled_matrix_is_the_reduced_augmented_system(which: int) -> None:
    rng = np.random.default_rng(which)
    A = matrix(rng, 6, 11)
    kept = kept_sets(11)[which]
    d = rng.uniform(0.1, 10.0, 11)
    pattern = Pattern.of(A.T.tocsr(), kept)
    assembly = pattern.assembly(A.T.tocsr(), cpu())
    inverse = np.where(kept, 0.0, 1.0 / d)
    values = assembly.values(inverse, d[kept], 0.0, 0.0)
    lower = sp.coo_array((values, (pattern.row, pattern.column)), shape=(pattern.size,) * 2)
    dense = A.toarray()
    E, K = dense[:, ~kept], dense[:, kept]
    normal = E @ np.diag(1.0 / d[~kept]) @ E.T
    expected = np.block([[-np.diag(d[kept]), K.T], [K, normal]])
    assert lower.toarray() == pytest.approx(np.tril(expected), rel=1e-12, abs=1e-12)
    counts = np.count_nonzero(E, axis=0)
    assert pair_count(A.T.tocsr(), kept) == (counts * (counts + 1) // 2).sum()


@BOTH_LIBRARIES
@pytest.mark.parametrize("which", range(3))
@through("seed", range(3))
def test_solutions_obey_the_system_without_regularisation(
    which: int, seed: int, by_qdldl: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_host, "qdldl_is_installed", lambda: by_qdldl)
    rng = np.random.default_rng(seed)
    A = matrix(rng, 20, 45)
    system = analysed(A, kept_sets(45)[which], OnHost())
    for decades in (1.0, 4.0, 6.0):  # with the order of the one analysis
        d: FloatArray = 10.0 ** rng.uniform(-decades, decades, 45)
        system.factorise(d)
        f, g = rng.normal(size=45), rng.normal(size=20)
        dx, dy = system.solve(f, g)
        assert np.linalg.norm(A.T @ dy - d * dx - f) <= 1e-9 * np.linalg.norm(f)
        assert np.linalg.norm(A @ dx - g) <= 1e-9 * np.linalg.norm(g)
    assert system.factorisations == 3


def test_equations_that_depend_on_each_other_do_no_harm() -> None:
    rng = np.random.default_rng(5)
    few = matrix(rng, 5, 12).toarray()
    A = sp.csr_array(np.vstack([few, few[0] + few[1], 2.0 * few[2]]))
    system = analysed(A, np.zeros(12, dtype=bool), OnHost())
    system.factorise(np.ones(12))
    f, g = rng.normal(size=12), A @ rng.normal(size=12)  # g is in the range
    dx, dy = system.solve(f, g)
    assert np.linalg.norm(A @ dx - g) <= 1e-9 * np.linalg.norm(g)
    assert np.linalg.norm(A.T @ dy - dx - f) <= 1e-9 * np.linalg.norm(f)


@BOTH_LIBRARIES
def test_a_pivot_of_zero_is_told(by_qdldl: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_host, "qdldl_is_installed", lambda: by_qdldl)
    diagonal = np.arange(3)
    factors = OnHost()
    factors.analyse(diagonal, diagonal, 3)
    with pytest.raises(SingularError):
        factors.factorise(np.array([1.0, 0.0, 2.0]))
    factors.factorise(np.array([1.0, 4.0, 2.0]))
    assert factors.solve(np.ones(3)) == pytest.approx([1.0, 0.25, 0.5])


def test_many_entries_for_each_column_are_left_to_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("dense columns go to SuperLU")

    monkeypatch.setattr(on_host, "QdldlFactors", never)
    size = 2 * on_host.FEW + 2
    row, column = np.tril_indices(size)
    by_column = np.lexsort((row, column))
    row, column = row[by_column], column[by_column]
    factors = OnHost()
    factors.analyse(row, column, size)
    factors.factorise(np.where(row == column, 2.0 * size, 1.0))
    solution = factors.solve(np.ones(size))
    assert solution == pytest.approx(np.full(size, 1.0 / (3.0 * size - 1.0)))


def test_solutions_far_from_the_optimum_are_refined_less() -> None:
    rng = np.random.default_rng(8)
    A = matrix(rng, 20, 45)
    f, g = rng.normal(size=45), rng.normal(size=20)
    taken, missed = [], []
    for error in (10.0, 1e-4, 0.0, np.nan):
        system = analysed(A, np.zeros(45, dtype=bool), OnHost())
        for _ in range(4):
            system.strengthen()
        system.follow(1.0, error)
        system.factorise(10.0 ** rng.uniform(-1.0, 1.0, 45))
        system.solve(f, g)
        taken.append(system.solves)
        missed.append(system.latest_residual)
    assert taken[0] < taken[1] < taken[2] == taken[3]
    for residual, enough in zip(missed, (1e-1, 1e-5, 1e-9, 1e-9), strict=True):
        assert residual <= enough


class Stubborn(OnHost):
    """Fails until pivots are regularised enough."""

    def factorise(self, values: FloatArray) -> None:
        if values.min() < 1e-7:
            raise SingularError
        super().factorise(values)


def test_regularisation_grows_where_a_factorisation_fails() -> None:
    A = sp.csr_array(np.array([[1.0, 0.0], [0.0, 0.0]]))  # an empty row
    system = analysed(A, np.zeros(2, dtype=bool), Stubborn())
    before = system.delta
    system.factorise(np.ones(2))
    assert system.delta > before
    dx, _ = system.solve(np.zeros(2), np.array([3.0, 0.0]))
    assert dx == pytest.approx([3.0, 0.0])


class Forgetful(OnHost):
    """Has no solution until pivots are regularised enough."""

    def solve(self, right: FloatArray) -> FloatArray:
        return super().solve(right) * float(self.sound)

    def factorise(self, values: FloatArray) -> None:
        self.sound = bool(values.min() >= 1e-9)
        super().factorise(values)


def test_regularisation_grows_where_a_solution_is_useless() -> None:
    rng = np.random.default_rng(7)
    A = sp.csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0]]))
    system = analysed(A, np.zeros(3, dtype=bool), Forgetful())
    dx, _ = system.factorise_for(np.ones(3), rng.normal(size=3), np.array([3.0, 0.0]))
    assert system.is_strengthened
    assert A @ dx == pytest.approx([3.0, 0.0])
    assert system.factorisations > 1


@pytest.mark.parametrize("seed", range(5))
def test_the_size_of_the_factor_is_predicted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lower = np.tril(rng.random((30, 30)) < 0.08) | np.eye(30, dtype=bool)
    row, column = np.nonzero(lower)
    matrix = OnHost()
    matrix.analyse(row, column, 30)
    order = np.argsort(matrix._order)
    filled = (lower | lower.T)[np.ix_(matrix._order, matrix._order)]
    for j in range(30):  # elimination of j joins all that it touches
        after = np.flatnonzero(filled[j])[np.flatnonzero(filled[j]) > j]
        filled[np.ix_(after, after)] = True
    assert sorted(order) == list(range(30))
    assert matrix.entries == np.count_nonzero(np.tril(filled))


def test_what_rounding_leaves_of_equations_is_no_reason_to_regularise_more() -> None:
    rng = np.random.default_rng(3)
    A = matrix(rng, 20, 45)
    system = analysed(A, kept_sets(45)[1], OnHost())
    system.factorise(np.ones(45))
    f = rng.normal(size=45)
    for g in (1e-15 * rng.normal(size=20), 1e-18 * rng.normal(size=20)):
        dx, dy = system.solve(f, g)
        assert not system.is_useless
        assert np.linalg.norm(A @ dx) <= 1e-13 * np.linalg.norm(dx)
        assert A.T @ dy - dx == pytest.approx(f, abs=1e-9)


def test_what_an_iterate_leaves_decides_how_far_a_direction_is_refined() -> None:
    rng = np.random.default_rng(3)
    A = matrix(rng, 20, 45)
    system = analysed(A, kept_sets(45)[1], OnHost())
    system.factorise(np.exp(rng.normal(0.0, 6.0, 45)))
    system.follow(1.0, 1e-8)
    f, g = rng.normal(size=45), 1e-7 * rng.normal(size=20)
    system.solve(f, g)
    strict = system.solves
    dx, dy = system.solve(f, g, (1.0, 1.0))
    assert system.solves - strict == 1 < strict
    dual = A.T @ dy - system.diagonal * dx - f
    assert np.linalg.norm(A @ dx - g) <= 1e-2
    assert np.linalg.norm(dual) <= 1e-2
