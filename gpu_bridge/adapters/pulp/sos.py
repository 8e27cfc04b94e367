"""Special ordered sets, written with binary columns.

For members x_1, ..., x_k in the order of their weights, with finite bounds l and u:

    SOS1   at most one member is non-zero      one binary z_j per member
    SOS2   at most two neighbours are          one binary z_j per pair (x_j, x_j+1)

    min(l_j, 0) s_j <= x_j <= max(u_j, 0) s_j,    sum z <= 1

where s_j is the sum of the binaries that let x_j leave zero (the textbook form of the sets of
Beale and Tomlin, 1970).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from solvers.errors import UnsupportedModelError
from solvers.problem import Problem


@dataclass(frozen=True)
class OrderedSet:
    """A special ordered set: its name, its type (1 or 2) and its columns in order."""

    name: str
    type: int
    columns: tuple[int, ...]


def add_ordered_sets(problem: Problem, sets: Sequence[OrderedSet]) -> Problem:
    """Return the problem with the sets' rows and binary columns behind its own.

    Raises
    ------
    UnsupportedModelError
        A member has an infinite bound.
    """
    for item in sets:
        problem = _add(problem, item)
    return problem


def _add(problem: Problem, item: OrderedSet) -> Problem:
    size = len(item.columns)
    if size <= item.type:
        return problem
    _check_bounds(problem, item)
    members = np.array(item.columns)
    binaries = size if item.type == 1 else size - 1
    allows = np.eye(size) if item.type == 1 else np.eye(size, binaries) + np.eye(size, binaries, -1)
    own = sp.csr_array(
        (np.ones(size), (np.arange(size), members)), shape=(size, problem.num_columns)
    )
    low = np.minimum(problem.lower[members], 0.0)
    high = np.maximum(problem.upper[members], 0.0)
    matrix = sp.block_array(
        [
            [problem.matrix, None],
            [own, sp.csr_array(-high[:, None] * allows)],
            [own, sp.csr_array(-low[:, None] * allows)],
            [None, sp.csr_array(np.ones((1, binaries)))],
        ],
        format="csr",
    )
    none = np.full(size, np.inf)
    columns, rows = problem.column_names, problem.row_names
    return replace(
        problem,
        cost=np.append(problem.cost, np.zeros(binaries)),
        matrix=matrix,
        row_lower=np.concatenate([problem.row_lower, -none, np.zeros(size), [-np.inf]]),
        row_upper=np.concatenate([problem.row_upper, np.zeros(size), none, [1.0]]),
        lower=np.append(problem.lower, np.zeros(binaries)),
        upper=np.append(problem.upper, np.ones(binaries)),
        integrality=np.append(problem.integrality, np.ones(binaries, dtype=bool)),
        column_names=columns and [*columns, *(f"{item.name}_{k + 1}" for k in range(binaries))],
        row_names=rows
        and [
            *rows,
            *(f"{item.name}_upper_{k + 1}" for k in range(size)),
            *(f"{item.name}_lower_{k + 1}" for k in range(size)),
            f"{item.name}_one",
        ],
    )


def _check_bounds(problem: Problem, item: OrderedSet) -> None:
    for column in item.columns:
        low, high = problem.lower[column], problem.upper[column]
        if not (np.isfinite(low) and np.isfinite(high)):
            raise UnsupportedModelError(
                f"Variable '{problem.column_label(column)}' of the special ordered set "
                f"'{item.name}' has bounds [{low:g}, {high:g}]; give it finite ones, so that the "
                "set can be written with binary variables."
            )
