"""A model that is a multiple-choice knapsack problem, solved to proven optimality."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.answers import alarm, answer, infeasible, teller
from solvers.knapsack.multiple_choice.core_order import core_of
from solvers.knapsack.multiple_choice.core_search import MultipleChoiceSearch
from solvers.knapsack.multiple_choice.items import MultipleChoice, Selection
from solvers.knapsack.multiple_choice.normal_form import multiple_choice_form
from solvers.knapsack.multiple_choice.recognise import recognise_multiple_choice
from solvers.knapsack.multiple_choice.relaxation import congruence, first_selection, relax

MOST_STATES = 4_000_000
"""States that a list may have: two take a quarter of a gigabyte."""

ENGINE = "knapsack-multiple-choice"


def solve_multiple_choice(
    given: MultipleChoice,
    progress: Progress | None = None,
    *,
    most_states: int = MOST_STATES,
    tell: Callable[[int, int], None] | None = None,
) -> Selection:
    """Find a selection of largest profit and prove that it is one.

    Parameters
    ----------
    given : MultipleChoice
    progress : Progress, optional
        Keeps the time limit; when it is up, the best selection so far comes with a valid bound.
    most_states : int
        Largest length of a list of states, which is what memory is needed for.
    tell : callable, optional
        Told the best profit and the bound now and then.

    Returns
    -------
    Selection
        With ``chosen`` None where not even the lightest items fit together.
    """
    stopping = Progress() if progress is None else progress
    form = multiple_choice_form(given)
    if form is None:
        return Selection(None, 0, 0, "no selection fits")
    small = form.choice
    relaxation = relax(small)
    profit, chosen = first_selection(small, relaxation)
    bound, path, states = relaxation.bound, "bound of the relaxation", 0
    if profit < bound:
        rule = congruence(small, relaxation)
        if rule.rounded_down(bound) < bound:
            bound, path = rule.rounded_down(bound), "bound of the relaxation and a congruence"
    if profit < bound:

        def watch(best: int, at_most: int) -> bool:
            if tell is not None:
                tell(form.profit_back(best), form.profit_back(at_most))
            return stopping.should_stop() is not None

        core = core_of(small, relaxation, rule.factor)
        search = MultipleChoiceSearch(core, small.capacity, profit, bound, rule, most_states)
        with alarm(stopping, search.stop):
            search.run(watch)
        found = search.result()
        chosen = chosen if found.chosen is None else found.chosen
        profit, bound, states, path = found.profit, found.bound, found.states, "DP core"
    items = form.selection_back(chosen)
    packed, weight = given.value_of(items)
    if weight > given.capacity or packed != form.profit_back(profit):
        raise EngineError(f"A selection of weight {weight} was said to be worth {packed}.")
    return Selection(items, packed, form.profit_back(bound), path, states)


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
) -> Outcome:
    """Solve a model that :func:`recognise_multiple_choice` takes for such a knapsack problem.

    Parameters
    ----------
    problem : Problem
    options : EngineOptions
        Nothing is read, and no gaps: the answer is exact.
    progress : Progress
        Keeps the time limit; when it is up, the best selection comes with a valid bound.
    start : Start, optional
        Not needed: good selections are found early.

    Raises
    ------
    EngineError
        The model is not a multiple-choice knapsack problem.
    """
    model = recognise_multiple_choice(problem)
    if model is None:
        raise EngineError("This model is not a multiple-choice knapsack problem in whole numbers.")
    at_start = problem.objective_at(model.start.astype(np.float64))
    tell = teller(progress, ENGINE, at_start, model.profit_scale)
    selection = solve_multiple_choice(model.choice, progress, tell=tell)
    if selection.chosen is None:
        return infeasible(ENGINE, "The lightest items of all classes exceed the capacity.")
    return answer(
        problem,
        model.point(selection.chosen),
        progress,
        engine=ENGINE,
        missing=(selection.bound - selection.profit) / model.profit_scale,
        path=selection.path,
        otherwise=StopReason.OUT_OF_MEMORY,
        statistics={"states": selection.states},
    )
