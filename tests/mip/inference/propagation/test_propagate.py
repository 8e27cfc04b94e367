"""What a propagation leaves of a box: a reference, the sequential one, and known points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.core.device import cpu
from solvers.core.problem import FloatArray
from solvers.mip.inference.domain import Domain
from solvers.mip.inference.propagation import BatchBoxes, DeviceModel
from tests.cases import through
from tests.mip.inference.propagation.models import AWKWARD, INF, model_of, random_model
from tests.mip.inference.propagation.reference import propagated

SHAPES = st.tuples(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12))
SMALL = [name for name in AWKWARD if AWKWARD[name]().num_columns < 1000]


@dataclass(frozen=True)
class Left:
    """What is left of a box."""

    lower: FloatArray
    upper: FloatArray
    is_infeasible: bool
    is_settled: bool
    rounds: int


def propagate(model, lower, upper, round_limit=100):
    """Propagate one box in every lane, and return the one of the last."""
    boxes = BatchBoxes(DeviceModel.of(model, cpu()))
    boxes.load(lower, upper)
    boxes.wake()
    verdict = boxes.propagate(round_limit)
    low, high = boxes.bounds(1 << 31)
    dead = bool(verdict.dead >> 31)
    return Left(low[:, 0], high[:, 0], dead, verdict.is_settled, verdict.rounds)


def narrowed(model, seed):
    """Return the model's box with a few integer columns cut, perhaps too much."""
    random = np.random.default_rng(seed)
    lower, upper = model.lower.copy(), model.upper.copy()
    cut = random.random(lower.size) < 0.3
    cut &= np.isfinite(lower) & np.isfinite(upper) & (model.is_integer == 1)
    upper[cut] = random.integers(lower[cut], upper[cut] + 1)
    return lower, upper


@given(SHAPES, st.booleans())
def test_agrees_with_the_reference(shape, mixed):
    model, _ = random_model(*shape, mixed=mixed)
    lower, upper = narrowed(model, shape[0])
    found = propagate(model, lower, upper)
    expected_lower, expected_upper, is_infeasible, rounds = propagated(model, lower, upper)
    assert found.is_infeasible == is_infeasible
    if not is_infeasible and rounds < 100:
        tolerance = 1e-7 if mixed else 0.0
        np.testing.assert_allclose(found.lower, expected_lower, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(found.upper, expected_upper, rtol=tolerance, atol=tolerance)


@given(SHAPES)
def test_agrees_exactly_with_sequential_propagation_on_bounded_integers(shape):
    model, _ = random_model(*shape)
    lower, upper = narrowed(model, shape[0])
    found = propagate(model, lower, upper, round_limit=1000)
    domain = Domain.of(model)
    consistent = domain.propagate()
    for j in np.flatnonzero(upper < model.upper):
        consistent = consistent and domain.tighten(j, lower[j], upper[j])
    assert found.is_infeasible != consistent
    if consistent:
        np.testing.assert_array_equal(found.lower, domain.lower)
        np.testing.assert_array_equal(found.upper, domain.upper)


@given(SHAPES, st.booleans())
def test_known_points_stay_inside_and_another_sweep_finds_nothing(shape, mixed):
    model, x = random_model(*shape, mixed=mixed)
    found = propagate(model, model.lower, model.upper)
    assert not found.is_infeasible
    assert (found.lower <= x + 1e-9).all()
    assert (found.upper >= x - 1e-9).all()
    assert (found.lower >= model.lower).all()
    assert (found.upper <= model.upper).all()
    if found.is_settled:
        again = propagate(model, found.lower, found.upper)
        assert again.rounds == 1
        np.testing.assert_array_equal(again.lower, found.lower)


@through("name", SMALL)
def test_awkward_shapes_agree_with_the_reference(name):
    model = AWKWARD[name]()
    found = propagate(model, model.lower, model.upper)
    lower, upper, is_infeasible, _ = propagated(model, model.lower, model.upper)
    if not model.num_columns:
        return
    assert found.is_infeasible == is_infeasible
    np.testing.assert_allclose(found.lower, lower, rtol=1e-7)
    np.testing.assert_allclose(found.upper, upper, rtol=1e-7)


def test_long_row_fixes_what_cannot_be():
    model = AWKWARD["row of 100,000"]()
    found = propagate(model, model.lower, model.upper)
    assert not found.is_infeasible
    assert found.upper[1] == 0.0, "its coefficient is larger than the side"
    assert found.upper.sum() == model.num_columns - 1


def test_rows_of_all_lengths_agree_with_the_sequential_propagation():
    model = AWKWARD["rows of all lengths"]()
    found = propagate(model, model.lower, model.upper)
    domain = Domain.of(model)
    assert domain.propagate()
    assert not found.is_infeasible
    assert (found.lower != model.lower).mean() > 0.1
    np.testing.assert_array_equal(found.lower, domain.lower)
    np.testing.assert_array_equal(found.upper, domain.upper)


def test_only_infinite_term_gets_a_bound():
    model = AWKWARD["one infinite term"]()
    found = propagate(model, model.lower, model.upper)
    assert found.upper[0] == pytest.approx(9.0)
    assert found.lower[0] == -INF


def test_chain_of_equalities_is_followed_to_its_end():
    model = AWKWARD["equality chain"]()
    found = propagate(model, model.lower, model.upper)
    assert (found.lower == 3.0).all()
    assert (found.upper == 5.0).all()
    assert found.rounds > 40


def test_round_limit_is_kept_and_the_box_is_sound():
    model = AWKWARD["equality chain"]()
    found = propagate(model, model.lower, model.upper, round_limit=7)
    assert not found.is_settled
    assert (found.lower[: found.rounds] == 3.0).all(), "one column more in each round"
    assert (found.lower[found.rounds :] == 0.0).all()


def test_continuous_cycle_does_not_creep_on():
    """x >= y + 0.0005, y >= x gains a little with each round until both meet their bounds."""
    model = model_of([[1.0, -1.0], [-1.0, 1.0]], [5e-4, 0.0], INF, 0.0, 100.0, False)
    assert propagate(model, model.lower, model.upper).rounds == 1
