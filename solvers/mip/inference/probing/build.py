"""Filling the probing cache: columns by priority, until time is up or little new comes out."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.inference.cliques import Cliques, clique_table, find_cliques
from solvers.mip.inference.domain import Domain
from solvers.mip.inference.probing.store import Probes, ProbingCache, Store, empty_cache
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import SLICE, Budget
from solvers.native.mip_inference_probing import collect
from solvers.native.mip_inference_probing_store import apart, grow, neighbours

# Conflicts of binary literals that follow from implications, and cliques put together from them.
#
# If ``x_j = s`` implies ``x_k = v``, the literals ``(j, s)`` and ``(k, 1 - v)`` exclude each
# other. Pairs that a clique of the rows already holds say nothing new. A clique grows from a
# literal by the literals that exclude it, one after the other, as long as each excludes all before
# it; pairs that the rows hold take part where implications showed them, too.


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


# In which order columns are probed.


def prioritised(model: MipModel, seed: int = 0) -> IndexArray:
    """Return the integer columns that are not fixed, the most promising one first.

    That is the one with the most entries of other integer columns in its rows; one that shares two
    rows counts twice. Free columns come last.

    Parameters
    ----------
    model : MipModel
    seed : int
        For the order of columns that have equally many.
    """
    columns = model.integers[model.lower[model.integers] < model.upper[model.integers]]
    columns = np.random.default_rng(seed).permutation(columns)
    free = np.isinf(model.lower[columns]) & np.isinf(model.upper[columns])
    company = np.empty(columns.size, dtype=np.int64)
    neighbours(columns, model, company)
    return np.ascontiguousarray(columns[np.lexsort((-company, free))], dtype=np.int32)


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
    order = prioritised(model, seed)
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


# Who propagates the two sides of each probed column. A prober owns a box of bounds that hold
# globally: ``probe`` propagates sides from there and forgets them, ``tighten`` narrows it for good.

CAP = 300_000
"""Entries of the matrix that one propagation may visit: 1 to 3 ms. What it has found until then
holds all the same, and of what it finds only 64 entries are kept."""

WHOLE_BOX = 3
"""Entries that propagating the global box may visit, for each entry of the matrix."""

SIDES_HELD = 4
"""Sides that change every integer column for which a batch of probes has room, at least."""

SMALLEST_ROOM = 1 << 16
"""Entries for which it has room in any case."""


class Prober(Protocol):
    """Propagates sides of columns from a box of bounds that hold globally."""

    batch: int
    """Columns that it takes at once."""

    proves: bool
    """Whether its word is a proof that the model is infeasible."""

    @property
    def lower(self) -> FloatArray:
        """Lower bounds (n,) of the box at present."""

    @property
    def upper(self) -> FloatArray:
        """Upper bounds (n,) of the box at present."""

    @property
    def work(self) -> float:
        """Entries of the matrix visited so far."""

    def probe(
        self, columns: IndexArray, first_upper: FloatArray, second_lower: FloatArray
    ) -> Probes:
        """Propagate ``x <= first_upper`` and ``x >= second_lower`` of each column (k,).

        It may end early: the answer holds the first columns only, at least one.
        """

    def tighten(self, columns: IndexArray, low: FloatArray, high: FloatArray) -> bool:
        """Narrow columns of the box, whole bounds, and propagate; False if no point is left."""


class DomainProber:
    """Probes one side after the other by sequential propagation on the CPU.

    Parameters
    ----------
    model : MipModel
    domain : Domain, optional
        Where to start from, the model's own bounds by default; it is copied.
    """

    batch = 16
    proves = True

    def __init__(self, model: MipModel, domain: Domain | None = None) -> None:
        self._domain = Domain.of(model) if domain is None else domain.copy()
        self._domain.cap = min(self._domain.cap, CAP)
        self._domain.forget()
        self._cap_of_box = max(CAP, WHOLE_BOX * model.num_nonzeros)
        self._integers = model.integers.size
        room = max(SMALLEST_ROOM, SIDES_HELD * self._integers)
        self._column = np.empty(room, dtype=np.int32)
        self._low, self._high = np.empty(room), np.empty(room)

    @property
    def lower(self) -> FloatArray:
        """Lower bounds (n,) of the box at present."""
        return self._domain.lower

    @property
    def upper(self) -> FloatArray:
        """Upper bounds (n,) of the box at present."""
        return self._domain.upper

    @property
    def work(self) -> float:
        """Entries of the matrix visited so far."""
        return float(self._domain.work)

    def probe(
        self, columns: IndexArray, first_upper: FloatArray, second_lower: FloatArray
    ) -> Probes:
        """Propagate both sides of the columns in turn until a slice of work is done."""
        infeasible = np.zeros(2 * columns.size, dtype=np.uint8)
        start = np.zeros(2 * columns.size + 1, dtype=np.int64)
        end = self.work + SLICE
        done = 0
        while done < columns.size and (done == 0 or self.work < end):
            if start[2 * done] + 2 * self._integers > self._column.size:
                break
            j = int(columns[done])
            sides = ((self.lower[j], first_upper[done]), (second_lower[done], self.upper[j]))
            for side, (low, high) in enumerate(sides, start=2 * done):
                start[side + 1] = self._probe_side(j, low, high, int(start[side]))
                infeasible[side] = start[side + 1] < 0
                start[side + 1] = max(start[side + 1], start[side])
            done += 1
        used = int(start[2 * done])
        return Probes(
            infeasible[: 2 * done],
            start[: 2 * done + 1],
            self._column[:used].copy(),
            self._low[:used].copy(),
            self._high[:used].copy(),
        )

    def _probe_side(self, j: int, low: float, high: float, at: int) -> int:
        """Write what a side implies from place ``at`` on; return the end, -1 if infeasible."""
        domain = self._domain
        place = domain.mark()
        consistent = domain.tighten(j, low, high)
        if consistent:
            at = collect(
                domain.model, domain.box, place, j, at, self._column, self._low, self._high
            )
        domain.undo(place)
        return at if consistent else -1

    def tighten(self, columns: IndexArray, low: FloatArray, high: FloatArray) -> bool:
        """Narrow columns and propagate each; with no columns, propagate all rows."""
        domain, cap = self._domain, self._domain.cap
        domain.cap = self._cap_of_box
        consistent = True if columns.size else domain.propagate()
        for j, least, most in zip(columns.tolist(), low.tolist(), high.tolist(), strict=True):
            if not domain.tighten(j, least, most):
                consistent = False
                break
        domain.cap = cap
        domain.forget()
        return consistent
