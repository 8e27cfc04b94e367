"""Filling the probing cache: columns by priority, until time is up or little new comes out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.inference.cliques import Cliques, find_cliques
from solvers.mip.inference.probing.cache import ProbingCache, empty_cache
from solvers.mip.inference.probing.conflicts import with_conflicts
from solvers.mip.inference.probing.priority import Priority, prioritised
from solvers.mip.inference.probing.prober import DomainProber, Prober
from solvers.mip.inference.probing.store import Store
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget

STEP = 2048
"""Columns after which it is asked whether to go on (cuOpt's step)."""

LARGEST_SPLIT = 2.0**52
"""Ranges are split at no larger a value: beyond it, the next whole number is no double."""

Split = tuple[FloatArray, FloatArray, BoolArray]
"""Where the first side ends, where the second begins, and whether there is such a place."""


def build_cache(
    model: MipModel,
    prober: Prober | None,
    budget: Budget,
    seed: int,
    rule: Priority = Priority.NEIGHBOURS,
    cliques: Cliques | None = None,
) -> ProbingCache:
    """Probe the integer columns, both sides of each, and keep what follows.

    What holds whichever side a column is on narrows the bounds for good: a side without a feasible
    point, and the union of the ranges that a column has on both sides. A column with two values
    that fixes another one to different values determines it. Everything else is kept by side.

    Parameters
    ----------
    model : MipModel
    prober : Prober or None
        Who propagates; None for the CPU from the model's own bounds.
    budget : Budget
        Give it 5 % of a solve's time at most; it is asked between batches of some 10 ms.
    seed : int
        For the order of columns of equal priority.
    rule : Priority
    cliques : Cliques, optional
        Those of the rows; found here if they are not given.

    Returns
    -------
    ProbingCache
        What was found until the budget was spent, or until a step of 2048 columns fixed fewer
        than max(2, min(100, n/50)) others on their sides. Infeasible only if that is proven.
    """
    prober = DomainProber(model) if prober is None else prober
    cliques = find_cliques(model) if cliques is None else cliques
    if not _tighten(prober, budget, np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0)):
        return replace(empty_cache(model, cliques), is_infeasible=prober.proves)
    order = prioritised(model, rule, seed)
    store = Store(model.num_columns)
    least = max(2, min(100, model.num_columns // 50))
    consistent = True
    for first in range(0, order.size, STEP):
        before = store.singletons
        consistent = _probe(prober, order[first : first + STEP], store, budget)
        if budget.spent() or not consistent or store.is_full:
            break
        if store.singletons - before < least:
            break
    if not consistent:
        return replace(empty_cache(model, cliques), is_infeasible=prober.proves)
    return with_conflicts(model, store.cache(model, cliques, prober.lower, prober.upper))


def _probe(prober: Prober, columns: IndexArray, store: Store, budget: Budget) -> bool:
    """Probe columns in batches; False if that shows that there is no feasible point."""
    rest = columns
    while rest.size and not budget.spent() and not store.is_full:
        first_upper, second_lower, possible = split(prober.lower[rest], prober.upper[rest])
        possible &= ~store.determined[rest]
        rest, first_upper = rest[possible], first_upper[possible]
        second_lower = second_lower[possible]
        if not rest.size:
            break
        batch = slice(0, prober.batch)
        worked = prober.work
        probes = prober.probe(rest[batch], first_upper[batch], second_lower[batch])
        budget.charge(prober.work - worked)
        done = len(probes)
        found = store.add(
            rest[:done], first_upper[:done], second_lower[:done], probes,
            prober.lower, prober.upper,
        )  # fmt: skip
        if found is None or (found[0].size and not _tighten(prober, budget, *found)):
            return False
        rest = rest[done:]
    return True


def _tighten(
    prober: Prober, budget: Budget, columns: IndexArray, low: FloatArray, high: FloatArray
) -> bool:
    worked = prober.work
    consistent = prober.tighten(columns, low, high)
    budget.charge(prober.work - worked)
    return consistent


def split(lower: FloatArray, upper: FloatArray) -> Split:
    """Return where ranges (k,) of integer columns are split in two.

    A finite range is halved; one without an upper bound is split into its lower bound and the
    rest, one without a lower bound likewise, and a free one into ``x <= 0`` and ``x >= 1``.
    """
    below, above = np.isinf(lower), np.isinf(upper)
    with np.errstate(invalid="ignore"):
        first = np.floor((lower + upper) / 2.0)
    first = np.where(above, lower, np.where(below, upper - 1.0, first))
    first = np.where(below & above, 0.0, first)
    possible = (lower < upper) & (np.abs(first) < LARGEST_SPLIT)
    return first, first + 1.0, possible
