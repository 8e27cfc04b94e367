"""What gives way so that an infeasible model can be satisfied, beside exact answers and HiGHS."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.report.relax import Relaxation, relax
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import solve
from tests.cases import through

INF = np.inf


def changed(problem: Problem, found: Relaxation) -> list[tuple[str, int]]:
    """Return the sides and bounds of a model that a relaxation changes."""
    names = ("row_lower", "row_upper", "lower", "upper")
    return [
        (name, int(i))
        for name in names
        for i in np.flatnonzero(getattr(problem, name) != getattr(found, name))
    ]


def mended(problem: Problem, found: Relaxation, without: tuple[str, int] | None = None) -> Problem:
    """Return a model with the changes of a relaxation, all or all but one of them."""
    sides = {
        name: getattr(found, name).copy() for name in ("row_lower", "row_upper", "lower", "upper")
    }
    if without is not None:
        name, i = without
        sides[name][i] = getattr(problem, name)[i]
    return replace(problem, **sides)


def status(problem: Problem) -> SolutionStatus:
    free = replace(problem, cost=np.zeros(problem.num_columns))
    return solve(free, EngineOptions(threads=1), Progress(30.0)).solution_status


def test_the_cheaper_of_two_rows_gives_way() -> None:
    problem = Problem.from_arrays(
        [1.0, 1.0],
        [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]],
        row_lower=[10.0, -INF, -INF],
        row_upper=[INF, 3.0, 4.0],
        row_names=["demand", "first", "second"],
    )
    found = relax(problem, 10.0)
    assert found is not None
    assert found.minimal
    assert len(found.lines) == 1
    ((name, i),) = changed(problem, found)
    shift = abs(getattr(found, name)[i] - getattr(problem, name)[i])
    assert shift == pytest.approx(3.0)


def test_a_row_means_the_same_when_it_is_multiplied() -> None:
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    for factor in (1e-3, 1.0, 1e3):
        scale = np.array([factor, 1.0, 1.0])
        problem = Problem.from_arrays(
            [0.0, 0.0],
            rows * scale[:, None],
            row_lower=np.array([8.0, -INF, 1.0]) * scale,
            row_upper=np.array([INF, 5.0, 2.0]) * scale,
        )
        found = relax(problem, 10.0)
        assert found is not None
        (change,) = changed(problem, found)
        name, i = change
        assert abs(getattr(found, name)[i] - getattr(problem, name)[i]) == pytest.approx(
            3.0 * scale[i]
        )


def test_an_equation_gives_way_to_the_side_that_helps() -> None:
    problem = Problem.from_arrays(
        [0.0], [[1.0]], row_lower=[7.0], row_upper=[7.0], upper=4.0, row_names=["balance"]
    )
    found = relax(problem, 10.0)
    assert found is not None
    assert found.lines == ("balance: = 7 becomes >= 4 (3 less)",)
    assert found.row_upper[0] == 7.0


def test_bounds_give_way_only_where_rows_do_not_help() -> None:
    problem = Problem.from_arrays(
        [0.0, 0.0],
        np.zeros((0, 2)),
        lower=[0.2, 0.0],
        upper=[0.9, 1.0],
        integrality=True,
        column_names=["x", "y"],
    )
    found = relax(problem, 10.0)
    assert found is not None
    assert changed(problem, found) in ([("lower", 0)], [("upper", 0)])
    assert "bound of x" in found.lines[0]
    assert status(mended(problem, found)).has_point


@through("seed", range(12))
def test_the_changes_mend_the_model_and_none_is_needless(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = 12, 8
    A = np.where(rng.random((m, n)) < 0.5, rng.integers(-5, 6, (m, n)), 0).astype(float)
    low = np.where(rng.random(m) < 0.7, rng.integers(-5, 20, m), -INF).astype(float)
    high = np.where(rng.random(m) < 0.6, np.maximum(low, -20) + rng.integers(0, 5, m), INF)
    problem = Problem.from_arrays(
        np.zeros(n),
        A,
        row_lower=low,
        row_upper=high.astype(float),
        upper=2.0,
        integrality=rng.random(n) < 0.5 if seed % 2 else False,
    )
    if status(problem) is not SolutionStatus.INFEASIBLE:
        pytest.fail("choose another seed: the model has to be infeasible")
    found = relax(problem, 30.0)
    assert found is not None
    assert found.minimal
    changes = changed(problem, found)
    assert len(changes) == len(found.lines) > 0
    assert status(mended(problem, found)).has_point
    for one in changes:
        assert status(mended(problem, found, without=one)) is SolutionStatus.INFEASIBLE


def test_without_time_there_is_no_answer() -> None:
    problem = Problem.from_arrays([0.0], [[1.0]], row_lower=[7.0], upper=4.0)
    assert relax(problem, 0.0) is None


INFEASIBLE = Problem.from_arrays(
    [1.0], [[1.0]], row_lower=[7.0], upper=4.0, row_names=["demand"], column_names=["supply"]
)


@pytest.mark.parametrize("method", ["auto", "highs", "pdlp", "simplex"])
def test_a_solve_tells_what_would_mend_the_model(method: str) -> None:
    outcome = gb.solve(INFEASIBLE, method=method, device="cpu", explain="relax")
    assert outcome.relaxation is not None
    assert outcome.relaxation.lines == ("demand: >= 7 becomes >= 4 (3 less)",)
    assert outcome.conflict is not None
    assert "3 less" in outcome.explanation
    assert "3 less" in outcome.log


@pytest.mark.parametrize(("value", "explains"), [(True, True), ("yes", True), (False, False)])
def test_only_where_asked_for(value: bool | str, explains: bool) -> None:
    outcome = gb.solve(INFEASIBLE, explain=value)
    assert outcome.relaxation is None
    assert (outcome.conflict is not None) == explains


def test_another_word_is_refused() -> None:
    with pytest.raises(gb.OptionError, match="must be one of true, false, relax"):
        gb.solve(INFEASIBLE, explain="loosen")


@pytest.mark.parametrize("maximize", [False, True])
def test_an_unbounded_model_names_the_direction(maximize: bool) -> None:
    problem = Problem.from_arrays(
        [3.0, -2.0, 0.0] if maximize else [-3.0, 2.0, 0.0],
        [[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]],
        row_upper=[4.0, 2.0],
        column_names=["make", "buy", "rest"],
        maximize=maximize,
    )
    outcome = gb.solve(problem)
    assert outcome.solution_status is gb.SolutionStatus.UNBOUNDED
    assert outcome.explanation == (
        "The objective improves by 1, again and again, if these change together: make by +1, "
        "buy by +1"
    )
    assert outcome.explanation in outcome.log
