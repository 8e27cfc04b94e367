"""Dropping clauses that tie many decisions together, when there are too many."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import BoolArray
from solvers.mip.heuristics.lazy_clause.state import CLAUSES, LITERALS, State

ALWAYS_KEPT = 2
"""Clauses of at most this spread are kept for good (Audemard, Simon 2009)."""


def reduce_clauses(state: State) -> None:
    """Drop half of the clauses, those of the widest spread, and those that always hold.

    Only at the root, where no clause is a reason. The lists of watches are to be rebuilt.
    """
    counts = state.counts
    number = int(counts[CLAUSES])
    start = state.clause_start[: number + 1].astype(np.int64)
    spread = state.clause_spread[:number]
    keep = spread <= ALWAYS_KEPT
    keep[np.lexsort((-np.arange(number), spread))[: number // 2]] = True
    keep &= ~_always_true(state, start)
    _compact(state, start, keep)


def _always_true(state: State, start: np.ndarray) -> BoolArray:
    codes, values = state.literal_code[: start[-1]], state.literal_value[: start[-1]]
    true = state.bound[codes] >= values
    total = np.concatenate([[0], np.cumsum(true)])
    holds: BoolArray = total[start[1:]] > total[start[:-1]]
    return holds


def _compact(state: State, start: np.ndarray, keep: BoolArray) -> None:
    lengths = np.diff(start)
    kept = np.repeat(keep, lengths)
    size, number = int(kept.sum()), int(keep.sum())
    state.literal_code[:size] = state.literal_code[: start[-1]][kept]
    state.literal_value[:size] = state.literal_value[: start[-1]][kept]
    state.clause_spread[:number] = state.clause_spread[: keep.size][keep]
    state.clause_start[1 : number + 1] = np.cumsum(lengths[keep])
    state.counts[CLAUSES] = number
    state.counts[LITERALS] = size
