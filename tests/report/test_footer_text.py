"""The last lines of the log: what is held, and who found it."""

from __future__ import annotations

import dataclasses

import numpy as np

from gpu_bridge.outcome import Outcome, PoolSolution
from gpu_bridge.report.log_text import attribution, footer_lines
from gpu_bridge.report.progress import BridgeProgress
from solvers.core.outcome import Event, Residuals, SolutionStatus, StopReason
from tests.report.log_models import rows, small_mip


def test_footer_tells_everything_known_and_nothing_else() -> None:
    progress = BridgeProgress()
    outcome = Outcome(
        SolutionStatus.FEASIBLE,
        StopReason.TIME_LIMIT,
        objective=-0.0,
        bound=-2.5,
        residuals=Residuals(primal=1e-9, primal_relative=2e-10, integrality=0.0),
        engine="highs",
        device="cpu",
        seconds=1.25,
        message="Presolve was off.",
        statistics={"simplex_iterations": 12, "nodes": 3},
    )
    progress.footer(outcome)
    text = progress.text
    assert rows(text, "Status")[0].endswith("feasible: a verified point, not proven optimal")
    assert rows(text, "Stopped")[0].endswith("the time limit was reached")
    assert rows(text, "Objective")[0].split() == ["Objective", "0"]
    assert rows(text, "Bound")[0].split() == ["Bound", "-2.5"]
    assert "Presolve was off." in text
    assert "primal 1.0e-09 (relative 2.0e-10), integrality 0.0e+00" in text
    assert "dual " not in text
    assert "simplex iterations 12, nodes 3" in text
    assert "highs on cpu" in text
    assert "1.25 s" in text


def test_footer_says_how_near_an_approximate_point_is() -> None:
    progress = BridgeProgress()
    progress.footer(
        Outcome(
            SolutionStatus.APPROXIMATE,
            StopReason.TIME_LIMIT,
            objective=3.0,
            bound=2.5,
            x=np.ones(2),
            residuals=Residuals(1e-3, 1.2e-6, 0.0, 1e-9, 1e-9, 1e-4, 1.6e-6),
            tolerance=1e-6,
        )
    )
    status = rows(progress.text, "Status")[0]
    assert status.endswith("approximate: residuals 1.6e-06, asked for 1.0e-06")
    assert rows(progress.text, "Bound")[0].split() == ["Bound", "2.5"]
    assert not rows(progress.text, "Gap")


def test_footer_without_a_point_invents_no_numbers() -> None:
    progress = BridgeProgress()
    progress.footer(Outcome(SolutionStatus.INFEASIBLE, StopReason.CONVERGED, engine="highs"))
    for word in ("Objective", "Bound", "Gap", "Residuals", "nan", "inf "):
        assert word not in progress.text


def mip_outcome(history: list[Event], **more: object) -> Outcome:
    values = {"objective": history[-1].incumbent, "bound": 1.0, "seconds": 9.0, **more}
    return Outcome(
        SolutionStatus.FEASIBLE,
        StopReason.TIME_LIMIT,
        history=tuple(history),
        problem=small_mip(),
        **values,
    )


def test_the_footer_says_who_found_the_point_and_who_came_before() -> None:
    history = [
        Event(0.1, np.nan, 0.5, "highs"),
        Event(0.2, 30.0, 0.5, "rounding"),
        Event(0.3, 20.0, 0.5, "local search"),
        Event(0.4, 20.0, 1.0, "highs"),
        Event(1.5, 10.0, 1.0, "local search"),
        Event(2.5, 10.0 - 1e-12, 1.0, "checked"),
    ]
    x = np.zeros(3)
    pool = tuple(PoolSolution(x, value, 0.1, "s") for value in (10.0, 20.0))
    lines = footer_lines(mip_outcome(history, pool=pool))
    assert "Found by    local search after 1.5s" in lines
    assert "Improved by local search 2, rounding 1" in lines
    assert "Pool        2 points, the last worth 20" in lines


def test_one_finder_alone_needs_no_list_and_nobody_no_line() -> None:
    alone = footer_lines(mip_outcome([Event(0.2, 30.0, 0.5, "rounding")]))
    assert "Found by    rounding after 0.2s" in alone
    assert not [line for line in alone if line.startswith(("Improved by", "Pool"))]
    strange = mip_outcome([Event(0.2, 30.0, 0.5, "rounding")], objective=29.0)
    assert attribution(strange) == {}
    linear = dataclasses.replace(strange, objective=30.0, problem=small_mip().relaxation())
    assert attribution(linear) == {}
