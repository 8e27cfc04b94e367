"""Parts of a model: together they are the model, and none has a point of another."""

from __future__ import annotations

import itertools

import numpy as np

from gpu_bridge.options import make_options
from gpu_bridge.pipeline.routes.cluster_members import part, within
from solvers.core.problem import Problem
from solvers.core.progress import Progress


def odd_cover(count: int = 5) -> Problem:
    """Return a cover of an odd cycle's edges, whose relaxation is one half everywhere."""
    A = np.eye(count) + np.roll(np.eye(count), 1, axis=1)
    return Problem.from_arrays(
        np.ones(count), A, np.ones(count), upper=1.0, integrality=True, name="cycle"
    )


def test_each_point_is_in_one_part():
    problem = odd_cover()
    parts = part(problem, 2, make_options(), Progress())
    assert len(parts) == 4
    boxes = [within(problem, decisions) for decisions in parts]
    for point in itertools.product([0.0, 1.0], repeat=5):
        inside = [np.all(box.lower <= point) and np.all(point <= box.upper) for box in boxes]
        assert sum(inside) == 1, point


def test_a_part_has_all_that_was_not_decided():
    problem = odd_cover()
    decisions = part(problem, 1, make_options(), Progress())[0]
    box = within(problem, decisions)
    (column, low, high) = decisions[0]
    assert (box.lower[column], box.upper[column]) == (low, high)
    assert np.count_nonzero(box.upper != problem.upper) == 1
    np.testing.assert_array_equal(box.matrix.toarray(), problem.matrix.toarray())


def test_what_the_relaxation_decides_is_not_parted():
    whole = Problem.from_arrays([1.0, 1.0], [[1.0, 0.0]], [1.0], integrality=True)
    assert part(whole, 1, make_options(), Progress()) == []
    assert part(odd_cover(), 3, make_options(), Progress(time_limit=0.0)) == []
