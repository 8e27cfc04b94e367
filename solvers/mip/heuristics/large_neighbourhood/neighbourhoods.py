"""The neighbourhoods: by the linear relaxation, from feasible points alone, and without any.

RENS: Berthold, "RENS - the optimal rounding" (2014). RINS: Danna, Rothberg, Le Pape, "Exploring
relaxation induced neighborhoods to improve MIP solutions" (2005). DINS: Ghosh (2007), of which
only the soft bounds are taken here. The gap's share of a column, its reduced cost times how far
the incumbent's value is from the relaxation's, is what freeing it may gain at most. Crossover and
mutation: Rothberg, "An evolutionary algorithm for polishing mixed integer programming solutions"
(2007). Local branching: Fischetti and Lodi (2003). Proximity: Fischetti and Monaci, "Proximity
search for 0-1 mixed-integer convex programming" (2014).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.large_neighbourhood.situation import (
    Situation,
    choose,
    near_columns,
    near_rows,
)
from solvers.mip.inference.domain import Domain
from solvers.mip.model import FEASIBILITY_TOLERANCE, INTEGRALITY_TOLERANCE, IndexArray, MipModel
from solvers.mip.submip import ExtraRow, SubMip

LEAST_AGREEMENT = 0.3
"""Share of columns that have to agree before RINS says anything."""

SMALLEST_PRICE = 1e-6
"""What columns without reduced cost count as, relative to the largest."""

SEEDS_SHARE = 0.3
"""Part of the freed columns that is picked by gain; the rest are their neighbours."""


def rens(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Fix what is integral in the relaxation; leave the rest its two nearest values.

    Needs no feasible point. Where too few columns are integral, the nearly integral ones are
    rounded, too.
    """
    if situation.relaxation is None or not situation.decidable.size:
        return None
    columns = situation.decidable
    values = situation.relaxation.x[columns]
    fractionality = np.abs(values - np.round(values))
    integral = fractionality <= situation.agreement
    fixed = choose(integral, fractionality, situation.count_agreeing(rate, integral), rng)
    box = situation.box(columns[fixed], situation.relaxation.x)
    split = ~integral
    split[fixed] = False
    low, high = np.floor(values[split]), np.ceil(values[split])
    lower, upper = box.lower.copy(), box.upper.copy()
    lower[columns[split]] = np.clip(low, lower[columns[split]], upper[columns[split]])
    upper[columns[split]] = np.clip(high, lower[columns[split]], upper[columns[split]])
    return replace(box, lower=lower, upper=upper)


