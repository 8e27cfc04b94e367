"""Rows that are eliminated before a matrix is dissected, and the order of all of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from solvers.interior_point.graph_reduction import GraphReduction
from solvers.native.interior_point_factor_size import count_entries
from tests.cases import through


def lower(dense: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return where the lower triangle of a symmetric pattern has entries, by columns."""
    pattern = sp.csc_array(np.tril(dense))
    return pattern.indices, np.repeat(np.arange(len(dense)), np.diff(pattern.indptr)), len(dense)


def random_graph(size: int, degree: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    half = np.tril(rng.random((size, size)) < degree / max(1, size), -1)
    return half | half.T | np.eye(size, dtype=bool)


def eliminated_from(dense: np.ndarray, first: list[int]) -> tuple[list[set[int]], np.ndarray]:
    """Eliminate by the book; return the neighbours of each then, and the graph that is left."""
    graph = dense & ~np.eye(len(dense), dtype=bool)
    then = []
    for row in first:
        near = np.flatnonzero(graph[row])
        then.append(set(near.tolist()))
        graph[np.ix_(near, near)] = ~np.eye(near.size, dtype=bool)
        graph[row], graph[:, row] = False, False
    np.fill_diagonal(graph, True)
    return then, graph


def ladder(steps: int, rungs: int) -> np.ndarray:
    """Return a chain of cliques, each of whose rows touches the one after it, with leaves."""
    size = 2 * steps * rungs
    dense = np.eye(size, dtype=bool)
    for step in range(steps):
        here = np.arange(step * rungs, (step + 1) * rungs)
        dense[np.ix_(here, here)] = True
        leaves = steps * rungs + here
        dense[here, leaves] = dense[leaves, here] = True
        if step + 1 < steps:
            dense[here, here + rungs] = dense[here + rungs, here] = True
    return dense


def fill_of(dense: np.ndarray, order: np.ndarray) -> float:
    above = sp.csc_array(np.triu(dense[np.ix_(order, order)], 1))
    indices = above.indices.astype(np.int32)
    counts = np.zeros(above.shape[0], dtype=np.int64)
    return float(count_entries(above.indptr.astype(np.int64), indices, np.inf, counts))


@through(
    "dense",
    [
        np.eye(1, dtype=bool),
        np.eye(5, dtype=bool),
        np.ones((12, 12), dtype=bool),
        *(random_graph(60, degree, seed) for degree in (1.0, 3.0, 8.0) for seed in range(3)),
        ladder(7, 5),
    ],
)
def test_what_is_left_is_the_graph_after_elimination(dense: np.ndarray) -> None:
    found = GraphReduction.of(*lower(dense))
    first = found.eliminated.tolist()
    then, graph = eliminated_from(dense, first)
    for at, near in enumerate(then):
        given = found.neighbours[found.starts[at] : found.starts[at + 1]]
        assert sorted(given.tolist()) == sorted(near)
        assert near, "the last row of a component stays"
    assert sorted([*first, *found.left.tolist()]) == list(range(len(dense)))
    left = graph[np.ix_(found.left, found.left)]
    row, column, _ = lower(left)
    np.testing.assert_array_equal(found.row, row)
    np.testing.assert_array_equal(found.column, column)


def test_rows_that_touch_few_others_bring_no_more_entries_than_there_were() -> None:
    dense = random_graph(200, 3.0, 5)
    found = GraphReduction.of(*lower(dense))
    assert found.left.size < 120
    assert found.row.size - found.left.size <= lower(dense)[0].size - 200


def test_parts_of_all_rows_follow_from_those_of_what_is_left() -> None:
    dense = ladder(16, 5)
    found = GraphReduction.of(*lower(dense))
    steps = found.left // 5
    assert found.left.size == 80, "cliques of five that touch two others stay"
    levels = [(steps < 4), (steps > 4) & (steps < 8), (steps > 8) & (steps < 12), steps > 12]
    levels += [steps == 4, steps == 12, steps == 8]
    order = np.concatenate([np.flatnonzero(level) for level in levels])
    made = found.whole(order, np.array([np.count_nonzero(level) for level in levels], np.int32))
    assert made is not None
    whole, tree = made
    assert sorted(whole.tolist()) == list(range(160))
    assert tree.tolist() == [40, 30, 30, 30, 10, 10, 10]
    part = np.empty(160, dtype=int)
    part[whole] = np.repeat(np.arange(7), tree)
    above = {0: 4, 1: 4, 2: 5, 3: 5, 4: 6, 5: 6}
    for i, k in zip(*np.nonzero(dense), strict=True):
        one, other = sorted((part[i], part[k]))
        while one < other:
            one = above[int(one)]
        assert one == other, "one of them separates the other"
    alone = np.concatenate([found.eliminated, found.left[order]])
    assert fill_of(dense, whole) == fill_of(dense, alone)


@through("tree", [[80, 0, 0], [10, 10, 10], [40, 40, 0]])
def test_sizes_that_mean_something_else_are_told(tree: list[int]) -> None:
    found = GraphReduction.of(*lower(ladder(16, 5)))
    mixed = np.random.default_rng(0).permutation(80)
    whole = found.whole(mixed, np.array(tree, dtype=np.int32))
    assert (whole is None) == (tree != [80, 0, 0])


def test_what_is_outside_is_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        GraphReduction.of(np.array([0, 3]), np.array([0, 0]), 3)
