"""What a search that was stopped still knows, and that it stops where it is asked to."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.progress import Progress
from solvers.knapsack.dp.states import empty_states
from solvers.knapsack.engine import alarm, solve
from solvers.knapsack.multiple_choice import engine, stages
from solvers.knapsack.multiple_choice.engine import (
    MultipleChoiceSearch,
    solve_multiple_choice,
)
from solvers.knapsack.multiple_choice.relaxation import (
    Congruence,
    first_selection,
    multiple_choice_form,
    relax,
)
from solvers.knapsack.multiple_choice.stages import (
    CONTROLS,
    COUNT,
    PLACE,
    STAGE,
    STOP,
    STOPPED,
    core_of,
)
from solvers.native.knapsack_multiple_choice_stages import expand
from tests.knapsack.looks import Looks
from tests.knapsack.multiple_choice.instances import KINDS, dense_profit, instance, model_of


@pytest.fixture(scope="module")
def hasty():
    """Look after every few states."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "FIRST_ROOM", 8)
        patch.setattr(engine, "FIRST_WORK", 2)
        patch.setattr(engine, "WORK", 8)
        yield


@pytest.mark.usefixtures("hasty")
@given(st.sampled_from(KINDS), st.integers(0, 10**6), st.integers(0, 12))
@settings(max_examples=100, deadline=None)
def test_a_search_that_was_stopped_has_a_selection_and_a_valid_bound(kind, seed, looks):
    choice = instance(kind, 12, 5, 100, seed)
    best = dense_profit(choice)
    found = solve_multiple_choice(choice, Looks(looks), most_states=32)
    profit, weight = choice.value_of(found.x)
    assert weight <= choice.capacity
    assert found.profit == profit <= best <= found.bound


def test_the_engine_answers_with_the_point_and_a_bound_on_the_model():
    choice = instance("weakly", 30, 10, 10**5, 4)
    best = solve_multiple_choice(choice).profit
    outcome = solve(model_of(choice), EngineOptions(), Looks(0))
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.bound <= -best <= outcome.objective
    assert -outcome.objective == choice.profit @ outcome.x


def begun(choice):
    """Return a search at its beginning, with the core and the problem in normal form."""
    small = multiple_choice_form(choice).choice
    relaxation = relax(small)
    profit, _ = first_selection(small, relaxation)
    core = core_of(small, relaxation)
    return MultipleChoiceSearch(
        core, small.capacity, profit, relaxation.bound, Congruence(), 10**6
    ), core


def test_a_search_ends_where_it_is_told_to_by_another_thread():
    choice = instance("weakly", 30, 10, 10**5, 4)
    one, _ = begun(choice)
    before = one.result()
    one.stop()
    told = []
    assert not one.run(lambda profit, bound: bool(told.append((profit, bound))))
    assert told == []
    after = one.result()
    assert (after.profit, after.bound) == (before.profit, before.bound)


def entering(states):
    """Return a list of so many states, and what lets a class of many items in after it."""
    choice = instance("monotone", 4, 40, 10**5, 4)
    _, core = begun(choice)
    group = int(core.sequence[0])
    items = np.arange(core.first[group], core.first[group + 1])
    now, then = (empty_states(states * items.size) for _ in range(2))
    for values in (*now, *then):
        values[:] = 0
    now.profit[:states], now.weight[:states] = 5 * np.arange(states), 4 * np.arange(states)
    now.history[:states] = np.arange(states)
    stage = stages.empty_stages(core)
    stage.item[: items.size] = items
    control = np.zeros(CONTROLS, dtype=np.int64)
    control[COUNT] = states
    nothing = (0, 1)
    rest = (stage, group, items.size, False, 0, nothing, nothing, control)
    return now, then, control, (core, now, states, then, *rest)


def assert_as_it_was(now, before, control):
    assert control[STAGE] == control[PLACE] == 0
    for values, kept in zip(now, before, strict=True):
        np.testing.assert_array_equal(values[: kept.size], kept)


def assert_in(found, length, control):
    assert length > 1
    assert control[STAGE] == 1
    for values in (found.weight, found.profit):
        assert (np.diff(values[:length]) > 0).all()


def test_a_class_that_is_stopped_at_once_leaves_the_list_as_it_was():
    now, _, control, arguments = entering(3)
    before = [values[:3].copy() for values in now]
    control[STOP] = 1
    assert expand(*arguments) == (STOPPED, 0)
    assert_as_it_was(now, before, control)


def test_a_class_that_is_stopped_while_it_is_merged_leaves_the_list_as_it_was():
    now, then, control, arguments = entering(20_000)
    before = [values[:20_000].copy() for values in now]
    done = threading.Event()

    def stop_at_the_first_merge():
        while not done.is_set() and now.weight[19_999] == before[1][-1]:
            pass
        control[STOP] = 1

    other = threading.Thread(target=stop_at_the_first_merge)
    other.start()
    length, swaps = expand(*arguments)
    done.set()
    other.join()
    if length == STOPPED:
        assert_as_it_was(now, before, control)
    else:  # it was over before the other thread had its turn
        assert_in(then if swaps % 2 else now, length, control)


def test_without_a_stop_the_same_class_goes_in():
    now, then, control, arguments = entering(3)
    length, swaps = expand(*arguments)
    assert_in(then if swaps % 2 else now, length, control)


def test_the_alarm_rings_where_time_is_up_and_not_before():
    rung = []
    with alarm(Progress(), lambda: rung.append(1)):
        pass
    assert rung == []
    with alarm(Looks(0), lambda: rung.append(1)):
        while not rung:
            pass
    assert rung == [1]
