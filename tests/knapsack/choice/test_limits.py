"""What a search that was stopped still knows, and that it stops where it is asked to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.knapsack.alarm import alarm
from solvers.knapsack.choice import search, solve_choice, stages
from solvers.knapsack.choice.congruence import Congruence
from solvers.knapsack.choice.control import COUNT, PLACE, STAGE, STOP, STOPPED
from solvers.knapsack.choice.core_order import core_of
from solvers.knapsack.choice.engine import solve
from solvers.knapsack.choice.normal_form import choice_form
from solvers.knapsack.choice.relaxation import relax
from solvers.knapsack.choice.search import ChoiceSearch
from solvers.knapsack.choice.start import first_selection
from solvers.knapsack.states import empty_states
from solvers.options import EngineOptions
from solvers.outcome import SolutionStatus
from solvers.progress import Progress
from tests.knapsack.choice.instances import KINDS, dense_profit, instance, model_of
from tests.knapsack.looks import Looks


@pytest.fixture(scope="module")
def hasty():
    """Look after every few states."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "FIRST_ROOM", 8)
        patch.setattr(search, "FIRST_WORK", 2)
        patch.setattr(search, "WORK", 8)
        yield


@pytest.mark.usefixtures("hasty")
@given(st.sampled_from(KINDS), st.integers(0, 10**6), st.integers(0, 12))
@settings(max_examples=100, deadline=None)
def test_a_search_that_was_stopped_has_a_selection_and_a_valid_bound(kind, seed, looks):
    choice = instance(kind, 12, 5, 100, seed)
    best = dense_profit(choice)
    found = solve_choice(choice, Looks(looks), most_states=32)
    profit, weight = choice.value_of(found.chosen)
    assert weight <= choice.capacity
    assert found.profit == profit <= best <= found.bound


def test_the_engine_answers_with_the_point_and_a_bound_on_the_model():
    choice = instance("weakly", 30, 10, 10**5, 4)
    best = solve_choice(choice).profit
    outcome = solve(model_of(choice), EngineOptions(), Looks(0))
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.bound <= -best <= outcome.objective
    assert -outcome.objective == choice.profit @ outcome.x


def begun(choice):
    """Return a search at its beginning, with the core and the problem in normal form."""
    small = choice_form(choice).choice
    relaxation = relax(small)
    profit, _ = first_selection(small, relaxation)
    core = core_of(small, relaxation)
    return ChoiceSearch(core, small.capacity, profit, relaxation.bound, Congruence(), 10**6), core


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


@pytest.mark.parametrize("merges", [0, 1, 2])
def test_a_class_that_is_stopped_leaves_the_list_as_it_was(monkeypatch, merges):
    choice = instance("monotone", 4, 40, 10**5, 4)
    _, core = begun(choice)
    now, then = empty_states(4000), empty_states(4000)
    for values in (*now, *then):
        values[:] = 0
    now.profit[:3], now.weight[:3], now.history[:3] = [0, 5, 9], [0, 4, 8], [0, 1, 2]
    control = np.zeros(17, dtype=np.int64)
    control[COUNT] = 3
    stage = stages.empty_stages(core)
    group = int(core.sequence[0])
    kept = int(core.first[group + 1] - core.first[group])
    stage.item[:kept] = np.arange(core.first[group], core.first[group + 1])
    kept_list = [values[:3].copy() for values in now]
    done = []

    def merge(*arguments):
        done.append(merge_pairs(*arguments))
        control[STOP] = len(done) == merges
        return done[-1]

    merge_pairs = stages.merge_pairs
    monkeypatch.setattr(stages, "merge_pairs", merge)
    control[STOP] = merges == 0
    nothing = (0, 1)
    assert kept > 4 * stages.FEW_RUNS
    length, swaps = stages.expand.py_func(
        core, now, 3, then, stage, group, kept, False, 0, nothing, nothing, control
    )
    assert (length, swaps) == (STOPPED, 0)
    assert len(done) == merges
    assert control[STAGE] == control[PLACE] == 0
    for values, before in zip(now, kept_list, strict=True):
        np.testing.assert_array_equal(values[:3], before)


def test_without_a_stop_the_same_class_goes_in():
    choice = instance("monotone", 4, 40, 10**5, 4)
    _, core = begun(choice)
    now, then = empty_states(4000), empty_states(4000)
    for values in now:
        values[0] = 0
    control = np.zeros(17, dtype=np.int64)
    stage = stages.empty_stages(core)
    group = int(core.sequence[0])
    kept = int(core.first[group + 1] - core.first[group])
    stage.item[:kept] = np.arange(core.first[group], core.first[group + 1])
    length, swaps = stages.expand(
        core, now, 1, then, stage, group, kept, False, 0, (0, 1), (0, 1), control
    )
    assert length > 1
    assert control[STAGE] == 1
    found = then if swaps % 2 else now
    assert (np.diff(found.weight[:length]) > 0).all()


def test_the_alarm_rings_where_time_is_up_and_not_before():
    rung = []
    with alarm(Progress(), lambda: rung.append(1)):
        pass
    assert rung == []
    with alarm(Looks(0), lambda: rung.append(1)):
        while not rung:
            pass
    assert rung == [1]
