"""Neighbourhoods that follow the linear relaxation.

RENS: Berthold, "RENS - the optimal rounding" (2014). RINS: Danna, Rothberg, Le Pape, "Exploring
relaxation induced neighborhoods to improve MIP solutions" (2005). DINS: Ghosh (2007), of which
only the soft bounds are taken here. The gap's share of a column, its reduced cost times how far
the incumbent's value is from the relaxation's, is what freeing it may gain at most.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.large_neighbourhood.around import near_columns
from solvers.mip.heuristics.large_neighbourhood.situation import Situation, choose
from solvers.mip.submip import SubMip

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
