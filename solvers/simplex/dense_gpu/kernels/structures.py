"""What the kernels of an iteration take together: structures.cuh has the same for CUDA."""

from __future__ import annotations

from solvers.kernels.declaration import Argument, structure

Arguments = tuple[Argument, ...]

MATRIX = structure(
    "matrix",
    "int rows, structurals, lanes, full; index[] starts, indices; real[] values; "
    "index[] slot_of_row",
    prefix="",
)
"""A by columns (``lanes`` threads share out one; full = 1 says that none has a zero), and where a
row's column of the inverse is stored."""

VARIABLES = structure(
    "variables",
    "index[] status, reference; real[] lower, upper, x, reduced_cost",
    prefix="",
)


def basics(direction: str) -> Arguments:
    """Declare the variable, its value and its bounds at each position of the basis (m,)."""
    return structure(
        "basics",
        f"{direction} index[] basic; {direction} real[] x_basic, lower_basic, upper_basic",
        prefix="",
    )


def inverse(direction: str) -> Arguments:
    """Declare the inverse with its delayed pivots, whose rows are read or go on."""
    return structure(
        "inverse",
        "int capacity, most; real[] inverse; index[] unit_row; real[] etas; "
        f"{direction} real[] eta_rows, row_slots",
        prefix="",
    )


def candidates(direction: str) -> Arguments:
    """Declare what pricing leaves for the ratio test."""
    return structure(
        "candidates",
        f"{direction} real[] ratios, least; {direction} index[] counts; "
        f"{direction} real[] squares, dots",
        prefix="",
    )


def flipped(direction: str) -> Arguments:
    """Declare the variables that change sides, and by how much."""
    return structure(
        "flipped", f"{direction} index[] flips; {direction} real[] flip_steps", prefix=""
    )


def right_sides(direction: str) -> Arguments:
    """Declare the right sides of the solves with the basis."""
    return structure(
        "sides",
        f"{direction} index[] places; {direction} real[] amounts, column, column_slots, "
        "flip_column, flip_slots, column_dots, flip_dots",
        prefix="",
    )


def solutions(direction: str) -> Arguments:
    """Declare what the solves leave by position (m,)."""
    return structure("solved", f"{direction} real[] alpha, beta, tau", prefix="")


def partials(direction: str) -> Arguments:
    """Declare what each block leaves of the owners that it looked at."""
    return structure(
        "partials",
        f"{direction} real[] partial_value; {direction} index[] partial_index",
        prefix="",
    )
