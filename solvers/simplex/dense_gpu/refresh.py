"""Values and duals from scratch, with one step of refinement; pivots must not be delayed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from solvers.simplex.dense_gpu.arrays import Arrays
from solvers.simplex.dense_gpu.control import LARGEST
from solvers.simplex.dense_gpu.kernels.refresh import REFRESH
from solvers.simplex.dense_gpu.nucleus import Nucleus

ROUNDS = 2
"""The computation, and its refinement."""


def recompute_values(arrays: Arrays, nucleus: Nucleus, rounds: int = ROUNDS) -> None:
    """Set the basic variables so that [A -I] x = 0, starting from the values in ``arrays.x``."""
    for _ in range(rounds):
        row_residual(arrays)
        solve_basis(arrays, nucleus, arrays.residual, arrays.by_position)
        REFRESH["correct_basics"](
            arrays.rows, arrays.basic, arrays.lower, arrays.upper, arrays.by_position,
            arrays.x, arrays.x_basic, arrays.lower_basic, arrays.upper_basic,
        )  # fmt: skip


def row_residual(arrays: Arrays) -> None:
    """Compute A x - s of the point in ``arrays.x``."""
    REFRESH["row_residual"](*_of_residual(arrays))


def drift_launches(arrays: Arrays) -> list[Callable[[], None]]:
    """Return what leaves the largest magnitude of A x - s, ready for launches again and again.

    They first bring ``arrays.x`` up to date with the basic values by position.
    """
    residual = arrays.residual
    steps: dict[str, tuple[Any, ...]] = {
        "spread_basics": (arrays.rows, arrays.basic, arrays.x_basic, arrays.x),
        "row_residual": _of_residual(arrays),
        "largest": (residual.size, LARGEST, residual, arrays.scalars),
    }
    if arrays.device.kind == "cpu":
        return [partial(REFRESH[name], *given) for name, given in steps.items()]
    return [REFRESH.bind(name, *given) for name, given in steps.items()]


def _of_residual(arrays: Arrays) -> tuple[Any, ...]:
    matrix = arrays.by_rows
    return (
        arrays.rows, arrays.structurals, matrix.lanes, matrix.starts, matrix.indices,
        matrix.values, arrays.x, arrays.residual,
    )  # fmt: skip


def recompute_duals(arrays: Arrays, nucleus: Nucleus, *, repair: bool) -> None:
    """Compute duals and reduced costs; ``repair`` makes them feasible by flips and shifts."""
    matrix = arrays.columns
    arrays.clear(arrays.dual)
    for done in range(ROUNDS + 1):
        REFRESH["reduced_costs"](
            arrays.rows, arrays.structurals, matrix.lanes, matrix.starts, matrix.indices,
            matrix.values, arrays.cost, arrays.dual, arrays.reduced_cost,
        )  # fmt: skip
        if done < ROUNDS:
            REFRESH["gather_basics"](
                arrays.rows, arrays.basic, arrays.reduced_cost, arrays.by_position
            )
            solve_transposed(arrays, nucleus, arrays.by_position, arrays.dual)
    REFRESH["settle_duals"](
        arrays.variables, int(repair), arrays.status, arrays.lower, arrays.upper,
        arrays.x, arrays.cost, arrays.reduced_cost, arrays.scalars,
    )  # fmt: skip


def solve_basis(arrays: Arrays, nucleus: Nucleus, right: Any, result: Any) -> None:
    """Set result (m,) by position to B^-1 right, (m,) by row."""
    REFRESH["apply_inverse"](
        arrays.rows, nucleus.capacity, nucleus.slots, nucleus.inverse, nucleus.unit_row,
        nucleus.row_of_slot, right, result,
    )  # fmt: skip


def solve_transposed(arrays: Arrays, nucleus: Nucleus, right: Any, dual: Any) -> None:
    """Add B^-T right, of (m,) by position, to dual (m,) by row."""
    if not arrays.rows:
        return
    product = arrays.device.xp.dot(right, nucleus.inverse)
    REFRESH["place_dual"](
        arrays.rows, nucleus.slot_of_row, nucleus.unit_position, product, right, dual
    )


def largest(arrays: Arrays, vector: Any) -> float:
    """Return the largest magnitude of a vector; waits for it."""
    REFRESH["largest"](vector.size, LARGEST, vector, arrays.scalars)
    return read_largest(arrays)


def read_largest(arrays: Arrays) -> float:
    """Return the magnitude that was looked for last; waits for it."""
    return float(arrays.host(arrays.scalars)[LARGEST])
