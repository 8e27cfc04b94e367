"""Batches of boxes: every lane is what the propagation of its box alone gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.device import cpu
from solvers.mip.inference.propagation import ALL, BatchBoxes, DeviceModel
from tests.cases import through
from tests.mip.inference.propagation.models import AWKWARD, model_of, random_model
from tests.mip.inference.propagation.reference import propagated as alone_in

SHAPES = st.tuples(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12))
LANES = 32
SMALL = [name for name in AWKWARD if AWKWARD[name]().num_columns < 1000]


def random_items(model, seed, count=60):
    """Return lanes, columns and values of fixings, few in most lanes and some twice."""
    random = np.random.default_rng(seed)
    open_columns = model.integers[
        np.isfinite(model.lower[model.integers]) & np.isfinite(model.upper[model.integers])
    ]
    if not open_columns.size:
        return np.zeros(0, int), np.zeros(0, int), np.zeros(0)
    lane = random.integers(0, LANES, count) * random.integers(0, 2, count)
    column = random.choice(open_columns, count)
    value = random.integers(model.lower[column], model.upper[column] + 1).astype(float)
    return lane, column, value


def box_of(model, items, lane):
    """Return the bounds that the items leave of the model's in one lane."""
    which, column, value = items[0] == lane, items[1], items[2]
    lower, upper = model.lower.copy(), model.upper.copy()
    np.maximum.at(lower, column[which], value[which])
    np.minimum.at(upper, column[which], value[which])
    return lower, upper


def propagated(model, items, round_limit=100):
    boxes = BatchBoxes(DeviceModel.of(model, cpu()))
    boxes.load(model.lower, model.upper)
    boxes.wake()
    boxes.tighten(items[0], items[1], items[2], items[2])
    return boxes, boxes.propagate(round_limit)


@settings(max_examples=40)
@given(SHAPES, st.booleans())
def test_each_lane_is_its_box_alone(shape, mixed):
    model, _ = random_model(*shape, mixed=mixed)
    items = random_items(model, shape[0])
    boxes, verdict = propagated(model, items)
    lower, upper = boxes.bounds()
    tolerance = 1e-7 if mixed else 0.0
    for lane in range(LANES):
        low, high, is_infeasible, rounds = alone_in(model, *box_of(model, items, lane))
        assert is_infeasible == bool(verdict.dead >> lane & 1)
        if not is_infeasible and rounds < 100:
            np.testing.assert_allclose(lower[:, lane], low, tolerance, tolerance)
            np.testing.assert_allclose(upper[:, lane], high, tolerance, tolerance)


@through("name", SMALL)
def test_awkward_shapes_are_their_box_alone(name):
    model = AWKWARD[name]()
    items = random_items(model, 3, 40)
    boxes, verdict = propagated(model, items)
    lower, upper = boxes.bounds(0b111)
    for lane in range(3):
        low, high, is_infeasible, _ = alone_in(model, *box_of(model, items, lane))
        assert is_infeasible == bool(verdict.dead >> lane & 1)
        if model.num_columns and not is_infeasible:
            np.testing.assert_allclose(lower[:, lane], low, 1e-7)
            np.testing.assert_allclose(upper[:, lane], high, 1e-7)


def knapsack():
    """x0 + x1 + x2 <= 1 in binaries, y <= 3 x0 for a general integer y in [0, 9]."""
    matrix = [[1.0, 1.0, 1.0, 0.0], [-3.0, 0.0, 0.0, 1.0]]
    return model_of(matrix, -np.inf, [1.0, 0.0], 0.0, [1.0, 1.0, 1.0, 9.0])


def test_fixing_in_one_lane_leaves_the_others():
    model = knapsack()
    boxes, verdict = propagated(model, (np.array([5]), np.array([0]), np.array([1.0])))
    lower, upper = boxes.bounds()
    assert verdict.dead == 0
    assert verdict.is_settled
    assert (upper[:, 4] == [1, 1, 1, 3]).all()
    assert (upper[:, 5] == [1, 0, 0, 3]).all()
    assert (lower[:, 5] == [1, 0, 0, 0]).all()
    only = boxes.bounds(1 << 5)
    np.testing.assert_array_equal(only[1][:, 0], upper[:, 5])


