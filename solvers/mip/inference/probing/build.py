"""Filling the probing cache: columns by priority, until time is up or little new comes out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.inference.cliques import Cliques, clique_table, find_cliques
from solvers.mip.inference.domain import Domain
from solvers.mip.inference.probing.prober import DomainProber, Prober, Probes
from solvers.mip.inference.probing.store import ProbingCache, Store, empty_cache
from solvers.mip.inference.propagation import ALL, BatchBoxes, DeviceModel
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.native.mip_inference_probing_lanes import count, fill
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


# Probing on a device: both sides of 16 columns at once, a side to each of 32 lanes.


ROUND_LIMIT = 30
"""Synchronous rounds of a batch: what a side implies farther away is not needed."""

LARGEST_DOWNLOAD = 4_000_000
"""Numbers fetched for each batch of columns that are not binary: 32 MB, some 3 ms. In a model with
more of them, only what is implied for binary columns is kept."""


class BatchProber:
    """Probes in batches of boxes; the CPU keeps the global box and confirms contradictions.

    Every probe starts from the same saved boxes, which are loaded anew when the global box has
    been narrowed. A side that the device finds empty is propagated again on the CPU, whose word is
    what counts: so nothing is fixed, nor the model called infeasible, on the device's word alone.

    Not for several threads at once; on a GPU within ``device.activate()``.

    Parameters
    ----------
    model : MipModel
    device_model : DeviceModel
        The same model, where to propagate.
    domain : Domain, optional
        Where to start from, the model's own bounds by default; it is copied.
    """

    batch = 16
    proves = True

    def __init__(
        self, model: MipModel, device_model: DeviceModel, domain: Domain | None = None
    ) -> None:
        self._cpu = DomainProber(model, domain)
        self._boxes = BatchBoxes(device_model)
        self._device = device_model.device
        self._is_integer = model.is_integer
        self._column = self._device.to_host(self._boxes.places.column)
        wide = self._boxes.wide
        self._fetched = wide if wide.size <= LARGEST_DOWNLOAD else wide[:0]
        self._lower, self._upper = np.zeros(0), np.zeros(0)
        self._work = 0.0

    @property
    def lower(self) -> FloatArray:
        """Lower bounds (n,) of the global box at present."""
        return self._cpu.lower

    @property
    def upper(self) -> FloatArray:
        """Upper bounds (n,) of the global box at present."""
        return self._cpu.upper

    @property
    def work(self) -> float:
        """Entries of the matrix visited so far; on the device, each for all lanes at once."""
        return self._work + self._cpu.work

    def tighten(self, columns: IndexArray, low: FloatArray, high: FloatArray) -> bool:
        """Narrow columns of the global box, whole bounds, and propagate; False if impossible."""
        return self._cpu.tighten(columns, low, high)

    def probe(
        self, columns: IndexArray, first_upper: FloatArray, second_lower: FloatArray
    ) -> Probes:
        """Propagate both sides of at most 16 columns."""
        columns = columns[: self.batch]
        self._reset()
        lanes = np.arange(2 * columns.size, dtype=np.int32)
        both = np.repeat(columns, 2)
        low, high = self.lower[both], self.upper[both]
        high[0::2] = first_upper[: columns.size]
        low[1::2] = second_lower[: columns.size]
        self._boxes.tighten(lanes, both, low, high)
        verdict = self._boxes.propagate(ROUND_LIMIT)
        self._work += verdict.work
        probes = self._read(columns, verdict.dead)
        return self._confirmed(probes, columns, first_upper, second_lower)

    def _reset(self) -> None:
        """Give all lanes the global box."""
        same = np.array_equal(self._lower, self.lower) and np.array_equal(self._upper, self.upper)
        if same:
            self._boxes.restore(ALL)
            return
        self._lower, self._upper = self.lower.copy(), self.upper.copy()
        self._boxes.load(self._lower, self._upper)
        self._boxes.save()

    def _read(self, columns: IndexArray, dead: int) -> Probes:
        """Fetch the boxes and list what differs from the global one."""
        to_host = self._device.to_host
        boxes = (
            to_host(self._boxes.masks),
            to_host(self._fetched),
            self._column,
            self._is_integer,
            self._lower,
            self._upper,
            columns,
            dead,
        )
        start = np.zeros(2 * columns.size + 1, dtype=np.int64)
        count(*boxes, start)
        start = np.cumsum(start)
        column = np.empty(int(start[-1]), dtype=np.int32)
        low, high = np.empty(column.size), np.empty(column.size)
        fill(*boxes, start[:-1].copy(), column, low, high)
        sides = np.arange(2 * columns.size)
        return Probes(((dead >> sides) & 1).astype(np.uint8), start, column, low, high)

    def _confirmed(
        self,
        probes: Probes,
        columns: IndexArray,
        first_upper: FloatArray,
        second_lower: FloatArray,
    ) -> Probes:
        """Replace the answers for columns with an empty side by the CPU's."""
        if not probes.infeasible.any():
            return probes
        parts, sides = [], []
        for c in range(columns.size):
            one, at = slice(c, c + 1), 2 * c
            part = probes
            if probes.infeasible[at : at + 2].any():
                part, at = self._cpu.probe(columns[one], first_upper[one], second_lower[one]), 0
            for side in (at, at + 1):
                entries = slice(int(part.start[side]), int(part.start[side + 1]))
                parts.append((part.column[entries], part.low[entries], part.high[entries]))
                sides.append(part.infeasible[side])
        column, low, high = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        start = np.cumsum([0, *(part[0].size for part in parts)]).astype(np.int64)
        return Probes(np.array(sides, dtype=np.uint8), start, column, low, high)
