"""What each of the 32 lanes of a batch does with a column: its rule, seed and share of chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.diving.batched.orders import Guide
from solvers.mip.inference.propagation.kernels.dive import (
    BAD,
    DOWN,
    GOOD,
    LOOSE,
    RANDOM,
    REFERENCE,
    TIGHT,
    UP,
)
from solvers.mip.inference.propagation.kernels.layout import LANES
from solvers.mip.model import IndexArray

NOISES = (0.0, 0.02, 0.1, 0.3)
"""Probabilities of a random value instead of the rule's, so that lanes of one rule differ."""

RULES = (GOOD, LOOSE, UP, DOWN, TIGHT, RANDOM, BAD, LOOSE)
"""Rules without a reference point, each with every noise. Loose ones, which solve most, twice."""

RULES_WITH_REFERENCE = (REFERENCE, REFERENCE, REFERENCE, GOOD, LOOSE, UP, DOWN, RANDOM)
"""Rules with one."""

SEEDS = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Lanes:
    """Rule and seed of each lane, (32,) int32, and its probability of a random value, (32,)."""

    rule: IndexArray
    seed: IndexArray
    noise: FloatArray


def portfolio(guide: Guide, random: np.random.Generator) -> Lanes:
    """Return eight rules with four noises each."""
    rules = RULES if guide.reference is None else RULES_WITH_REFERENCE
    return Lanes(
        rule=np.repeat(np.array(rules, dtype=np.int32), len(NOISES)),
        seed=random.integers(0, SEEDS, LANES).astype(np.int32),
        noise=np.tile(np.array(NOISES), len(rules)),
    )


def reseeded(lanes: Lanes, which: npt.NDArray[np.int64], random: np.random.Generator) -> Lanes:
    """Return lanes of which some go on with other random numbers, and the most of chance."""
    seed, noise = lanes.seed.copy(), lanes.noise.copy()
    seed[which] = random.integers(0, SEEDS, which.size).astype(np.int32)
    noise[which] = np.maximum(noise[which], NOISES[2])
    return Lanes(lanes.rule, seed, noise)


def good_directions(guide: Guide) -> IndexArray:
    """Return for each column (n,) the direction of a better objective: -1 or 1.

    Columns without a cost go where fewer rows stand in the way.
    """
    cost = guide.model.cost
    return np.where(cost == 0.0, loose_directions(guide), np.where(cost > 0.0, -1, 1)).astype(
        np.int32
    )


def loose_directions(guide: Guide) -> IndexArray:
    """Return for each column (n,) the direction with fewer locks: -1 or 1."""
    return np.where(guide.up_locks < guide.down_locks, 1, -1).astype(np.int32)
