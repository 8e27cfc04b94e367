"""Sets of decisions that cannot stand together, learned from dives that failed.

A no-good is a set of literals ``2 j + v`` of binary columns that are not all true in any feasible
point. As a row it says ``sum of its literals <= k - 1``, with ``1 - x_j`` where v is 0, which
walkers and sub-problems can use like any other row.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import FloatArray, Problem
from solvers.mip.inference.probing.prober import Prober
from solvers.mip.model import MipModel

LONGEST = 5
"""Literals of the longest no-good kept: longer ones cut off too little."""

CAPACITY = 1000
"""No-goods kept by default; the rows they become cost a walker time in every move."""


class NoGoods:
    """No-goods of one model, distinct and none within another; safe to use from any thread.

    Parameters
    ----------
    capacity : int
        No-goods kept; once there are as many, new ones are only taken for those they replace.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._sets: list[frozenset[int]] = []
        self._lock = threading.Lock()
        self._version = 0

    @property
    def version(self) -> int:
        """Number of changes so far."""
        return self._version

    def __len__(self) -> int:
        return len(self._sets)

    def literals(self) -> tuple[tuple[int, ...], ...]:
        """Return the no-goods in the order they came, each with rising literals."""
        with self._lock:
            return tuple(tuple(sorted(literals)) for literals in self._sets)

    def add(self, literals: Iterable[int]) -> bool:
        """Keep a no-good of one to five literals unless it says nothing new."""
        new = frozenset(map(int, literals))
        opposed = any(literal ^ 1 in new for literal in new)
        if not 1 <= len(new) <= LONGEST or opposed:
            return False
        with self._lock:
            if any(known <= new for known in self._sets):
                return False
            rest = [known for known in self._sets if not new <= known]
            if len(rest) >= self._capacity:
                return False
            self._sets = [*rest, new]
            self._version += 1
            return True

    def rows(self, num_columns: int) -> tuple[sp.csr_array, FloatArray]:
        """Return a matrix (k, n) and the upper sides (k,) of the rows that the no-goods become."""
        sets = self.literals()
        sizes = [len(literals) for literals in sets]
        flat = np.array([literal for literals in sets for literal in literals], dtype=np.int64)
        start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        true = flat & 1
        matrix = sp.csr_array((2.0 * true - 1.0, flat >> 1, start), shape=(len(sets), num_columns))
        zeros = np.array([sum(1 for lit in literals if not lit & 1) for literals in sets])
        return matrix, np.array(sizes, dtype=np.float64) - 1.0 - zeros


def with_rows(model: MipModel, nogoods: NoGoods) -> MipModel:
    """Return the model with the no-goods as further rows, after its own.

    A point of the one is a point of the other; the rows' names are lost.
    """
    if not len(nogoods):
        return model
    problem = model.problem
    matrix, sides = nogoods.rows(model.num_columns)
    return MipModel.of(
        Problem(
            cost=problem.cost,
            matrix=sp.vstack([problem.matrix, matrix], format="csr"),
            row_lower=np.concatenate([model.row_lower, np.full(sides.size, -np.inf)]),
            row_upper=np.concatenate([model.row_upper, sides]),
            lower=problem.lower,
            upper=problem.upper,
            integrality=problem.integrality,
            offset=problem.offset,
            maximize=problem.maximize,
            name=problem.name,
            column_names=problem.column_names,
        )
    )


def learned(model: MipModel, prober: Prober, decisions: Iterable[int]) -> tuple[int, ...] | None:
    """Return at most five of a failed dive's decisions that already cannot stand together.

    The decisions are propagated in their order; the one at which that fails belongs to the
    no-good, and is put first the next time, until the chosen ones fail by themselves.

    Parameters
    ----------
    model : MipModel
    prober : Prober
        Propagates from the bounds that hold globally.
    decisions : iterable of int
        Literals of binary columns, in the order they were taken.

    Returns
    -------
    tuple of int or None
        A set of literals whose failure propagation has proven, or None: there is none as small,
        or propagation does not fail.
    """
    order = [literal for literal in decisions if model.is_binary[literal >> 1]]
    chosen: list[int] = []
    while len(chosen) <= LONGEST:
        failed = prober.first_failure([*chosen, *(lit for lit in order if lit not in chosen)])
        if failed < 0:
            return None
        if failed < len(chosen):
            return tuple(sorted(chosen[: failed + 1]))
        chosen.append([*chosen, *(lit for lit in order if lit not in chosen)][failed])
    return None
