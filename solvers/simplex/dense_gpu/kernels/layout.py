"""How the kernels of the dense GPU core are declared and launched."""

from __future__ import annotations

from collections.abc import Callable

from solvers.kernels.family import Argument, Launch, Values
from solvers.simplex.dense_gpu.control import BLOCK, ONE_BLOCK

WARP = 32
MOST_GROUPS_OF_ROWS = BLOCK
"""Blocks that leave a partial result each; one block then reads them with one thread each."""


def ints(*names: str) -> tuple[Argument, ...]:
    """Declare numbers of 32 bits."""
    return tuple(Argument(name, "int") for name in names)


def indices(*names: str, changed: str = "in") -> tuple[Argument, ...]:
    """Declare arrays of indices; ``changed`` is their direction."""
    return tuple(Argument(name, "index[]", changed) for name in names)


def reals(*names: str, changed: str = "in") -> tuple[Argument, ...]:
    """Declare arrays of numbers; ``changed`` is their direction."""
    return tuple(Argument(name, "real[]", changed) for name in names)


def ceiling(value: int, by: int) -> int:
    """Return value / by, rounded up."""
    return -(-value // by)


def row_groups(rows: int) -> int:
    """Return how many blocks share out the positions of the basis, or other owners."""
    return max(1, min(MOST_GROUPS_OF_ROWS, ceiling(rows, BLOCK)))


def each(*names: str) -> Callable[[Values], Launch]:
    """Return a launch rule: a thread for each element of the product of these arguments."""

    def launch(values: Values) -> Launch:
        count = 1
        for name in names:
            count *= int(values[name])
        return Launch(ceiling(count, BLOCK), BLOCK)

    return launch


def warps(name: str) -> Callable[[Values], Launch]:
    """Return a launch rule: a warp for each owner."""
    return lambda values: Launch(ceiling(int(values[name]) * WARP, BLOCK), BLOCK)


def one_block(values: Values) -> Launch:
    """Launch a single block."""
    return Launch(1, ONE_BLOCK)
