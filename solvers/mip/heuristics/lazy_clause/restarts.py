"""When to begin anew: contradictions until then, by Luby's sequence (Luby, Sinclair, Zuckerman).

A unit of them is also what a target may take (``targets``).
"""

from __future__ import annotations

RESTART_UNIT = 100
"""Contradictions before the first restart, times Luby's sequence; fewer where they take long and
there is a point."""

LEAST_UNIT = 10
"""The same where they take longest."""

WORK_PER_UNIT = 1e7
"""Entries visited in as many contradictions as a unit has at most: a tenth of a second. Where one
takes 400,000, a hundred of them would leave time for two targets in a second. While there is no
point they are not cut short: tbfp-network came to its first one later, or not at all."""


def unit_of(conflicts: int, work: int) -> int:
    """Return the contradictions that make a unit, from how many took how much work so far."""
    affordable = WORK_PER_UNIT * conflicts / max(1, work)
    return int(min(max(affordable, LEAST_UNIT), RESTART_UNIT))


def luby(k: int) -> int:
    """Return number k = 1, 2, ... of Luby's sequence: 1 1 2 1 1 2 4 ..."""
    while True:
        size = k.bit_length()
        if k == (1 << size) - 1:
            return 1 << (size - 1)
        k -= (1 << (size - 1)) - 1
