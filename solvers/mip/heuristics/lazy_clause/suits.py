"""Which models are searched."""

from __future__ import annotations

from solvers.mip.model import MipModel

MOST_ENTRIES, MOST_INTEGERS = 5_000_000, 500_000
"""Entries and integer columns of a model up to which it is searched: an entry takes up to 48 bytes,
a column 150, or 700 if it is no binary."""


def suits(model: MipModel) -> bool:
    """Whether a model is one to search: with integers, and not too large."""
    return 0 < int(model.integers.size) <= MOST_INTEGERS and model.num_nonzeros <= MOST_ENTRIES
