"""Inverses of bases, the repair of singular ones, and the exact solution by which claims stand."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.papers.simplex_variants.basic_solution import (
    BasicSolution,
    basis_matrix,
    repaired,
    start_basis,
)
from solvers.papers.simplex_variants.device_pivots import Workspace, invert
from solvers.papers.simplex_variants.standard_form import ScaledForm, scaled_form, standard_form
from tests.emulator.gpu import EmulatedGpu
from tests.papers.simplex_variants.models import random_problem


def some_basis(form: ScaledForm, seed: int) -> np.ndarray:
    """Return the slack basis with some columns exchanged, not singular."""
    random = np.random.default_rng(seed)
    basic = start_basis(form)
    for column in random.permutation(form.num_columns)[: form.num_rows]:
        trial = basic.copy()
        trial[random.integers(form.num_rows)] = column
        smallest = np.linalg.svd(basis_matrix(form, trial).toarray(), compute_uv=False)[-1]
        if column not in basic and smallest > 1e-3:
            basic = trial
    return basic


@pytest.fixture
def form():
    return scaled_form(standard_form(random_problem(3, 20, 30)))


@pytest.mark.parametrize("way", ["sparse", "dense"])
def test_rows_of_the_workspace_are_columns_of_the_inverse(form, way):
    basic = some_basis(form, 1)
    space = Workspace(form, cpu())
    space.basic[:] = basic
    if way == "dense":
        space.device = EmulatedGpu("cuda", "host")
    assert invert(form, basic, space)
    found = space.inverse.reshape(space.size, space.stride)[:, : space.size].T
    assert found @ basis_matrix(form, basic).toarray() == pytest.approx(np.eye(space.size))


def test_a_singular_basis_is_refused(form):
    assert not invert(form, with_dependent_column(form), Workspace(form, cpu()))


def test_repair_puts_an_artificial_for_a_dependent_column(form):
    basic = with_dependent_column(form)
    found = repaired(form, basic, 1e-11)
    assert np.sum(found != basic) == 1
    assert found[found != basic][0] >= form.num_columns
    assert np.linalg.matrix_rank(basis_matrix(form, found).toarray()) == form.num_rows
    good = some_basis(form, 1)
    assert np.array_equal(repaired(form, good, 1e-11), good)


def test_the_exact_solution_solves_both_systems(form):
    exact = BasicSolution(form, some_basis(form, 4))
    matrix = exact.matrix.toarray()
    assert matrix @ exact.x == pytest.approx(form.rhs)
    y = exact.solve_transposed(exact.basic_cost)
    own = exact.basic[exact.basic < form.num_columns]
    assert exact.reduced_costs(y, form.cost)[own] == pytest.approx(0.0, abs=1e-12)


def with_dependent_column(form: ScaledForm) -> np.ndarray:
    """Return a basis with both parts of a free column, one of which is the other's negative."""
    basic = some_basis(form, 1)
    owners, counts = np.unique(form.origin.owner, return_counts=True)
    split = owners[(counts == 2) & (owners >= 0)][0]
    parts = np.flatnonzero(form.origin.owner == split)
    basic = basic[~np.isin(basic, parts)]
    whole = np.concatenate([parts, basic])[: form.num_rows]
    return whole
