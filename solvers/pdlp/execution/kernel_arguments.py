"""The arguments that kernels take from the state, in the order in which they are declared."""

from __future__ import annotations

from typing import Any

from solvers.pdlp.state import State


def primal_arguments(state: State) -> tuple[Any, ...]:
    """Return the arguments of the primal step up to ``control``."""
    problem, x = state.problem, state.x
    return (
        *problem.coefficients.by_column.arguments,
        state.y.point,
        *_primal_vectors(state),
        *x.written,
        state.control,
    )


def _primal_vectors(state: State) -> tuple[Any, ...]:
    problem, x = state.problem, state.x
    return (
        x.point,
        x.anchor,
        problem.cost,
        problem.lower,
        problem.upper,
        problem.column_metric,
        state.reflected,
    )


def dual_arguments(state: State) -> tuple[Any, ...]:
    """Return the arguments of the dual step up to ``control``."""
    y = state.y
    return (
        *state.problem.coefficients.by_row.arguments,
        state.reflected,
        *_dual_vectors(state),
        *y.written,
        state.control,
    )


def _dual_vectors(state: State) -> tuple[Any, ...]:
    problem, y = state.problem, state.y
    return (y.point, y.anchor, problem.row_lower, problem.row_upper, problem.row_metric)


def staying_arguments(
    state: State, count: int, thread_blocks: int, memory: tuple[Any, ...], *, reflected: bool
) -> tuple[Any, ...]:
    """Return the arguments of a kernel whose threads stay for a whole block of iterations.

    ``memory`` is what its thread blocks tell each other through; ``reflected`` says whether the
    kernel keeps the reflected primal point in the state's own array.
    """
    coefficients, x, y = state.problem.coefficients, state.x, state.y
    primal = _primal_vectors(state)
    return (
        *coefficients.by_column.arguments,
        *coefficients.by_row.arguments,
        *(primal if reflected else primal[:-1]),
        *x.written,
        *_dual_vectors(state),
        *y.written,
        state.control,
        count,
        thread_blocks,
        *memory,
    )


def row_measure_arguments(state: State) -> tuple[Any, ...]:
    """Return the arguments of ``measure_rows``."""
    problem, x, y = state.problem, state.x, state.y
    return (
        *problem.coefficients.by_row.arguments,
        *x.written,
        *y.measured,
        problem.row_lower,
        problem.row_upper,
        problem.row_metric,
        state.control,
        state.row_partial.shape[0],
        state.row_partial,
    )


def column_measure_arguments(state: State) -> tuple[Any, ...]:
    """Return the arguments of ``measure_columns``."""
    problem, x, y = state.problem, state.x, state.y
    return (
        *problem.coefficients.by_column.arguments,
        y.projection,
        *x.measured,
        problem.cost,
        problem.lower,
        problem.upper,
        problem.column_metric,
        state.control,
        state.column_partial.shape[0],
        state.column_partial,
    )


def decide_arguments(state: State, count: int) -> tuple[Any, ...]:
    """Return the arguments of ``decide``."""
    return (
        state.row_partial.shape[0],
        state.row_partial,
        state.column_partial.shape[0],
        state.column_partial,
        count,
        state.control,
    )


def settle_arguments(state: State) -> tuple[Any, ...]:
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
