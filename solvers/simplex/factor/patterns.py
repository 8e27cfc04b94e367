"""Vectors with a list of their nonzeros: copied, listed anew, renamed."""

from __future__ import annotations

from solvers.problem import FloatArray
from solvers.simplex.factor.arrays import Int32Array, Scratch
from solvers.simplex.factor.inner import inner

LISTED_BELOW = 0.3
"""Share of nonzeros below which a result's are listed, whichever way it was computed."""


@inner
def keep(
    vector: FloatArray,
    pattern: Int32Array,
    count: int,
    indices: Int32Array,
    values: FloatArray,
    drop: float,
) -> int:
    """Copy the nonzeros of a vector out; return how many there are."""
    kept = 0
    if count < 0:
        for label in range(vector.size):
            if abs(vector[label]) > drop:
                indices[kept] = label
                values[kept] = vector[label]
                kept += 1
        return kept
    for place in range(count):
        label = pattern[place]
        if abs(vector[label]) > drop:
            indices[kept] = label
            values[kept] = vector[label]
            kept += 1
    return kept


@inner
def without_repeats(pattern: Int32Array, count: int, scratch: Scratch) -> int:
    """Leave every label once in a pattern; return how many remain."""
    mark = scratch.mark
    kept = 0
    for place in range(count):
        label = pattern[place]
        if not mark[label]:
            mark[label] = 1
            pattern[kept] = label
            kept += 1
    for place in range(kept):
        mark[pattern[place]] = 0
    return kept


@inner
def nonzeros(vector: FloatArray, pattern: Int32Array, count: int) -> int:
    """List what is not zero, of those listed or (count -1) of all; -1 if that is too much."""
    kept = 0
    if count < 0:
        for label in range(vector.size):
            if vector[label] != 0.0:
                pattern[kept] = label
                kept += 1
        return kept if kept <= LISTED_BELOW * vector.size else -1
    for place in range(count):
        label = pattern[place]
        if vector[label] != 0.0:
            pattern[kept] = label
            kept += 1
    return kept


@inner
def rename(
    vector: FloatArray,
    pattern: Int32Array,
    count: int,
    names: Int32Array,
    gathered: FloatArray,
) -> int:
    """Move every entry to its other name, in place; list what is not zero if it is not much."""
    m = vector.size
    kept = 0
    if count < 0:
        for label in range(m):
            gathered[label] = vector[label]
        for label in range(m):
            name = names[label]
            value = gathered[label]
            vector[name] = value
            if value != 0.0:
                pattern[kept] = name
                kept += 1
        return kept if kept <= LISTED_BELOW * m else -1
    for place in range(count):
        label = pattern[place]
        value = vector[label]
        if value != 0.0:
            gathered[kept] = value
            pattern[kept] = names[label]
            kept += 1
            vector[label] = 0.0
    for place in range(kept):
        vector[pattern[place]] = gathered[place]
    return kept