def rins(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Fix columns on which incumbent and relaxation agree, those it costs most to change first."""
    distances = _distances(situation)
    if situation.incumbent is None or distances is None:
        return None
    agree = distances <= situation.agreement
    if np.mean(agree) < LEAST_AGREEMENT:
        return None
    keys = _costs_first(situation, rng)
    fixed = choose(agree, distances, situation.count_agreeing(rate, agree), rng, keys)
    return situation.box(situation.decidable[fixed], situation.incumbent)


def soft_bounds(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Bound general integers to be no further from the relaxation than the incumbent is.

    Columns nearer than one half keep the incumbent's value. For models with general integers.
    """
    distances = _distances(situation)
    if situation.incumbent is None or distances is None or situation.relaxation is None:
        return None
    model, columns = situation.model, situation.decidable
    general = ~model.is_binary[columns]
    if not general.any():
        return None
    fixed = choose(distances < 0.5, distances, situation.count_to_fix(rate), rng)
    box = situation.box(columns[fixed], situation.incumbent)
    soft = general.copy()
    soft[fixed] = False
    chosen = columns[soft]
    centre, reach = situation.relaxation.x[chosen], distances[soft] + situation.agreement
    lower, upper = box.lower.copy(), box.upper.copy()
    lower[chosen] = np.maximum(lower[chosen], np.ceil(centre - reach))
    upper[chosen] = np.minimum(upper[chosen], np.floor(centre + reach))
    return replace(box, lower=lower, upper=upper)


def by_objective(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Free the columns that may gain most, and those that share rows with them."""
    if situation.incumbent is None or not situation.decidable.size:
        return None
    columns = situation.decidable
    room = columns.size - situation.count_to_fix(rate)
    gains = _gains(situation)
    worthwhile = np.flatnonzero(gains > 0)
    if not worthwhile.size or not room:
        return None
    # the largest of exponential clocks: a random order in which large gains tend to come first
    keys = gains[worthwhile] / rng.exponential(size=worthwhile.size)
    count = max(1, round(SEEDS_SHARE * room))
    seeds = columns[worthwhile[np.argsort(-keys, kind="stable")[:count]]]
    wanted = np.zeros(situation.model.num_columns, dtype=bool)
    wanted[columns] = True
    free = near_columns(situation.model, seeds, wanted, room, rng)
    wanted[free] = False
    return situation.box(np.flatnonzero(wanted).astype(np.int32), situation.incumbent)


def _costs_first(situation: Situation, rng: np.random.Generator) -> FloatArray | None:
    """Return keys that put decidable columns in a random order, large reduced costs first."""
    if situation.relaxation is None:
        return None
    price = np.abs(situation.relaxation.reduced_cost[situation.decidable])
    if not np.any(price):
        return None
    # exponential clocks, as in by_objective; columns without reduced cost come last, at random
    keys: FloatArray = -(price + SMALLEST_PRICE * price.max()) / rng.exponential(size=price.size)
    return keys


def _distances(situation: Situation) -> FloatArray | None:
    """Return how far incumbent and relaxation are apart on the decidable columns."""
    if situation.incumbent is None or situation.relaxation is None or not situation.decidable.size:
        return None
    columns = situation.decidable
    distances: FloatArray = np.abs(situation.incumbent[columns] - situation.relaxation.x[columns])
    return distances


def _gains(situation: Situation) -> FloatArray:
    """Return what each decidable column may contribute to closing the gap, never negative."""
    model, columns = situation.model, situation.decidable
    assert situation.incumbent is not None  # asked by the caller
    x = situation.incumbent[columns]
    relaxation = situation.relaxation
    if relaxation is not None and np.any(relaxation.reduced_cost[columns]):
        gains = relaxation.reduced_cost[columns] * (x - relaxation.x[columns])
    else:
        cost = model.cost[columns]
        best = np.where(cost > 0, model.lower[columns], model.upper[columns])
        gains = cost * (x - np.where(np.isfinite(best), best, x - np.sign(cost)))
    gain: FloatArray = np.maximum(gains, 0.0)
    return gain


MOST_PARENTS = 5
"""Points that a crossover has at most; two at least."""

RADIUS = 40
"""Flips that local branching would allow at rate 0: 20 at 1/2, 10 at 3/4."""

SMALLEST_RADIUS = 4

LARGEST_STEP, LARGEST_PART = 0.03, 0.3
"""Improvement that proximity would ask for at rate 0: relative, or part of the gap where a
relaxation is known. The sub-MIP ends at the nearest point, which is better by no more than that."""

HALVINGS = 3
"""Steps to draw from: the one of the rate, half of it, and so on."""

LARGEST_UNFIXED = 20_000
"""Entries up to which a neighbourhood without fixed columns is worth its root relaxation."""


def crossover(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Fix columns on which two to five feasible points agree."""
    if len(situation.points) < 2 or not situation.decidable.size:
        return None
    columns = situation.decidable
    most = min(MOST_PARENTS, len(situation.points))
    number = int(rng.integers(2, most + 1))
    chosen = np.sort(rng.permutation(len(situation.points))[:number])
    values = np.stack([situation.points[k].x[columns] for k in chosen])
    spread = np.ptp(values, axis=0)
    agree = spread <= INTEGRALITY_TOLERANCE
    fixed = choose(agree, spread, situation.count_agreeing(rate, agree), rng)
    return situation.box(columns[fixed], situation.points[chosen[0]].x)


def mutation(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Fix columns drawn at random at the incumbent's values."""
    if situation.incumbent is None or not situation.decidable.size:
        return None
    columns = situation.decidable
    fixed = np.sort(rng.permutation(columns)[: situation.count_to_fix(rate)])
    return situation.box(fixed, situation.incumbent)


def graph_induced(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Free the columns around a row drawn at random; fix the others at the incumbent's values."""
    if situation.incumbent is None or not situation.decidable.size or not situation.model.num_rows:
        return None
    model, columns = situation.model, situation.decidable
    room = columns.size - situation.count_to_fix(rate)
    wanted = np.zeros(model.num_columns, dtype=bool)
    wanted[columns] = True
    seed = rng.integers(model.num_rows, size=1).astype(np.int32)
    wanted[near_rows(model, seed, wanted, room, rng)] = False
    return situation.box(np.flatnonzero(wanted).astype(np.int32), situation.incumbent)


def local_branching(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Allow a number of binaries, but no matter which, to leave the incumbent."""
    row = _distance_row(situation)
    if row is None or situation.incumbent is None:
        return None
    radius = max(SMALLEST_RADIUS, round(RADIUS * (1.0 - rate)))
    extra = replace(row, upper=row.lower + radius, lower=-np.inf)
    return replace(_everything(situation), extra=(extra,))


def proximity(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Seek the point nearest to the incumbent whose objective is better by a step."""
    row = _distance_row(situation)
    if row is None or not situation.points:
        return None
    objective = situation.points[0].objective
    step = (1.0 - rate) * 0.5 ** rng.integers(HALVINGS) * _largest_step(situation, objective)
    cost = np.zeros(situation.model.num_columns)
    cost[row.columns] = row.values
    cutoff = min(situation.cutoff, objective - step)
    return replace(_everything(situation), cost=cost, cutoff=cutoff)


def _largest_step(situation: Situation, objective: float) -> float:
    """Return the largest improvement to ask for at once."""
    least = LARGEST_STEP * abs(objective)
    if situation.relaxation is None:
        return least
    return max(least, LARGEST_PART * (objective - situation.relaxation.objective))


def _everything(situation: Situation) -> SubMip:
    nothing: IndexArray = np.empty(0, dtype=np.int32)
    return situation.box(nothing, np.zeros(situation.model.num_columns))


def _distance_row(situation: Situation) -> ExtraRow | None:
    """Return the row whose activity is the number of flips, less the constant in ``lower``."""
    model = situation.model
    if situation.incumbent is None or model.num_nonzeros > LARGEST_UNFIXED:
        return None
    binaries = np.flatnonzero(model.is_binary).astype(np.int32)
    if not binaries.size:
        return None
    at_one = situation.incumbent[binaries] > 0.5
    constant = -float(np.count_nonzero(at_one))
    return ExtraRow(binaries, np.where(at_one, -1.0, 1.0), constant, np.inf)


MOST_STEPS = 20_000
"""Columns that one neighbourhood fixes one by one, at some ten microseconds each."""

ENTRIES = 3e7
"""Entries of the matrix that the propagation of one neighbourhood may visit."""

LOOKS = 64
"""How often what is fixed by now is counted."""


def repair(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Minimise the violation of the rows that the least-violated point breaks.

    Their columns and those around them are free, the other integers keep that point's values, and
    rows that hold there stay hard.
    """
    if situation.points or not situation.decidable.size:
        return None
    model, columns = situation.model, situation.decidable
    point = model.rounded(_reference(situation))
    violation = model.outside(point)
    broken = np.flatnonzero(violation > FEASIBILITY_TOLERANCE).astype(np.int32)
    if not broken.size:
        return None
    room = columns.size - situation.count_to_fix(rate)
    wanted = np.zeros(model.num_columns, dtype=bool)
    wanted[columns] = True
    seeds = rng.permutation(broken)
    wanted[near_rows(model, seeds, wanted, room, rng)] = False
    box = situation.box(np.flatnonzero(wanted).astype(np.int32), point)
    return replace(box, elastic=broken)


def partial_fixing(situation: Situation, rng: np.random.Generator, rate: float) -> SubMip | None:
    """Fix columns by a reference point, most decided first, as far as propagation lets them.

    Columns whose values a contradiction spoils stay free, for the sub-MIP to decide.
    """
    if situation.points or not situation.decidable.size:
        return None
    columns = situation.decidable
    reference = _reference(situation)
    values = reference[columns]
    doubt = np.abs(values - np.round(values))
    order = columns[np.lexsort((rng.random(columns.size), np.round(doubt, 1)))]
    count = situation.count_to_fix(rate)
    fixed = fixed_step_by_step(situation.model, order, reference, count)
    if fixed is None:
        return None
    return SubMip(*fixed, cutoff=situation.cutoff)


def fixed_step_by_step(
    model: MipModel, order: IndexArray, reference: FloatArray, count: int
) -> tuple[FloatArray, FloatArray] | None:
    """Fix integers in order near their reference values, with propagation after every step.

    Parameters
    ----------
    order : (k,) int32
        Integer columns to fix, first to last.
    reference : (n,) float64
    count : int
        How many of them to fix, those that propagation fixes included.

    Returns
    -------
    lower, upper : (n,) float64
        Bounds of integer columns as propagated, the model's for the others; None where the model
        itself propagates to a contradiction.
    """
    domain = Domain.of(model)
    if not domain.propagate():
        return None
    wanted = np.round(reference)
    enough = domain.work + ENTRIES
    look_every = max(1, order.size // LOOKS)
    for step, j in enumerate(order[:MOST_STEPS].tolist()):
        if step % look_every == 0 and _is_fixed(domain, order) >= count:
            break
        low, high = float(domain.lower[j]), float(domain.upper[j])
        if low == high:
            continue
        place = domain.mark()
        if not domain.fix(j, min(max(float(wanted[j]), low), high)):
            domain.undo(place)
        if domain.work > enough:
            break
    whole = model.is_integer == 1
    return np.where(whole, domain.lower, model.lower), np.where(whole, domain.upper, model.upper)


def _is_fixed(domain: Domain, columns: IndexArray) -> int:
    return int(np.count_nonzero(domain.lower[columns] == domain.upper[columns]))


def _reference(situation: Situation) -> FloatArray:
    """Return the least-violated point, else the relaxation's, else what the objective wants."""
    if situation.infeasible_point is not None:
        return situation.infeasible_point
    if situation.relaxation is not None:
        return situation.relaxation.x
    model = situation.model
    preferred = np.where(model.cost > 0, model.lower, np.where(model.cost < 0, model.upper, 0.0))
    return np.clip(np.where(np.isfinite(preferred), preferred, 0.0), model.lower, model.upper)


Maker = Callable[[Situation, np.random.Generator, float], "SubMip | None"]
"""Makes a neighbourhood at a fix rate within [0, 1]; None where something it needs is missing."""


@dataclass(frozen=True)
class Neighbourhood:
    """One line of the table.

    ``solutions`` is the number of improving points after which its sub-MIP stops, 0 for none:
    where the objective is a distance or a violation, later points are not better ones.
    ``needs_no_point`` says that a better point does not make another neighbourhood of it.
    """

    name: str
    make: Maker
    solutions: int = 0
    needs_no_point: bool = False


CATALOGUE = (
    Neighbourhood("rins", rins),
    Neighbourhood("rens", rens, needs_no_point=True),
    Neighbourhood("crossover", crossover),
    Neighbourhood("soft bounds", soft_bounds),
    Neighbourhood("mutation", mutation),
    Neighbourhood("graph induced", graph_induced),
    Neighbourhood("objective", by_objective),
    Neighbourhood("proximity", proximity, solutions=3),
    Neighbourhood("local branching", local_branching),
    Neighbourhood("partial fixing", partial_fixing, solutions=1),
    Neighbourhood("repair", repair),
)
"""All neighbourhoods, the most promising first: unplayed arms are tried in this order."""
