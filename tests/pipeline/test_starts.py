"""What a caller gives to start from is checked at the door, and lists are as good as arrays."""

from __future__ import annotations

import numpy as np
import pytest

import gpu_bridge as gb
from solvers.core.errors import OptionError
from solvers.core.outcome import Basis
from solvers.core.problem import Problem
from tests.cases import through

PROBLEM = Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], row_lower=1.0)


@through(
    ("start", "sentence"),
    [
        ([1.0, 0.0], "must be a gpu_bridge.Start"),
        (gb.Start(x=np.ones(3)), r"'x' has shape \(3,\); it must be \(2,\)"),
        (gb.Start(x=np.array(["a", "b"])), "'x' is not an array of numbers"),
        (gb.Start(row_dual=np.ones(2)), r"'row_dual' has shape \(2,\); it must be \(1,\)"),
        (gb.Start(basis="slack"), "'basis' must be a Basis"),  # type: ignore[arg-type]
        (
            gb.Start(basis=Basis(np.ones(3, dtype=np.int8), np.ones(1, dtype=np.int8))),
            r"shape \(3,\) and \(1,\); they must be \(2,\)",
        ),
    ],
)
@through("method", ["highs", "simplex", "pdlp"])
def test_what_is_no_start_is_refused(start: gb.Start, sentence: str, method: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        gb.solve(PROBLEM, start=start, method=method, device="cpu")


@through("method", ["auto", "highs", "simplex"])
@through("x", [[1, 0], [1, None], [np.nan, np.inf]])
def test_lists_and_gaps_are_taken(x: list[float], method: str) -> None:
    values = [np.nan if value is None else value for value in x]
    outcome = gb.solve(PROBLEM, start=gb.Start(x=values), method=method, device="cpu")  # type: ignore[arg-type]
    assert outcome.objective == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("method", "integer"),
    [("auto", False), ("highs", False), ("auto", True), ("highs", True), ("mip", True)],
)
def test_a_feasible_start_is_not_lost_when_there_is_no_time(method: str, integer: bool) -> None:
    problem = Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], row_lower=1.5, integrality=integer)
    feasible, other, partial = (
        gb.Start(x=[3.0, 0.0]),
        gb.Start(x=[1.0, 0.0]),
        gb.Start(x=[3.0, np.nan]),
    )
    outcome = gb.solve(problem, start=feasible, method=method, device="cpu", time_limit=0)
    assert outcome.solution_status is gb.SolutionStatus.FEASIBLE
    assert outcome.stop_reason is gb.StopReason.TIME_LIMIT
    assert outcome.objective == 3.0
    outcome = gb.solve(problem, start=other, method=method, device="cpu", time_limit=0)
    assert outcome.solution_status is gb.SolutionStatus.NOTHING
    assert outcome.residuals.primal == 0.5
    outcome = gb.solve(problem, start=partial, method=method, device="cpu", time_limit=0)
    assert outcome.solution_status is gb.SolutionStatus.NOTHING
    assert outcome.candidate is None
