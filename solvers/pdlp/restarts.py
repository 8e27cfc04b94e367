"""Beginning an epoch of the iteration from outside, between windows."""

from __future__ import annotations

from solvers.pdlp.control import Control, Stop
from solvers.pdlp.state import State
from solvers.pdlp.statistics import Record


def begin_epoch(state: State, step: float, weight: float) -> None:
    """Begin an epoch where points and anchors stand, with a step size and primal weight."""
    state.write_control(
        stop=Stop.NO,
        step=step,
        weight=weight,
        tau=step / weight,
        sigma=step * weight,
        epoch_iterations=0.0,
        error_sum=0.0,
        last_error=0.0,
    )


def go_back_to_best(state: State, record: Record) -> None:
    """Begin an epoch at the best point with a shorter step, after the iteration broke down."""
    for side in (state.x, state.y):
        for vector in (side.point, side.anchor, side.projection):
            vector[...] = side.best
    step = record[Control.STEP] * state.settings.breakdown_factor
    begin_epoch(state, step, record[Control.BEST_WEIGHT])


def change_weight(state: State, record: Record, factor: float) -> None:
    """Begin an epoch at the projected point with the weight of ``record`` times a factor.

    It counts as the best so far, too: that is what the controller falls back to.
    """
    for side in (state.x, state.y):
        for vector in (side.point, side.anchor):
            vector[...] = side.projection
    weight = record[Control.WEIGHT] * factor
    begin_epoch(state, record[Control.STEP], weight)
    state.write_control(best_weight=weight)
