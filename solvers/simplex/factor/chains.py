"""Doubly linked lists of rows and columns with equal counts."""

from __future__ import annotations

from solvers.simplex.factor.arrays import Int32Array
from solvers.simplex.factor.inner import inner

HEAD, NEXT, PREVIOUS = 0, 1, 2
"""Rows of the chains: first of each count, and neighbours of each row or column."""


@inner
def link(chain: Int32Array, item: int, count: int) -> None:
    """Put a row or column in front of those with the same count."""
    first = chain[HEAD, count]
    chain[NEXT, item] = first
    chain[PREVIOUS, item] = -1 - count  # says that it is the head, and of which count
    if first >= 0:
        chain[PREVIOUS, first] = item
    chain[HEAD, count] = item


@inner
def unlink(chain: Int32Array, item: int) -> None:
    """Take a row or column out of its chain."""
    before, after = chain[PREVIOUS, item], chain[NEXT, item]
    if before >= 0:
        chain[NEXT, before] = after
    else:
        chain[HEAD, -1 - before] = after
    if after >= 0:
        chain[PREVIOUS, after] = before
