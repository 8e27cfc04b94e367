"""Batches for the tests of the batched simplex method, and its kernel called with bare arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import FloatArray, Problem
from solvers.simplex.batch import BatchData, Settings
from solvers.simplex.batch.kernels.simplex import VARYING
from solvers.simplex.batch.prepare import prepare
from solvers.simplex.batch.run import Layout, find_layout

DEFAULT = Settings()


def batch_of(problems: list[Problem], basis: Any = None) -> BatchData:
    """Return problems of one shape, of any pattern, as a batch with coefficients of their own."""
    m, n = problems[0].num_rows, problems[0].num_columns
    pattern = sp.csr_array(np.ones((m, n)))
    pattern.indices = pattern.indices.astype(np.int32)
    pattern.indptr = pattern.indptr.astype(np.int32)
    return BatchData(
        len(problems),
        pattern,
        np.array([p.matrix.toarray().reshape(-1) for p in problems]),
        *(
            np.array([getattr(p, name) for p in problems])
            for name in ("cost", "lower", "upper", "row_lower", "row_upper")
        ),
        basis=basis,
    )


def member(data: BatchData, k: int) -> Problem:
    """Return the k-th LP of a batch."""

    def own(name: str) -> FloatArray:
        array: FloatArray = getattr(data, name)
        return array[k if len(array) > 1 else 0]

    pattern = data.pattern
    matrix = sp.csr_array((own("values"), pattern.indices, pattern.indptr), shape=pattern.shape)
    return Problem(
        own("cost"),
        matrix,
        own("row_lower"),
        own("row_upper"),
        own("lower"),
        own("upper"),
        np.zeros(pattern.shape[1], dtype=bool),
    )


def mixed_problem(seed: int, m: int, n: int, *, whole: bool, density: float = 0.5) -> Problem:
    """Return an LP with every kind of row and column; feasible, infeasible or unbounded."""
    generator = np.random.default_rng(seed)
    used = generator.uniform(size=(m, n)) < density
    if whole:
        A = generator.integers(-3, 4, (m, n)) * used
        cost = generator.integers(-3, 4, n).astype(float)
    else:
        A = generator.standard_normal((m, n)) * used
        cost = generator.standard_normal(n)
    kind = generator.integers(0, 6, n)
    lower, upper = np.zeros(n), np.full(n, np.inf)
    at = generator.integers(-3, 4, n)
    lower[(kind == 1) | (kind == 2)] = -np.inf
    upper[kind == 2] = at[kind == 2]
    lower[kind >= 3] = at[kind >= 3]
    boxed = kind == 4
    upper[boxed] = (at + generator.integers(1, 5, n))[boxed]
    upper[kind == 5] = at[kind == 5]
    inside = np.clip(generator.integers(-2, 3, n), lower, upper)
    activity = A @ inside + generator.integers(-4, 5, m) * (generator.uniform(size=m) < 0.03)
    slack = generator.integers(0, 3, m)
    row_kind = generator.integers(0, 5, m)
    row_lower = np.where(row_kind % 3 == 0, activity, activity - slack)
    row_upper = np.where(row_kind % 3 == 0, activity, activity + slack)
    row_lower[row_kind == 1] = -np.inf
    row_upper[row_kind == 2] = np.inf
    return Problem(
        cost, sp.csr_array(A), row_lower, row_upper, lower, upper, np.zeros(n, dtype=bool)
    )


def mixed_batch(seed: int, count: int, m: int, n: int, *, whole: bool) -> BatchData:
    """Return LPs of every kind, each with a matrix of its own."""
    return batch_of([mixed_problem(seed * 1000 + k, m, n, whole=whole) for k in range(count)])


def boxed_batch(seed: int, count: int, m: int, n: int, varying: tuple[str, ...]) -> BatchData:
    """Return dense LPs ``A x <= b, 0 <= x <= 1`` that differ in ``varying`` and have an optimum."""
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((m, n))
    sides = A @ generator.uniform(0, 1, n) + generator.uniform(0, 1, m)
    pattern = sp.csr_array(A)
    pattern.indices = pattern.indices.astype(np.int32)
    pattern.indptr = pattern.indptr.astype(np.int32)
    one = {
        "values": A.reshape(1, -1),
        "cost": generator.standard_normal((1, n)),
        "lower": np.zeros((1, n)),
        "upper": np.ones((1, n)),
        "row_lower": np.full((1, m), -np.inf),
        "row_upper": sides.reshape(1, -1),
    }
    many = {
        "values": A.reshape(-1) * generator.uniform(0.98, 1.02, (count, A.size)),
        "cost": generator.standard_normal((count, n)),
        "lower": -generator.uniform(0, 1, (count, n)),
        "upper": generator.uniform(1, 2, (count, n)),
        "row_lower": np.full((count, m), -np.inf),
        "row_upper": sides + generator.uniform(0, 0.5, (count, m)),
    }
    chosen = {name: many[name] if name in varying else one[name] for name in one}
    return BatchData(count, pattern, **chosen)


Run = Callable[[tuple[Any, ...]], None]


def run_kernel(data: BatchData, run: Run, layout: Layout | None = None) -> dict[str, Any]:
    """Call the kernel with the arrays of a batch, on the host; return what it wrote."""
    m, n = data.pattern.shape
    count = data.count
    prepared = prepare(data, DEFAULT)
    if layout is None:
        layout = find_layout(m, n, count=count, processors=2)
    arrays = [getattr(data, name) for name in VARYING[:-1]] + [prepared.given.astype(np.int32)]
    varying = sum(1 << bit for bit, array in enumerate(arrays) if array.shape[0] != 1)
    written: dict[str, Any] = {
        "x": np.full(count * n, np.nan),
        "y": np.full(count * m, np.nan),
        "ray": np.full(count * n, np.nan),
        "basis": np.full(count * (n + m), -9, dtype=np.int32),
        "ending": np.full(count, -9, dtype=np.int32),
        "iterations": np.full(count, -9, dtype=np.int32),
    }
    size = layout.blocks * layout.scratch_step
    scratch = np.full(size + 64, np.nan)
    run(
        (
            count, m, n, np.array(data.pattern.indptr), np.array(data.pattern.indices), varying,
            *(np.array(array.reshape(-1)) for array in arrays), prepared.row_scale,
            prepared.column_scale, prepared.dictionary, prepared.heads, prepared.start,
            DEFAULT.parameters.as_array(), DEFAULT.most_pivots(m, n), layout.leading, layout.place,
            layout.block, layout.blocks, layout.shared, layout.scratch_step,
            scratch,
            np.zeros(1, dtype=np.int32), *written.values(),
        )
    )  # fmt: skip
    assert np.isnan(scratch[size:]).all()
    return {name: array.reshape(count, -1) for name, array in written.items()}
