"""Conflicts of binary literals that follow from implications, and cliques put together from them.

If ``x_j = s`` implies ``x_k = v``, the literals ``(j, s)`` and ``(k, 1 - v)`` exclude each other.
Pairs that a clique of the rows already holds say nothing new. A clique grows from a literal by the
literals that exclude it, one after the other, as long as each excludes all before it; pairs that
the rows hold take part where implications showed them, too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from solvers.core.problem import BoolArray
from solvers.mip.inference.cliques import Cliques, clique_table
from solvers.mip.inference.probing.cache import ProbingCache
from solvers.mip.model import IndexArray, MipModel
from solvers.native.mip_inference_probing_grow import apart, grow

Pairs = npt.NDArray[np.int64]

LONGEST = 64
"""Literals of a clique put together from pairs: testing a literal takes a search for each."""

ROOM = 6
"""Literals of all cliques together, for each entry of a pair that needs one. Cliques may overlap,
so that this is not always enough for the longest ones."""


def with_conflicts(model: MipModel, cache: ProbingCache) -> ProbingCache:
    """Return the cache with its conflicts, and cliques put together from them."""
    pairs = _pairs(model, cache)
    rows = cache.cliques
    new = np.empty(pairs.shape[0], dtype=np.bool_)
    apart(pairs, rows.literal_start, rows.literal_clique, new)
    if not new.any():
        return cache
    both = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.lexsort((both[:, 1], both[:, 0]))
    count = np.bincount(both[:, 0], minlength=2 * model.num_columns)
    start = np.concatenate(([0], np.cumsum(count))).astype(np.int64)
    known = np.concatenate([~new, ~new])[order]
    sizes, members = _grown(start, both[order, 1], known)
    return replace(
        cache,
        conflicts=pairs[new].astype(np.int32),
        cliques=_joined(model, rows, sizes, members),
    )


def _grown(start: Pairs, other: Pairs, covered: BoolArray) -> tuple[Pairs, IndexArray]:
    """Return sizes (k,) and literals of cliques that hold every pair not covered yet.

    Literal l excludes ``other[start[l]:start[l+1]]``, rising, and they exclude it.
    """
    left = covered.size - int(np.count_nonzero(covered))  # every pair stands there both ways
    sizes = np.empty(left, dtype=np.int64)
    members = np.empty(ROOM * left + LONGEST, dtype=np.int32)
    cliques, used = grow(start, other, covered, sizes, members)
    return sizes[:cliques], members[:used].copy()


def _pairs(model: MipModel, cache: ProbingCache) -> Pairs:
    """Return the distinct pairs (p, 2) of literals that implications exclude, each rising."""
    side = np.repeat(np.arange(2 * model.num_columns), np.diff(cache.start))
    value = cache.low
    known = model.is_binary[side >> 1] & model.is_binary[cache.column] & (cache.low == cache.high)
    one = side[known]
    two = 2 * cache.column[known].astype(np.int64) + 1 - value[known].astype(np.int64)
    keys = np.minimum(one, two) * (2 * model.num_columns) + np.maximum(one, two)
    keys = np.unique(keys)
    return np.column_stack(np.divmod(keys, max(1, 2 * model.num_columns)))


def _joined(model: MipModel, rows: Cliques, sizes: Pairs, members: IndexArray) -> Cliques:
    start = np.concatenate([rows.start, rows.start[-1] + np.cumsum(sizes)])
    none = np.zeros(sizes.size, dtype=np.uint8)
    return clique_table(
        start.astype(np.int32),
        np.concatenate([rows.member, members]),
        np.concatenate([rows.is_equality, none]),
        np.concatenate([rows.row, np.full(sizes.size, -1, dtype=np.int32)]),
        model.num_columns,
    )
