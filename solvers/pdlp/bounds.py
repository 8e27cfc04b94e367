"""Pairs of bounds as codes of one byte, which an iteration reads instead of sixteen.

Most columns and rows of a model have the same few pairs of bounds or sides: zero and infinity, zero
and one, twice the same zero. The 255 most frequent ones of a sample get a code each; an element
with another pair is marked, and its bounds are read from where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.machine import threads_for
from solvers.core.problem import FloatArray
from solvers.sparse.slices import ordered

OTHERS = 255
"""The code of an element whose bounds are read, and the number of other codes."""

PAIR_BYTES = 16
"""Of a lower and an upper bound."""


@dataclass(frozen=True, eq=False)
class Coded:
    """The bounds of columns, or the sides of rows, as codes."""

    codes: Any
    """(n,) uint8: places in ``pairs``, or ``OTHERS``; empty on a CPU, which reads the bounds.
    Several GPUs have it shared out."""
    pairs: Any
    """(255, 2) float64: lower and upper bounds that codes stand for; each of several GPUs has
    it."""
    bytes: int
    """What an iteration reads of codes and bounds."""

    @classmethod
    def of(cls, lower: FloatArray, upper: FloatArray, threads: int = 1) -> Coded:
        """Code bounds (n,), on so many CPU threads, 0 for all."""
        from solvers.native.pdlp_bounds import code_bounds

        codes, pairs = np.empty(lower.size, dtype=np.uint8), np.zeros((OTHERS, 2))
        others = code_bounds(lower, upper, codes, pairs, threads_for(lower.size, threads))
        return cls(codes, pairs, codes.size + PAIR_BYTES * others)

    def to_device(self, device: Device, order: Any, place: Callable[[Any], Any]) -> Coded:
        """Return a copy in the device's memory and in an order of its own, None for no change.

        ``place`` brings codes there.
        """
        codes = self.codes if order is None else ordered(self.codes, order)
        return Coded(place(codes), device.to_device(self.pairs), self.bytes)
