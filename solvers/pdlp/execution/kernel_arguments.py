"""The arguments that kernels take from the state, in the order in which they are declared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solvers.pdlp.state import State

if TYPE_CHECKING:
    from solvers.pdlp.shared_matrix.state import State as SharedState

Arguments = tuple[Any, ...]


def primal_arguments(state: State | SharedState) -> Arguments:
    """Return the arguments of the primal step up to ``control``."""
    x, gathered = state.x, state.y.point
    own = (x.point, x.anchor, *state.column_data, state.reflected, *x.written)
    return (*state.column_matrix, gathered, *own, state.control)


def dual_arguments(state: State | SharedState) -> Arguments:
    """Return the arguments of the dual step up to ``control``."""
    y, gathered = state.y, state.reflected
    own = (y.point, y.anchor, *state.row_data, *y.written)
    return (*state.row_matrix, gathered, *own, state.control)


def staying_arguments(
    state: State, count: int, thread_blocks: int, memory: Arguments, *, reflected: bool
) -> Arguments:
    """Return the arguments of a kernel whose threads stay for a whole block of iterations.

    ``memory`` is what its thread blocks tell each other through; ``reflected`` says whether the
    kernel keeps the reflected primal point in the state's own array.
    """
    x, y = state.x, state.y
    return (
        *state.column_matrix,
        *state.row_matrix,
        *(x.point, x.anchor, *state.column_data),
        *((state.reflected,) if reflected else ()),
        *x.written,
        *(y.point, y.anchor, *state.row_data, *y.written),
        state.control,
        count,
        thread_blocks,
        *memory,
    )


def row_measure_arguments(state: State) -> Arguments:
    """Return the arguments of ``measure_rows``."""
    sums = (state.control, state.row_partial.shape[0], state.row_partial)
    return (*state.row_matrix, *state.x.written, *state.y.measured, *state.row_data, *sums)


def column_measure_arguments(state: State) -> Arguments:
    """Return the arguments of ``measure_columns``."""
    sums = (state.control, state.column_partial.shape[0], state.column_partial)
    gathered = state.y.projection
    return (*state.column_matrix, gathered, *state.x.measured, *state.column_data, *sums)


def decide_arguments(state: State, count: int) -> Arguments:
    """Return the arguments of ``decide``."""
    return (
        state.row_partial.shape[0],
        state.row_partial,
        state.column_partial.shape[0],
        state.column_partial,
        count,
        state.control,
    )


def settle_arguments(state: State) -> Arguments:
    """Return the arguments of ``settle``."""
    x, y = state.x, state.y
    return (
        x.point.size,
        x.point,
        x.anchor,
        x.projection,
        x.best,
        state.feasible_x,
        y.point.size,
        y.point,
        y.anchor,
        y.projection,
        y.best,
        state.control,
    )
