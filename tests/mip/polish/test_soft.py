from __future__ import annotations

import numpy as np

from solvers.mip.budget import Budget
from solvers.mip.polish import Polisher, PolishStatus, soft_polish
from solvers.mip.polish.soft import soft_box
from solvers.mip.pool import Found
from solvers.mip.submip import SubMipStatus
from tests.mip.polish.test_polisher import balance_model, model_of

NO_ROWS = np.empty(0, dtype=np.int32)


def two_blocks():
    """Two pairs of binaries, of which each pair must sum to one."""
    return model_of([1, 2, 3, 4], [[1, 1, 0, 0], [0, 0, 1, 1]], [1, 1], [1, 1], 0, 1, True)


def free(box) -> list[int]:
    return list(np.flatnonzero(box.lower < box.upper))


def test_violated_rows_and_disagreement_free_columns():
    model, rng = two_blocks(), np.random.default_rng(0)
    feasible, broken = np.array([1.0, 0, 1, 0]), np.array([1.0, 1, 1, 0])
    assert free(soft_box(model, feasible, (), NO_ROWS, rng)) == []
    assert free(soft_box(model, broken, (), NO_ROWS, rng)) == [0, 1]
    assert free(soft_box(model, feasible, (), np.array([1]), rng)) == [2, 3]
    other = Found(np.array([1.0, 0, 0, 1]), 0.0, 0.0, "")
    assert free(soft_box(model, feasible, (other,), NO_ROWS, rng)) == [2, 3]
    assert free(soft_box(model, broken, (other,), NO_ROWS, rng, most_free=2)) == [0, 1]


def test_a_broken_point_is_mended_and_the_rest_of_it_kept():
    model = two_blocks()
    offered: list[np.ndarray] = []

    def offer(x: np.ndarray, source: str) -> bool:
        offered.append(x)
        return True

    result = soft_polish(model, np.array([1.0, 1, 0, 1]), offer, Budget())
    assert result.status is SubMipStatus.OPTIMAL
    np.testing.assert_array_equal(offered[-1], [1, 0, 0, 1])


def test_the_conflict_of_an_lp_shows_what_to_free():
    model = balance_model()
    x = np.array([0.0, 1.0, 0.0, 0.0])  # one flow gives two of the three
    with Polisher(model) as polisher:
        polished = polisher.polish(x)
    assert polished.status is PolishStatus.INFEASIBLE
    result = soft_polish(model, x, lambda x, source: True, Budget(), conflict=polished.conflict)
    assert result.improved
    np.testing.assert_allclose(result.x, [1, 1, 2, 1])
