"""Neighbourhoods from feasible points alone: no relaxation is needed.

Crossover and mutation: Rothberg, "An evolutionary algorithm for polishing mixed integer
programming solutions" (2007). Local branching: Fischetti and Lodi (2003). Proximity: Fischetti and
Monaci, "Proximity search for 0-1 mixed-integer convex programming" (2014).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.mip.heuristics.large_neighbourhood.around import near_rows
from solvers.mip.heuristics.large_neighbourhood.situation import AGREEMENT, Situation, choose
from solvers.mip.model import IndexArray
from solvers.mip.submip import ExtraRow, SubMip

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
    agree = spread <= AGREEMENT
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
