"""Relaxations of unit commitment: which plants run in which hour, at which output.

The tight formulation with three columns for the state of a unit (Knueven, Ostrowski and Watson, "On
mixed-integer programming formulations for the unit commitment problem", INFORMS J. Computing 32,
2020), all of them between 0 and 1. Times of running and standing make rows of up to 25 entries,
demand and reserve rows as long as there are units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.families.builder import Builder, IntArray, Term
from benchmarks.linear_programs import FloatArray, LinearProgram

ENTRIES = 36
"""Coefficients that a unit has in an hour, over all kinds."""

SEGMENTS = 3
RESERVE = 0.08
UNSERVED_COST = 5_000.0


@dataclass(frozen=True)
class Kind:
    """Part of all units, MW, part of it at least, hours to stay on or off, ramp, euros."""

    part: float
    size: float
    least: float
    hours: int
    ramp: float
    run: float
    start: float


KINDS = (
    Kind(0.05, 1000.0, 0.6, 24, 0.1, 10.0, 200_000.0),
    Kind(0.25, 500.0, 0.4, 8, 0.3, 35.0, 60_000.0),
    Kind(0.40, 400.0, 0.4, 4, 0.5, 60.0, 25_000.0),
    Kind(0.30, 80.0, 0.2, 1, 1.0, 95.0, 1_500.0),
)


def unit_commitment(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return some units for some days; of eight times the size there are twice as many units."""
    rng = np.random.default_rng(seed)
    cells = max(1.0, nonzeros / ENTRIES)
    hours = int(np.clip(24 * round(cells ** (2 / 3) / 4 / 24), 24, 8760))
    units = max(len(KINDS), round(cells / hours))
    builder = Builder(f"unit-commitment-{units}-{hours}")
    ends = np.round(np.cumsum([kind.part for kind in KINDS]) * units).astype(int)
    output: list[Term] = []
    spare: list[Term] = []
    capacity = 0.0
    for kind, count in zip(KINDS, np.diff(ends, prepend=0), strict=True):
        if count:
            sizes = kind.size * rng.uniform(0.7, 1.3, count)
            capacity += float(sizes.sum())
            _units(builder, kind, sizes, hours, rng, output, spare)
    demand = _demand(rng, hours, 0.8 * capacity)
    unserved = builder.columns(hours, cost=UNSERVED_COST)
    short = builder.columns(hours, cost=0.2 * UNSERVED_COST)
    builder.rows((hours,), [*output, Term(unserved)], lower=demand, upper=demand)
    builder.rows((hours,), [*spare, Term(short)], lower=RESERVE * demand)
    return builder.finish()


def _units(
    builder: Builder,
    kind: Kind,
    sizes: FloatArray,
    hours: int,
    rng: np.random.Generator,
    output: list[Term],
    spare: list[Term],
) -> None:
    """Add units of one kind; ``output`` and ``spare`` get what they give to each hour's rows."""
    shape = (hours, len(sizes))
    running = kind.run * rng.uniform(0.85, 1.15, len(sizes))
    least, range_ = kind.least * sizes, (1.0 - kind.least) * sizes
    on = builder.columns(*shape, cost=running * least, upper=1.0)
    start = builder.columns(*shape, cost=kind.start * sizes / kind.size, upper=1.0)
    stop = builder.columns(*shape, upper=1.0)
    above, reserve = builder.columns(*shape), builder.columns(*shape)
    rising = running[:, None] * (1.0 + 0.1 * np.arange(SEGMENTS))
    parts = builder.columns(*shape, SEGMENTS, cost=rising)
    changes = [Term(on), Term(_before(on), -1.0), Term(start, -1.0), Term(stop)]
    builder.rows(shape, changes, lower=0.0, upper=0.0)
    within = [Term(above), Term(reserve), Term(on, -range_)]
    if kind.hours > 1:  # a unit starts and stops at its least output
        within.append(Term(start, (1.0 - min(1.0, kind.ramp)) * range_))
    builder.rows(shape, within, upper=0.0)
    ramp = kind.ramp * sizes
    builder.rows(shape, [Term(above), Term(reserve), Term(_before(above), -1.0)], upper=ramp)
    builder.rows(shape, [Term(_before(above)), Term(above, -1.0)], upper=ramp)
    lately = (np.arange(hours)[:, None] - np.arange(kind.hours)) % hours
    builder.rows(shape, [Term(_history(start, lately)), Term(on, -1.0)], upper=0.0)
    builder.rows(shape, [Term(_history(stop, lately)), Term(on)], upper=1.0)
    builder.rows(shape, [Term(above), Term(parts, -1.0)], lower=0.0, upper=0.0)
    part = (range_ / SEGMENTS)[:, None]
    builder.rows((*shape, SEGMENTS), [Term(parts), Term(on[..., None], -part)], upper=0.0)
    output += [Term(on, least), Term(above)]
    spare.append(Term(reserve))


def _before(columns: IntArray) -> IntArray:
    return np.roll(columns, 1, axis=0)


def _history(columns: IntArray, lately: IntArray) -> IntArray:
    """Return (hours, units, back): the columns of each unit in the last so many hours."""
    return columns[lately].transpose(0, 2, 1)


def _demand(rng: np.random.Generator, hours: int, most: float) -> FloatArray:
    hour = np.arange(hours)
    day = 0.75 + 0.15 * np.sin(2 * np.pi * (hour % 24 - 8.0) / 24.0)
    week = np.where(hour // 24 % 7 >= 5, 0.88, 1.0)
    return np.asarray(most * day * week * rng.normal(1.0, 0.02, hours))
