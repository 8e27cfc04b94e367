"""Numbers that decide which bounds propagation accepts; device code repeats them in bounds.cuh.

The test of the kernels compares both places.
"""

from __future__ import annotations

ROW_TOLERANCE = 1e-6
"""A row is infeasible when its activity misses a side by more than this, absolutely ..."""

ROW_RELATIVE = 1e-9
"""... and by more than this times the side."""

ROUNDING = 1e-6
"""An implied bound of an integer column may be this far beyond an integer."""

CROSSING = 1e-6
"""Bounds of a continuous column that cross by no more than this become their middle."""

RELAXATION = 1e-9
"""An implied bound of a continuous column moves outward by this times max(1, |bound|), so that
rounding errors of the activities cut nothing off."""

LARGEST_BOUND = 1e15
"""Implied bounds beyond this are no news (Sofranac et al. 2022 take 1e20, FPR 1e5)."""

SMALLEST_ENTRY = 1e-9
"""Smaller coefficients imply no bounds."""

CANCELLING = 1e8
"""A bound this large makes the implied bound of the other side unreliable ..."""

CANCELLED = 1e6
"""... when that is so many times smaller."""

SIGNIFICANT = 1e-3
"""A continuous column's new bound has to be better by this times max(1, |bound|), and by this
times the width of its domain; otherwise cycles of continuous columns creep on for ever."""

SUM_ERROR = 1e-12
"""Rounding error of a row's sum, relative to it and its side: the room of a row grows by it."""

ROUND_LIMIT = 100
"""Rounds of a propagation at most (Sofranac et al. 2022)."""