def test_dead_lanes_come_back_to_what_was_saved():
    boxes, _ = propagated(knapsack(), (np.array([0]), np.array([3]), np.array([2.0])))
    boxes.save()
    lanes, columns = np.array([31, 31, 7]), np.array([1, 2, 1])
    boxes.tighten(lanes, columns, np.ones(3), np.ones(3))
    assert boxes.propagate().dead == 1 << 31
    boxes.restore(1 << 31)
    lower, upper = boxes.bounds()
    assert (upper[:, 31] == [1, 1, 1, 3]).all()
    assert (lower[:, 7] == [0, 1, 0, 0]).all(), "lanes that are not named keep what they have"
    assert (upper[:, 7] == [0, 1, 0, 0]).all()
    boxes.tighten(np.array([31]), np.array([1]), np.ones(1), np.ones(1))
    assert boxes.propagate().dead == 0, "a lane brought back lives"


def test_nothing_happens_in_dead_lanes():
    boxes, _ = propagated(knapsack(), (np.array([3, 3]), np.array([0, 1]), np.ones(2)))
    assert boxes.propagate().dead == 1 << 3
    boxes.tighten(np.array([3]), np.array([3]), np.ones(1), np.ones(1))
    verdict = boxes.propagate()
    assert (verdict.dead, verdict.work) == (1 << 3, 0.0)


def test_adopting_copies_boxes_between_lanes():
    boxes, _ = propagated(knapsack(), (np.array([2, 9]), np.array([0, 1]), np.ones(2)))
    source = np.full(LANES, -1)
    source[[4, 9, 31]] = [2, 2, 9]
    boxes.adopt(source)
    lower, _ = boxes.bounds()
    assert (lower[:, [4, 9]].T == [1, 0, 0, 0]).all()
    assert (lower[:, 31] == [0, 1, 0, 0]).all(), "boxes are those from before"
    assert (lower[:, 3] == 0).all()


def test_loading_some_lanes_leaves_the_others():
    model = knapsack()
    boxes = BatchBoxes(DeviceModel.of(model, cpu()))
    boxes.load(model.lower, model.upper)
    boxes.load(np.array([0.0, 0, 1, 0]), np.array([0.0, 0, 1, 5]), 0b1010)
    _, upper = boxes.bounds()
    assert (upper[:, [1, 3]].T == [0, 0, 1, 5]).all()
    assert (upper[:, [0, 2, 31]].T == [1, 1, 1, 9]).all()


def test_limited_rounds_go_on_with_the_next_call():
    model = AWKWARD["equality chain"]()
    items = (np.array([6]), np.array([40]), np.array([4.0]))
    boxes, verdict = propagated(model, items, round_limit=1)
    assert not verdict.is_settled
    work = verdict.work
    verdict = boxes.propagate()
    assert verdict.is_settled
    assert verdict.work > work
    lower, upper = boxes.bounds()
    assert (lower[:, 6] == 4.0).all()
    assert (upper[:, 6] == 4.0).all()
    assert (upper[:, 7] == 5.0).all()


def test_only_changed_rows_are_visited():
    model = model_of(np.kron(np.eye(1000), [[1.0, 1.0]]), -np.inf, 1.0, 0.0, 1.0)
    boxes = BatchBoxes(DeviceModel.of(model, cpu()))
    boxes.load(model.lower, model.upper)
    boxes.tighten(np.arange(32), np.full(32, 8), np.ones(32), np.ones(32))
    assert boxes.propagate().work == 2 * 32, "one row for the fixing, again for its neighbour"
    _, upper = boxes.bounds(ALL)
    assert (upper[9] == 0.0).all()
    assert upper.sum() == (model.num_columns - 1) * LANES


def test_restoring_without_saving_is_refused():
    with pytest.raises(RuntimeError, match="save"):
        BatchBoxes(DeviceModel.of(knapsack(), cpu())).restore(1)
