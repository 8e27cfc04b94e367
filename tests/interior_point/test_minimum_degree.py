"""The order of minimum degree: every row once, and the fill of SuperLU's."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from solvers.core.progress import DetachableProgress, Progress
from solvers.core.threads import run_beside
from solvers.interior_point.on_host import SYMMETRIC
from solvers.native.interior_point_factor_size import count_entries
from solvers.native.interior_point_minimum_degree import minimum_degree
from tests.cases import through
from tests.soon import LONG


def random_matrix(size: int, density: float, seed: int) -> sp.csc_array:
    """Return the lower triangle of a symmetric pattern, with blocks of equal rows."""
    rng = np.random.default_rng(seed)
    half = sp.random_array((size // 2, size // 2), density=density, rng=rng, format="csr")
    whole = sp.kron(half + half.T, np.ones((2, 2))) + sp.eye_array(2 * (size // 2))
    return sp.csc_array(sp.tril(whole))


def grid(side: int) -> sp.csc_array:
    """Return the lower triangle of the five-point stencil on a square."""
    line = sp.diags_array([np.ones(side), np.ones(side - 1)], offsets=[0, 1])
    return sp.csc_array(sp.tril(sp.kronsum(line + line.T, line + line.T)))


def order_of(lower: sp.csc_array) -> np.ndarray:
    column = np.repeat(np.arange(lower.shape[0]), np.diff(lower.indptr)).astype(np.int32)
    order = np.empty(lower.shape[0], dtype=np.int32)
    minimum_degree(lower.indices.astype(np.int32), column, order)
    return order


def entries(lower: sp.csc_array, order: np.ndarray) -> float:
    whole = sp.csc_array(lower + sp.tril(lower, -1).T)[order][:, order]
    above = sp.csc_array(sp.triu(whole, 1))
    indices = above.indices.astype(np.int32)
    counts = np.zeros(above.shape[0], dtype=np.int64)
    return float(count_entries(above.indptr.astype(np.int64), indices, np.inf, counts))


@through("seed", range(12))
def test_every_row_has_its_place_and_the_fill_is_that_of_superlu(seed: int) -> None:
    lower = grid(12 + seed) if seed < 4 else random_matrix(150, 0.005 * seed, seed)
    order = order_of(lower)
    assert np.sort(order).tolist() == list(range(lower.shape[0]))
    matrix = lower + sp.tril(lower, -1).T + 1e3 * sp.eye_array(lower.shape[0])
    theirs = splu(sp.csc_array(matrix), permc_spec="MMD_AT_PLUS_A", **SYMMETRIC)
    assert entries(lower, order) <= 1.15 * entries(lower, np.argsort(theirs.perm_c))


def test_other_threads_go_on_meanwhile() -> None:
    lower = grid(300)
    finding = threading.Thread(target=order_of, args=(lower,))
    finding.start()
    looks = 0
    while finding.is_alive():
        time.sleep(0.001)
        looks += 1
    assert looks > 3


def test_it_ends_where_nobody_waits_for_it() -> None:
    lower, found, ended = grid(600), [], threading.Event()

    def work(own: DetachableProgress) -> bool:
        try:
            found.append(order_of(lower))
        finally:
            ended.set()
        return True

    own = DetachableProgress(Progress(0.0))
    assert run_beside(work, own, "ordering", patience=lambda seconds: 0.0) is None
    assert ended.wait(LONG)
    assert not found


def test_a_tree_and_an_arrow_fill_nothing() -> None:
    rng = np.random.default_rng(1)
    size = 300
    below = np.arange(1, size)
    for above in (np.zeros(size - 1, dtype=int), [int(rng.integers(0, i)) for i in below]):
        lower = sp.coo_array((np.ones(size - 1), (below, above)), shape=(size, size)).tocsc()
        assert entries(lower, order_of(lower)) == 2 * size - 1


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        ([0, 3], [0, 0], "outside"),
        ([-1], [0], "outside"),
        ([0], [], "column"),
        ([1] * 3, [0] * 3, "twice"),
    ],
)
def test_what_is_no_matrix_is_refused(row: list[int], column: list[int], words: str) -> None:
    given = (np.array(part, dtype=np.int32) for part in (row, column))
    with pytest.raises(ValueError, match=words):
        minimum_degree(*given, np.empty(3, dtype=np.int32))
