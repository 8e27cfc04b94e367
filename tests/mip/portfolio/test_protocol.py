"""The protocol of heuristics: one that a row of the table adds takes part as all others do."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np
import pytest

from solvers.mip import heuristic_stage
from solvers.mip.budget import Budget
from solvers.mip.portfolio.credit import Kind
from solvers.mip.portfolio.heuristic import (
    OVER,
    UNFINISHED,
    Declined,
    Heuristic,
    HeuristicContext,
    Needs,
    Report,
)
from solvers.mip.portfolio.participant import Participant, line_up
from solvers.mip.portfolio.scheduler import Scheduler, run_in_turn
from solvers.mip.table import TABLE, Models, Place, Row
from tests.mip.context_of import bounds_of, context_of, lines_of
from tests.mip.inference.aggregation.schedules import schedule
from tests.mip.solutions.polish.test_polisher import model_of


def choice():
    """Two of five columns, the first of which are the cheapest."""
    return model_of(np.arange(1.0, 6.0), np.ones((1, 5)), [2.0], [2.0], 0.0, 1.0, True)


@dataclass(eq=False)
class Counter:
    """A state that counts its turns."""

    context: HeuristicContext
    number: int
    turns: int = 0


class Toy(Heuristic[HeuristicContext, Counter]):
    """Submits a point of the model in its third turn."""

    name = "toy"

    def __init__(self) -> None:
        self.states: list[Counter] = []
        self.seeds: list[int] = []

    def begin(self, prepared, number):
        self.states.append(Counter(prepared, number))
        return self.states[-1]

    def run(self, state, budget, seed):
        state.turns += 1
        self.seeds.append(seed)
        budget.charge(1e6)
        if state.turns < 3:
            return UNFINISHED
        state.context.submit(np.array([1.0, 1.0, 0.0, 0.0, 0.0]), self.name)
        return OVER


def take_turns(rows, context, work=1e8):
    scheduler = Scheduler(line_up(rows, context, [Place.TURN], 1.0))
    run_in_turn(scheduler, context, Budget(work=work))


def test_a_row_is_all_it_takes(monkeypatch):
    toy = Toy()
    monkeypatch.setattr(heuristic_stage, "TABLE", (Row(toy, 1e6, 1e6), *TABLE))
    context = context_of(choice())
    context.solve.options = type(context.solve.options)(deterministic=True, work_limit=0.3)
    heuristic_stage.search_in_turn(context)
    (state,) = toy.states
    assert state.turns == 3


@pytest.mark.parametrize("threads", [1, 2])
def test_turns_end_by_the_clock_where_there_is_no_time_limit(monkeypatch, threads):
    timed = []

    class Noting(Toy):
        def run(self, state, budget, seed):
            timed.append(budget.is_timed)
            state.context.solve.over.set()
            return OVER

    monkeypatch.setattr(heuristic_stage, "TABLE", (Row(Noting(), 1.0, 1.0),))
    context = context_of(choice(), threads=threads)
    if threads == 1:
        heuristic_stage.search_in_turn(context)
    else:
        heuristic_stage.search_side_by_side(context, 1)
        context.solve.wait_for_threads()
    assert timed == [True]


def test_a_turn_goes_on_where_the_last_one_ended_until_it_is_over():
    toy, context = Toy(), context_of(choice())
    take_turns([Row(toy, 1.0, 1.0)], context)
    (state,) = toy.states
    assert state.turns == 3
    assert toy.seeds == [context.seed_of("toy", number) for number in (1, 2, 3)]
    assert context.acceptance.pool.objective == 3.0


def test_turns_side_by_side_have_a_state_each():
    both = threading.Barrier(2)

    class Busy(Toy):
        def run(self, state, budget, seed):
            both.wait(60.0)
            state.turns += 1
            return UNFINISHED

    toy = Busy()
    participant = Participant(toy, context_of(choice()))
    for _ in range(3):
        threads = [threading.Thread(target=participant.run, args=(Budget(), 0)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60.0)
    assert [(state.number, state.turns) for state in toy.states] == [(0, 3), (1, 3)]


def test_rows_with_the_same_heuristic_share_its_states():
    toy, context = Toy(), context_of(choice())
    rows = [Row(toy, 1.0, 1.0, once=True), Row(toy, 1.0, 1.0, once=True, label="toy again")]
    take_turns(rows, context)
    assert [state.turns for state in toy.states] == [2]


class Declining(Toy):
    def prepare(self, context):
        raise Declined("there is nothing to toy with")


class DecliningLate(Toy):
    def begin(self, prepared, number):
        raise Declined("there is nothing to toy with after all")


@pytest.mark.parametrize(
    ("toy", "reason"),
    [(Declining(), "there is nothing to toy with"), (DecliningLate(), "with after all")],
)
def test_who_declines_says_why_and_has_no_turn(toy, reason):
    context = context_of(choice())
    take_turns([Row(toy, 1.0, 1.0)], context)
    assert not toy.seeds
    (line,) = lines_of(context)
    assert "'toy'" in line
    assert reason in line


@pytest.mark.parametrize("call", ["prepare", "begin", "run"])
def test_who_fails_is_left_out_and_the_rest_goes_on(monkeypatch, call):
    def fail(*_):
        raise ZeroDivisionError("made to fail")

    class Failing(Toy):
        name = "failing"

    monkeypatch.setattr(Failing, call, fail)
    context, toy = context_of(choice()), Toy()
    take_turns([Row(Failing(), 1.0, 1.0), Row(toy, 1.0, 1.0)], context)
    assert context.has_point
    (line,) = lines_of(context)
    assert "'failing' failed and is left out" in line
    assert "made to fail" in line


@dataclass
class Needy(Toy):
    """A toy with needs."""

    needs: Needs = field(default_factory=Needs)

    def __post_init__(self) -> None:
        super().__init__()

    def run(self, state, budget, seed):
        return UNFINISHED


@pytest.mark.parametrize(
    ("needs", "reason"),
    [
        (Needs(integers=True), "no integer columns"),
        (Needs(most_entries=1), "more than 1 entries"),
        (Needs(most_rows=0), "more than 0 rows"),
        (Needs(device=True), "no GPU"),
    ],
)
def test_what_a_model_never_has_is_a_reason_to_decline(needs, reason):
    lp = model_of([1.0, 1.0], np.ones((1, 2)), [1.0], [1.0], 0.0, 1.0, False)
    with pytest.raises(Declined, match=reason):
        Participant(Needy(needs=needs), context_of(lp))


@pytest.mark.parametrize(
    ("needs", "before", "after"),
    [
        (Needs(), 2.0, 2.0),
        (Needs(incumbent=True), 0.0, 2.0),
        (Needs(incumbent=False), 2.0, 0.0),
        (Needs(pool_size=1), 0.0, 2.0),
        (Needs(pool_size=2), 0.0, 0.0),
        (Needs(relaxation=True), 0.0, 0.0),
    ],
)
def test_what_is_not_there_yet_is_waited_for(needs, before, after):
    context = context_of(choice())
    participant = Participant(Needy(needs=needs), context)
    assert participant.share(2.0) == before
    assert context.submit(np.array([1.0, 1.0, 0.0, 0.0, 0.0]), "test")
    assert participant.share(2.0) == after
    assert participant.share(0.0) == 0.0


@pytest.mark.parametrize("proven", [3.0, np.inf])
def test_what_is_proven_is_passed_on(proven):
    class Proving(Toy):
        def run(self, state, budget, seed):
            return Report(is_over=True, proven=proven)

    context = context_of(choice())
    take_turns([Row(Proving(), 1.0, 1.0)], context)
    assert bounds_of(context) == ([(3.0, "toy")] if proven == 3.0 else [])
    assert (context.solve.settled is not None) == (proven == np.inf)


def test_shares_and_lengths_are_those_of_the_row():
    context = context_of(choice())
    row = Row(Toy(), 5.0, 2.0, longest=9.0, part_of_time=0.1, most=3, one_of=4, kind=Kind.SWAPS)
    (activity,) = line_up([row], context, [Place.TURN], 50.0, workers=8)
    assert (activity.name, activity.longest, activity.most) == ("toy", 5.0, 2)
    assert activity.kind is Kind.SWAPS
    assert activity.share() == 5.0
    assert context.submit(np.array([0.0, 0.0, 0.0, 1.0, 1.0]), "test")
    assert activity.share() == 2.0
    assert not line_up([row], context, [Place.THREAD], 50.0)


def test_rows_are_for_their_models_and_machines():
    rows = [
        Row(Toy(), 1.0, 1.0, models=Models.INTEGER, label="integer"),
        Row(Toy(), 1.0, 1.0, models=Models.MIXED, label="mixed"),
        Row(Toy(), 1.0, 1.0, cores=8, label="eight"),
    ]
    mixed = model_of([1.0, 1.0], np.ones((1, 2)), [1.0], [1.0], 0.0, 1.0, [True, False])
    found = [
        [one.name for one in line_up(rows, context_of(model, threads=threads), [Place.TURN], 1.0)]
        for model, threads in ((choice(), 2), (mixed, 8))
    ]
    assert found == [["integer"], ["mixed", "eight"]]


def test_the_names_in_the_table_are_distinct():
    for place in Place:
        for models in (Models.INTEGER, Models.MIXED):
            names = [
                row.name
                for row in TABLE
                if row.place is place and row.models in (Models.ALL, models)
            ]
            assert len(names) == len(set(names))


def test_what_is_made_once_is_made_once():
    context, made = context_of(schedule(0)), []
    for _ in range(3):
        assert context.once("key", lambda: made.append(1) or len(made)) == 1
    assert context.once("other", lambda: 2) == 2
