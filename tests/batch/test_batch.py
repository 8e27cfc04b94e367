"""The Batch object: shapes, infinities, crossings, members."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_bridge import Batch, CrossedBoundsError, Problem, ProblemError
from gpu_bridge.batch.batch import as_batch

A = [[1.0, 2.0], [0.0, 3.0]]


def base(**changes) -> Problem:
    data = {"row_lower": [0.0, 1.0], "row_upper": [5.0, 6.0], "upper": [4.0, 4.0], **changes}
    return Problem.from_arrays([1.0, -1.0], A, **data)


def test_members_take_their_own_data():
    batch = Batch(
        base(),
        cost=[[1, 2], [3, 4]],
        coefficients=[[1, 2, 3], [4, 5, 6]],
        row_upper=[[5, 6], [7, np.inf]],
        offset=[1.0, 2.0],
    )
    member = batch.member(1)
    assert len(batch) == 2
    np.testing.assert_array_equal(member.cost, [3, 4])
    np.testing.assert_array_equal(member.matrix.toarray(), [[4, 5], [0, 6]])
    np.testing.assert_array_equal(member.row_upper, [7, np.inf])
    np.testing.assert_array_equal(member.row_lower, [0, 1])
    assert member.offset == 2.0


def test_model_data_of_a_maximisation_is_turned():
    batch = Batch.from_model_data(base(maximize=True), cost=[[1, 2]], offset=[3.0])
    np.testing.assert_array_equal(batch.cost, [[-1, -2]])
    np.testing.assert_array_equal(batch.offset, [-3.0])
    plain = Batch.from_model_data(base(), cost=[[1, 2]], lower=[[0, 1]])
    np.testing.assert_array_equal(plain.cost, [[1, 2]])


def test_large_bounds_mean_none():
    batch = Batch(base(), lower=[[-1e20, 0]], upper=[[1e30, 2]])
    np.testing.assert_array_equal(batch.lower, [[-np.inf, 0]])
    np.testing.assert_array_equal(batch.upper, [[np.inf, 2]])


def test_crossings():
    batch = Batch(base(), lower=[[0, 0], [0, 5], [4 + 1e-10, 0]], upper=[[4.0, 4.0]] * 3)
    np.testing.assert_array_equal(batch.crossed, [False, True, False])
    assert batch.lower[2, 0] == batch.upper[2, 0]
    assert isinstance(batch.member_or_crossing(1), CrossedBoundsError)
    with pytest.raises(CrossedBoundsError, match="c1"):
        batch.member(1)


def test_a_bound_of_the_wrong_infinity_is_a_crossing():
    batch = Batch(base(), row_lower=[[0, 1], [np.inf, 1]])
    np.testing.assert_array_equal(batch.crossed, [False, True])


def test_data_can_cross_what_all_share():
    batch = Batch(base(), row_lower=[[0.0, 1.0], [0.0, 7.0]])
    np.testing.assert_array_equal(batch.crossed, [False, True])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "at least one"),
        ({"cost": [[1.0]]}, r"\(1, 1\); it must be \(1, 2\)"),
        ({"cost": [[1.0, 2.0]], "offset": [1.0, 2.0]}, r"\(2,\); it must be \(1,\)"),
        ({"cost": [[1.0, np.inf]]}, "member 0 holds inf"),
        ({"lower": [[0.0, 0.0], [0.0, np.nan]]}, "member 1 holds nan"),
        ({"coefficients": [[1.0, 2.0, np.nan]]}, "place 2"),
        ({"cost": [["a", "b"]]}, "not an array of numbers"),
    ],
)
def test_bad_data_is_refused(data, message):
    with pytest.raises(ProblemError, match=message):
        Batch(base(), **data)


def test_a_batch_of_nobody():
    assert len(Batch(base(), cost=np.zeros((0, 2)))) == 0


def test_problems_of_one_structure_become_a_batch():
    batch = as_batch([base(), base(row_upper=[9.0, 9.0]), base(offset=2.0)])
    assert batch is not None
    assert batch.cost is None
    np.testing.assert_array_equal(batch.row_upper, [[5, 6], [9, 9], [5, 6]])
    np.testing.assert_array_equal(batch.offset, [0, 0, 2])


def test_problems_that_are_all_the_same_become_a_batch():
    batch = as_batch([base(), base()])
    assert batch is not None
    assert len(batch) == 2


def test_problems_of_other_patterns_do_not():
    other = Problem.from_arrays([1.0, -1.0], [[1.0, 0.0], [2.0, 3.0]], 0.0, 5.0)
    assert as_batch([base(), other]) is None
    assert as_batch([base(), base(integrality=[True, False])]) is None
    assert as_batch([base(), base(maximize=True)]) is None


def test_large_arrays_are_looked_through_too(monkeypatch):
    monkeypatch.setattr("gpu_bridge.batch.batch.SUM_BY_THREADS_FROM", 1)
    cost = np.zeros((9, 2))
    Batch(base(), cost=cost)
    cost[7, 1] = np.nan
    with pytest.raises(ProblemError, match="member 7"):
        Batch(base(), cost=cost)
