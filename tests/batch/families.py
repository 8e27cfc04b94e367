"""Batches of random LPs for tests: a base problem, and data that varies around it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gpu_bridge.batch.batch import Batch
from solvers.core.problem import Problem
from tests.pdlp.lps import random_lp


def family(seed: int, count: int, rows: int, columns: int, varying, density: float = 0.3) -> Batch:
    """Return LPs near a random one that has every kind of row and column and an optimum.

    Sides and bounds are only moved outwards, so that every member is feasible; with other costs
    or coefficients a member may be unbounded.
    """
    base = random_lp(seed, rows, columns, density)
    generator = np.random.default_rng(seed + 1)
    data = {}
    for name in varying:
        size = {"offset": (count,), "coefficients": (count, base.num_nonzeros)}
        values = base.matrix.data if name == "coefficients" else getattr(base, name)
        noise = generator.uniform(0.0, 0.2, size.get(name, (count, np.size(values))))
        if name in ("cost", "coefficients"):
            data[name] = values * (1.0 + 0.1 * (noise - 0.1))
        else:
            data[name] = values + (-noise if "lower" in name else noise)
    return Batch(base, **data)


def boxed_family(seed: int, count: int, rows: int, columns: int, varying) -> Batch:
    """Return dense LPs with bounds on all columns: each has an optimum, whatever differs."""
    generator = np.random.default_rng(seed)
    A = generator.standard_normal((rows, columns))
    sides = A @ generator.uniform(0, 1, columns) + generator.uniform(0, 1, rows)
    base = Problem.from_arrays(
        generator.standard_normal(columns), A, -np.inf, sides, upper=1.0, offset=-1.5
    )
    data = {
        "cost": generator.standard_normal((count, columns)),
        "lower": -generator.uniform(0, 1, (count, columns)),
        "upper": generator.uniform(1, 2, (count, columns)),
        "row_lower": np.full((count, rows), -1e20),
        "row_upper": sides + generator.uniform(0, 0.5, (count, rows)),
        "coefficients": base.matrix.data * generator.uniform(0.98, 1.0, (count, A.size)),
        "offset": generator.standard_normal(count),
    }
    return Batch(base, **{name: data[name] for name in varying})


def infeasible_and_unbounded() -> Batch:
    """Return four LPs: feasible, infeasible by a row, unbounded, infeasible by two rows."""
    A = sp.csr_array([[1.0, 1.0, 0.0], [1.0, -1.0, 1.0]])
    base = Problem.from_arrays([1.0, 2.0, 0.5], A, [1.0, 0.0], [4.0, 0.0], upper=[3.0, 3.0, np.inf])
    cost = np.array([[1.0, 2.0, 0.5], [1.0, 2.0, 0.5], [0.0, 0.0, -1.0], [1.0, 2.0, 0.5]])
    row_lower = np.array([[1.0, 0.0], [7.0, 0.0], [1.0, 0.0], [5.0, 4.0]])
    row_upper = np.array([[4.0, 0.0], [9.0, 0.0], [4.0, np.inf], [6.0, 4.0]])
    upper = np.array([[3.0, 3.0, np.inf]] * 3 + [[3.0, 3.0, 0.5]])
    return Batch(base, cost=cost, row_lower=row_lower, row_upper=row_upper, upper=upper)
