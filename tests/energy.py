"""Energy systems: capacities to build, and hours of operation that every capacity touches.

The structure that simplex and crossover find hard when there are many hours: a few columns stand in
a row of each hour, storage ties each hour to the next, and one row limits emissions over all of
them. A year, ``energy_system(8760)``, has 1.26 million rows and 3.4 million coefficients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import FloatArray, Problem

WIND, SOLAR, GAS, CHARGE, DISCHARGE, LEVEL = range(6)
BUILD_COST = (80.0, 40.0, 50.0, 10.0, 10.0, 5.0)
"""For a year, of a unit of each kind; charging and discharging have a capacity each."""
RUNNING_COST = (0.0, 0.0, 60.0, 0.1, 0.1, 0.0)
LINE_COST, EFFICIENCY, YEAR = 15.0, 0.95, 8760


def energy_system(hours: int, regions: int = 14, *, seed: int = 0) -> Problem:
    """Return the cheapest system of some regions in a ring, with two chords, for some hours.

    Columns are the capacities of each region and line, then by hour the six flows of each region
    and the exchange of each line. Rows are by hour: flows below capacities, levels, balances.
    """
    rng = np.random.default_rng(seed)
    lines = _lines(regions)
    built = 6 * regions + len(lines)
    columns = built + hours * built
    flow = built + np.arange(hours * built).reshape(hours, built)
    of_region = flow[:, : 6 * regions].reshape(hours, regions, 6)
    exchange = flow[:, 6 * regions :]
    load = _loads(rng, hours, regions)
    parts = [
        *_below_capacity(rng, of_region, exchange, columns),
        _levels(of_region, columns),
        _balances(of_region, exchange, lines, columns),
    ]
    emissions = sp.csr_array(
        (np.ones(hours * regions), (np.zeros(hours * regions, int), of_region[..., GAS].ravel())),
        shape=(1, columns),
    )
    below, levels = sum(part.shape[0] for part in parts[:-2]), hours * regions
    allowed = 0.1 * float(load.sum())
    share = hours / YEAR
    build = [*np.tile(BUILD_COST, regions), *np.full(len(lines), LINE_COST)]
    run = [*np.tile(RUNNING_COST, regions), *np.zeros(len(lines))]
    lower = np.zeros(columns)
    lower[exchange.ravel()] = -np.inf
    return Problem.from_arrays(
        cost=np.concatenate([1000.0 * share * np.array(build), np.tile(run, hours)]),
        matrix=sp.vstack([*parts, emissions], format="csr"),
        row_lower=np.concatenate([np.full(below, -np.inf), np.zeros(levels), load.ravel(), [0.0]]),
        row_upper=np.concatenate([np.zeros(below + levels), load.ravel(), [allowed]]),
        lower=lower,
        upper=np.full(columns, np.inf),
        name=f"energy-{hours}",
    )


def _lines(regions: int) -> list[tuple[int, int]]:
    ring = [(region, (region + 1) % regions) for region in range(regions if regions > 2 else 1)]
    chords = [(k, k + regions // 2) for k in range(2)] if regions > 3 else []
    return ring + chords


def _loads(rng: np.random.Generator, hours: int, regions: int) -> FloatArray:
    """Return loads (hours, regions) with a daily wave."""
    wave = 1.0 + 0.3 * np.sin(2 * np.pi * np.arange(hours) / 24.0)[:, None]
    size = rng.uniform(20.0, 80.0, regions)
    loads: FloatArray = wave * size * rng.uniform(0.9, 1.1, (hours, regions))
    return loads


def _below_capacity(
    rng: np.random.Generator, of_region: Any, exchange: Any, columns: int
) -> list[Any]:
    """Return the rows flow - availability * capacity <= 0 of each kind, and those of lines."""
    hours, regions = of_region.shape[:2]
    blocks = []
    clear = np.maximum(0.0, np.sin(2 * np.pi * (np.arange(hours) / 24.0 - 0.25)))[:, None]
    wind = rng.beta(2.0, 3.0, (hours // 6 + 1, regions)).repeat(6, axis=0)[:hours]
    solar = clear * rng.uniform(0.3, 1.0, (hours, regions))
    available = {WIND: wind, SOLAR: np.where(solar > 1e-6, solar, 0.0)}
    for kind in range(6):
        capacity = np.broadcast_to(6 * np.arange(regions) + kind, (hours, regions))
        part = available.get(kind, np.ones((hours, regions)))
        blocks.append(_pairs(of_region[..., kind], 1.0, capacity, -part, columns))
    capacity = np.broadcast_to(6 * regions + np.arange(exchange.shape[1]), exchange.shape)
    ones = np.ones(exchange.shape)
    blocks.append(_pairs(exchange, 1.0, capacity, -ones, columns))
    blocks.append(_pairs(exchange, -1.0, capacity, -ones, columns))
    return blocks


def _pairs(first: Any, value: float, second: Any, values: FloatArray, columns: int) -> Any:
    """Return rows with two entries each, one row for each entry of the arrays."""
    count = first.size
    index = np.stack([first.ravel(), second.ravel()], axis=1).ravel()
    data = np.stack([np.full(count, value), values.ravel()], axis=1).ravel()
    return sp.csr_array((data, index, 2 * np.arange(count + 1)), shape=(count, columns))


def _levels(of_region: Any, columns: int) -> Any:
    """Return the rows level - level before - charged + discharged = 0, round the year."""
    level = of_region[..., LEVEL]
    before = np.roll(level, 1, axis=0)
    charged, discharged = of_region[..., CHARGE], of_region[..., DISCHARGE]
    index = np.stack([level, before, charged, discharged], axis=-1).ravel()
    data = np.tile([1.0, -1.0, -EFFICIENCY, 1.0 / EFFICIENCY], level.size)
    return sp.csr_array((data, index, 4 * np.arange(level.size + 1)), shape=(level.size, columns))


def _balances(of_region: Any, exchange: Any, lines: list[tuple[int, int]], columns: int) -> Any:
    """Return the rows generation - charged + discharged + net import = load."""
    hours, regions = of_region.shape[:2]
    row = np.arange(hours * regions).reshape(hours, regions)
    kinds = {WIND: 1.0, SOLAR: 1.0, GAS: 1.0, CHARGE: -1.0, DISCHARGE: 1.0}
    parts = [(row, of_region[..., kind], sign) for kind, sign in kinds.items()]
    for number, (start, end) in enumerate(lines):
        parts += [(row[:, start], exchange[:, number], -1.0), (row[:, end], exchange[:, number], 1)]
    rows, index, data = (
        np.concatenate([np.broadcast_to(part[k], part[0].shape).ravel() for part in parts])
        for k in range(3)
    )
    return sp.csr_array((data, (rows, index)), shape=(hours * regions, columns))
