"""What the kernels of this folder have in common: how a matrix in slices is passed.

Every kernel here works on the rows of a matrix in sliced rows (``solvers/sparse/slices.py``). The
half of an iteration that owns the columns of A gets A' instead.
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Launch, Values, arguments

TEAM = 256
"""Threads of a team: eight warps, for the eight slices of a unit."""

REAL_BYTES = 8


def matrix_arguments(prefix: str = "") -> tuple[Argument, ...]:
    """Return the arguments by which a matrix in slices is passed; ``Slices.arguments``."""
    declared = arguments(
        "int slices, height; index[] meta; packed[] indices, values; real[] table; "
        "index[] splits; inout real[] partials; inout index[] tickets"
    )
    return tuple(Argument(prefix + one.name, one.kind, one.direction) for one in declared)


MATRIX = matrix_arguments()


def unit_launch(values: Values) -> Launch:
    """Give each unit of slices a block of its own."""
    return Launch(-(-int(values["slices"]) // 8), TEAM)


def work(values: Values) -> int:
    """Entries plus a few steps for each slice, which on a CPU is a row."""
    return int(values["values"].size) + 8 * int(values["slices"])


def matrix_bytes(values: Values, gathered: str, prefix: str = "") -> int:
    """Bytes of the matrix and of the gathered vector, each read once."""
    names = [f"{prefix}{name}" for name in ("meta", "indices", "values", "table")]
    return sum(int(values[name].nbytes) for name in (*names, gathered))
