"""Restarts that the host decides, between blocks of iterations."""

from __future__ import annotations

from solvers.pdlp.control import Control, Stop
from solvers.pdlp.state import State
from solvers.pdlp.termination import Record


def restart(state: State, step: float, weight: float) -> None:
    """Restart where points and anchors stand, with a step size and primal weight."""
    state.write_control(
        stop=Stop.NO,
        step=step,
        weight=weight,
        tau=step / weight,
        sigma=step * weight,
        iterations_since_restart=0.0,
    )


def go_back_to_best(state: State, record: Record) -> None:
    """Restart at the best point with a shorter step, after the iteration broke down."""
    for side in (state.x, state.y):
        for vector in (side.point, side.anchor, side.projection):
            vector[...] = side.best
    step = record[Control.STEP] * state.settings.step.breakdown_factor
    restart(state, step, record[Control.BEST_WEIGHT])


def change_weight(state: State, record: Record, factor: float) -> None:
    """Restart at the projected point with the weight of ``record`` times a factor.

    It counts as the best so far, too: the device's rule falls back to that.
    """
    for side in (state.x, state.y):
        for vector in (side.point, side.anchor):
            vector[...] = side.projection
    weight = record[Control.WEIGHT] * factor
    restart(state, record[Control.STEP], weight)
    state.write_control(best_weight=weight)
