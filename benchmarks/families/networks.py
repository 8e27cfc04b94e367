"""Places and the lines between them, for families that move something about."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from benchmarks.families.builder import IntArray
from benchmarks.linear_programs import FloatArray

NEIGHBOURS = 8
"""Nearest places among which lines are chosen; fewer leave a random network in pieces too often."""


def places(rng: np.random.Generator, count: int) -> FloatArray:
    """Return points (count, 2) in a square whose area grows with their number."""
    return np.asarray(np.sqrt(count) * rng.random((count, 2)))


def lines(points: FloatArray, per_place: float) -> IntArray:
    """Return lines (count, 2) that join all ``points`` (n, 2): a spanning tree, then short ones.

    There are ``per_place`` times as many lines as points, as far as near neighbours give.
    """
    count = len(points)
    near = min(NEIGHBOURS, count - 1)
    distances, ends = cKDTree(points).query(points, near + 1)
    starts = np.repeat(np.arange(count), near)
    pairs = np.sort(np.stack([starts, ends[:, 1:].ravel()], axis=1), axis=1)
    pairs, first = np.unique(pairs, axis=0, return_index=True)
    lengths = distances[:, 1:].ravel()[first]
    # consecutive points are joined too, at a length that only a gap in the network makes worth it
    chain = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)
    far = 1e6 + np.linalg.norm(points[chain[:, 0]] - points[chain[:, 1]], axis=1)
    both = np.concatenate([pairs, chain])
    # the lesser of two lengths of a pair has to count, not their sum
    order = np.lexsort((np.concatenate([lengths, far]), both[:, 1], both[:, 0]))
    both, reach = both[order], np.concatenate([lengths, far])[order]
    kept = np.r_[True, (both[1:] != both[:-1]).any(axis=1)]
    both, reach = both[kept], reach[kept]
    graph = sp.csr_matrix((reach, (both[:, 0], both[:, 1])), shape=(count, count))
    tree = sp.csgraph.minimum_spanning_tree(graph).tocoo()
    in_tree = np.isin(both @ [count, 1], tree.row.astype(np.int64) * count + tree.col)
    others = np.flatnonzero(~in_tree & (reach < 1e6))
    wanted = max(0, round(per_place * count) - int(in_tree.sum()))
    extra = others[np.argsort(reach[others], kind="stable")[:wanted]]
    return np.asarray(both[np.sort(np.r_[np.flatnonzero(in_tree), extra])])


def lengths_of(points: FloatArray, pairs: IntArray) -> FloatArray:
    """Return the length of each line."""
    return np.asarray(np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1))


def incidence(pairs: IntArray, count: int) -> sp.csr_matrix:
    """Return the matrix (count, lines) of what a unit of flow brings to each place."""
    flows = np.arange(len(pairs))
    ones = np.ones(len(pairs))
    entries = (np.r_[-ones, ones], (pairs.T.ravel(), np.r_[flows, flows]))
    return sp.csr_matrix(entries, shape=(count, len(pairs)))
