"""What follows from the groups alone: slacks, violations and the objective."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import solve
from solvers.mip.heuristics.annealing.structure import Number, find_structure
from solvers.mip.model import is_feasible
from solvers.native.mip_heuristics_annealing import sum_up
from tests.mip.heuristics.annealing.models import assignment, selection, with_slacks
from tests.mip.inference.domain.models import INF, model_of


@pytest.mark.parametrize("seed", range(5))
def test_slacks_are_worth_what_the_best_values_are(seed):
    model = with_slacks(seed)
    structure = find_structure(model)
    assert structure is not None
    assert sorted(structure.slacks.column.tolist()) == list(range(18, 24))
    rng = np.random.default_rng(seed)
    state = structure.state(model, 0)
    for _ in range(5):
        x = np.zeros(model.num_columns)
        x[3 * np.arange(6) + rng.integers(0, 3, 6)] = 1.0
        chosen = structure.chosen(x)
        assert chosen is not None
        home = structure.home(x)
        structure.put_sides(model, home, state)
        state.current[:] = state.best[:] = chosen
        sum_up(state)
        best = _best_slacks(model, x)
        found = structure.point(home, state)
        assert (state.numbers[Number.HARD] < 1e-9) == (best is not None)
        assert is_feasible(model, found) == (best is not None)
        if best is not None:
            assert model.objective_at(found) == pytest.approx(best, abs=1e-6)
            fixed = float(model.cost @ home)
            assert fixed + state.numbers[Number.COST] == pytest.approx(best, abs=1e-6)


def _best_slacks(model, x):
    """Return the best objective with the groups as in ``x``, by HiGHS; None where there is none."""
    lower, upper = model.lower.copy(), model.upper.copy()
    lower[:18] = upper[:18] = x[:18]
    problem = Problem.from_arrays(
        model.cost,
        model.problem.matrix,
        model.row_lower,
        model.row_upper,
        lower=lower,
        upper=upper,
        integrality=model.is_integer == 1,
    )
    outcome = solve(problem, EngineOptions(threads=1), Progress())
    return outcome.objective if outcome.solution_status is SolutionStatus.OPTIMAL else None


def test_agents_are_labels():
    structure = find_structure(assignment(8, 3, seed=0))
    assert structure is not None
    assert structure.by_label.shape == (8, 3)
    for g in range(8):
        for k in range(3):
            j = structure.by_label[g, k]
            assert structure.choices.group[j] == g
            assert structure.label[j] == k


def test_points_that_do_not_keep_the_groups_are_none_to_begin_at():
    model = assignment(8, 3, seed=0)
    structure = find_structure(model)
    assert structure is not None
    assert structure.chosen(np.zeros(model.num_columns)) is None
    assert structure.chosen(np.ones(model.num_columns)) is None


def test_a_column_that_hurts_another_row_is_no_slack():
    model = assignment(8, 3, seed=0)
    n = model.num_columns
    row = np.ones((1, n + 1))
    both = np.vstack([np.hstack([model.problem.matrix.toarray(), np.zeros((11, 1))]), row, -row])
    pushed = model_of(
        np.r_[model.cost, 1.0],
        both,
        np.r_[model.row_lower, 3.0, -30.0],
        np.r_[model.row_upper, INF, INF],
        lower=0.0,
        upper=np.r_[np.ones(n), 50.0],
        integrality=np.r_[np.ones(n, bool), False],
    )
    assert find_structure(pushed, covered_part=1.0) is None
    structure = find_structure(pushed)
    assert structure is not None  # choices are most of it
    assert not structure.slacks.column.size


def test_what_may_stay_out_is_a_choice_of_an_empty_column():
    model = selection(5, 4, seed=0)  # and two binaries for themselves
    structure = find_structure(model)
    assert structure is not None
    choices = structure.choices
    assert choices.count == 7
    assert choices.none.tolist() == list(range(22, 29))
    for g in range(5):
        members = choices.column[choices.start[g] : choices.start[g + 1]]
        assert members.tolist() == [*range(4 * g, 4 * g + 4), 22 + g]
    nothing = structure.chosen(np.zeros(22))
    assert nothing is not None
    assert nothing.tolist() == choices.none.tolist()
    some = structure.chosen(np.eye(22)[9] + np.eye(22)[21])
    assert some is not None
    assert some.tolist() == [22, 23, 9, 25, 26, 27, 21]


def test_binaries_for_themselves_are_left_to_walks():
    model = model_of(
        np.ones(20), np.ones((3, 20)), 2.0, INF, lower=0.0, upper=1.0, integrality=True
    )
    assert find_structure(model) is None


def test_models_of_other_columns_have_no_structure():
    rng = np.random.default_rng(0)
    model = model_of(
        np.ones(6), rng.integers(0, 3, (4, 6)), 0.0, 5.0, lower=0.0, upper=1.0, integrality=True
    )
    assert find_structure(model) is None
