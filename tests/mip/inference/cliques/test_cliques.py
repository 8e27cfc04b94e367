from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.problem import Problem
from solvers.mip.inference import domain
from solvers.mip.inference.domain import Cliques, find_cliques
from solvers.mip.model import MipModel
from tests.cases import through


def model_of(matrix, row_lower, row_upper, *, lower=0.0, upper=1.0, integrality=True):
    matrix = np.atleast_2d(np.asarray(matrix, dtype=float))
    return MipModel.of(
        Problem.from_arrays(
            np.zeros(matrix.shape[1]),
            sp.csr_array(matrix),
            row_lower,
            row_upper,
            lower=lower,
            upper=upper,
            integrality=integrality,
        )
    )


def as_sets(cliques: Cliques) -> set[frozenset[int]]:
    return {frozenset(map(int, cliques.members(c))) for c in range(len(cliques))}


@through(
    ("row", "low", "high", "expected"),
    [
        ([1, 1, 1], -np.inf, 1, {1, 3, 5}),
        ([1, 1, 1], 1, 1, {1, 3, 5}),
        ([3, 3, 3], 3, 3, {1, 3, 5}),
        ([-2, -2, -2], -2, np.inf, {1, 3, 5}),
        ([1, 1, -1], -np.inf, 0, {1, 3, 4}),
        ([1, 1, 1], 2, np.inf, {0, 2, 4}),
        ([5, 4, 2], -np.inf, 7, {1, 3}),
        ([5, 4, 3], -np.inf, 6, {1, 3, 5}),
        ([1, 1, 0.5], 0.8, 1.4, {1, 3, 5}),
    ],
)
def test_a_row_gives_its_clique(row, low, high, expected):
    found = as_sets(find_cliques(model_of(row, [low], [high])))
    assert frozenset(expected) in found
    assert len(found) == (2 if row[-1] == 0.5 else 1)


def test_rows_without_conflicts_give_nothing():
    model = model_of([[1, 1, 1], [1, 1, 0], [0, 0, 0]], [-np.inf] * 3, [2, 2, 1])
    assert len(find_cliques(model)) == 0


def test_weights_that_only_meet_the_capacity_within_tolerance_do_not_conflict():
    assert len(find_cliques(model_of([1, 1], [-np.inf], [2 - 5e-7]))) == 0


def test_other_columns_count_at_their_smallest_contribution():
    bounds = {"lower": [0, 0, -2], "upper": [1, 1, 5], "integrality": [True, True, False]}
    assert as_sets(find_cliques(model_of([1, 1, 1], [-np.inf], [-1], **bounds))) == {
        frozenset({1, 3})
    }
    bounds["lower"] = [0, 0, -np.inf]
    assert len(find_cliques(model_of([1, 1, 1], [-np.inf], [-1], **bounds))) == 0


def test_the_limit_caps_the_table(monkeypatch):
    model = model_of(np.eye(20)[:10] + np.eye(20)[10:], [-np.inf] * 10, [1] * 10)
    assert len(find_cliques(model)) == 10
    monkeypatch.setattr(domain, "MEMBER_LIMIT", 6)
    assert len(find_cliques(model)) == 3


def test_a_model_without_rows_or_binaries_has_an_empty_table():
    assert len(find_cliques(model_of(np.zeros((0, 3)), [], []))) == 0
    cliques = find_cliques(model_of([1, 1], [1], [1], integrality=False))
    assert len(cliques) == 0


def test_a_long_row_is_one_clique():
    n = 100_000
    cliques = find_cliques(model_of(np.ones(n), [1], [1]))
    assert len(cliques) == 1
    assert cliques.member.size == n


@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=st.data())
def test_every_feasible_point_keeps_every_clique(data):
    n, m = 5, data.draw(st.integers(1, 4))
    rows = data.draw(
        st.lists(
            st.lists(st.sampled_from([-3, -2, -1, 0, 1, 2, 3]), min_size=n, max_size=n),
            min_size=m, max_size=m,
        )
    )  # fmt: skip
    sides = [sorted(data.draw(st.tuples(st.integers(-6, 6), st.integers(-6, 6)))) for _ in rows]
    low = [a if data.draw(st.booleans()) else -np.inf for a, _ in sides]
    high = [b if data.draw(st.booleans()) else np.inf for _, b in sides]
    upper = [1, 1, 1, 1, 3]
    model = model_of(rows, low, high, upper=upper)
    cliques = find_cliques(model)
    points = np.array(list(itertools.product(*(range(u + 1) for u in upper))), dtype=float)
    activity = points @ np.asarray(rows, dtype=float).T
    feasible = points[((activity >= low) & (activity <= high)).all(axis=1)]
    for c in range(len(cliques)):
        literals = cliques.members(c)
        assert literals.size >= 2
        assert ((feasible[:, literals >> 1] == (literals & 1)).sum(axis=1) <= 1).all()
