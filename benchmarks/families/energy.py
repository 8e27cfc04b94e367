"""Expansion of an energy system: what to build, and an hourly year of running it.

A model as planners of power systems write it (Brown, Hoersch and Schlachtberger, "PyPSA: Python for
Power System Analysis", J. Open Res. Software 6, 2018), in MW, hours and euros. A few capacities
stand in a row of each hour; storage ties each hour to the next and the year's end to its beginning;
ramps do so, too; one row limits the emissions of all plants in all hours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.signal import lfilter

from benchmarks.families.builder import Builder, IntArray, Term
from benchmarks.families.networks import incidence, lengths_of, lines, places
from benchmarks.linear_programs import FloatArray, LinearProgram

YEAR = 8760
NODES = 12
"""Of a system whose hours make up its size, until there is a year of them."""

ENTRIES = 42
"""Coefficients that a node has in an hour."""

LINES_PER_NODE = 1.5
LINE_COST = 40.0
"""Euros a year for a MW over the mean distance of two neighbours, times a thousand km."""

UNSERVED_COST = 3000.0
EMISSIONS_PER_LOAD = 0.05
"""Tonnes of CO2 allowed for each MWh."""


@dataclass(frozen=True)
class Plant:
    """Euros a year for a MW, euros and tonnes of CO2 for a MWh, change of output in an hour."""

    build: float
    run: float
    emissions: float
    ramp: float | None = None


GAS_TURBINE = Plant(45_000.0, 95.0, 0.55)
COMBINED_CYCLE = Plant(85_000.0, 60.0, 0.35)
NUCLEAR = Plant(500_000.0, 9.0, 0.0, ramp=0.05)
SOLAR = Plant(45_000.0, 0.01, 0.0)
WIND = Plant(110_000.0, 0.015, 0.0)


@dataclass(frozen=True)
class Store:
    """Euros a year for a MW in and out, its hours of storage, efficiencies, loss in an hour."""

    build: float
    hours: float
    charging: float
    discharging: float
    loss: float


BATTERY = Store(60_000.0, 6.0, 0.95, 0.95, 1e-4)
HYDROGEN = Store(150_000.0, 168.0, 0.70, 0.55, 0.0)

EVERY_THIRD = 3
"""Only so many nodes have a site for nuclear plants, and others for caverns of hydrogen."""


def energy(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return a system of twelve nodes and as many hours as give the size, or a year of more."""
    cells = max(1, nonzeros // ENTRIES)
    hours = int(np.clip(24 * round(cells / NODES / 24), 24, YEAR))
    return energy_system(hours, max(2, round(cells / hours)), seed)


def energy_system(hours: int, nodes: int, seed: int = 0) -> LinearProgram:
    """Return the cheapest system of ``nodes`` places for a year, or days spread over one."""
    rng = np.random.default_rng(seed)
    hour = np.arange(hours)
    hour = 24 * (hour // 24 * YEAR // hours) + hour % 24
    points = places(rng, nodes)
    pairs = lines(points, LINES_PER_NODE)
    load = _load(rng, hour, nodes)
    system = _System(Builder(f"energy-{hours}-{nodes}"), hours, nodes)
    sites = np.arange(nodes)
    system.plants(SOLAR, sites, _solar(rng, hour, nodes), potential=4.0 * load.mean(axis=0))
    system.plants(WIND, sites, _wind(rng, points, hour), potential=3.0 * load.mean(axis=0))
    for plant in (GAS_TURBINE, COMBINED_CYCLE):
        system.plants(plant, sites, np.ones((hours, nodes)))
    system.plants(NUCLEAR, sites[::EVERY_THIRD], np.ones((hours, len(sites[::EVERY_THIRD]))))
    system.stores(BATTERY, sites)
    system.stores(HYDROGEN, sites[1::EVERY_THIRD])
    system.network(pairs, lengths_of(points, pairs), load)
    system.balances(load)
    return system.builder.finish()


class _System:
    """The program while it is put together: all columns first, rows as far as they are known."""

    def __init__(self, builder: Builder, hours: int, nodes: int) -> None:
        self.builder, self.hours, self.nodes = builder, hours, nodes
        self._share = hours / YEAR
        self._flows: list[IntArray] = []
        self._brings: list[sp.csr_matrix] = []
        self._emitting: list[Term] = []

    def plants(
        self,
        plant: Plant,
        sites: IntArray,
        available: FloatArray,
        potential: FloatArray | float = np.inf,
    ) -> None:
        """Add plants at ``sites``, of whose capacity the part ``available`` (hours, sites) runs."""
        shape = (self.hours, len(sites))
        built = self.builder.columns(len(sites), cost=plant.build * self._share, upper=potential)
        output = self.builder.columns(*shape, cost=plant.run)
        self.builder.rows(shape, [Term(output), Term(built[None], -available)], upper=0.0)
        if plant.ramp is not None:
            before = np.roll(output, 1, axis=0)
            for sign in (1.0, -1.0):
                change = [Term(output, sign), Term(before, -sign), Term(built[None], -plant.ramp)]
                self.builder.rows(shape, change, upper=0.0)
        if plant.emissions:
            self._emitting.append(Term(output.reshape(1, -1), plant.emissions))
        self._connect(output, sites, 1.0)

    def stores(self, store: Store, sites: IntArray) -> None:
        """Add storage at ``sites``, as full at the end as it was at the beginning."""
        shape = (self.hours, len(sites))
        built = self.builder.columns(len(sites), cost=store.build * self._share)
        charged = self.builder.columns(*shape, cost=0.01)
        discharged = self.builder.columns(*shape, cost=0.01)
        level = self.builder.columns(*shape)
        for flow, size in ((charged, 1.0), (discharged, 1.0), (level, store.hours)):
            self.builder.rows(shape, [Term(flow), Term(built[None], -size)], upper=0.0)
        kept = [Term(level), Term(np.roll(level, 1, axis=0), store.loss - 1.0)]
        moved = [Term(charged, -store.charging), Term(discharged, 1.0 / store.discharging)]
        self.builder.rows(shape, [*kept, *moved], lower=0.0, upper=0.0)
        self._connect(charged, sites, -1.0)
        self._connect(discharged, sites, 1.0)

    def network(self, pairs: IntArray, lengths: FloatArray, load: FloatArray) -> None:
        """Add lines that exist and can be made larger, with flows in either direction."""
        shape = (self.hours, len(pairs))
        existing = 0.3 * load.mean(axis=0)[pairs].min(axis=1)
        cost = LINE_COST * 1000.0 * lengths / max(lengths.mean(), 1e-9)
        built = self.builder.columns(len(pairs), cost=cost * self._share)
        flow = self.builder.columns(*shape, lower=-np.inf)
        for sign in (1.0, -1.0):
            within = [Term(flow, sign), Term(built[None], -1.0)]
            self.builder.rows(shape, within, upper=existing)
        self._flows.append(flow)
        self._brings.append(incidence(pairs, self.nodes))

    def balances(self, load: FloatArray) -> None:
        """Meet the load of each hour and node, or pay for what is not, within the emissions."""
        unserved = self.builder.columns(*load.shape, cost=UNSERVED_COST, upper=load)
        self._connect(unserved, np.arange(self.nodes), 1.0)
        brings = sp.hstack(self._brings, format="csr")
        self.builder.blocks(brings, np.concatenate(self._flows, axis=1), lower=load, upper=load)
        allowed = EMISSIONS_PER_LOAD * float(load.sum())
        self.builder.rows((1,), self._emitting, upper=allowed)

    def _connect(self, flow: IntArray, sites: IntArray, sign: float) -> None:
        """Let ``flow`` (hours, sites) count in the balances of its nodes."""
        entries = (np.full(len(sites), sign), (sites, np.arange(len(sites))))
        self._flows.append(flow)
        self._brings.append(sp.csr_matrix(entries, shape=(self.nodes, len(sites))))


def _load(rng: np.random.Generator, hour: IntArray, nodes: int) -> FloatArray:
    """Return MW (hours, nodes) with the waves of day, week and year."""
    hour = hour[:, None]
    day = 1.0 + 0.2 * np.sin(2 * np.pi * (hour % 24 - 8.0) / 24.0)
    week = np.where(hour // 24 % 7 >= 5, 0.85, 1.0)
    year = 1.0 + 0.15 * np.cos(2 * np.pi * hour / YEAR)
    size = rng.lognormal(np.log(4000.0), 0.8, nodes)
    return np.asarray(size * day * week * year * rng.normal(1.0, 0.03, (len(hour), nodes)))


def _solar(rng: np.random.Generator, hour: IntArray, nodes: int) -> FloatArray:
    """Return the part of a panel's capacity (hours, nodes), none at night, clouds by the day."""
    hours, hour = len(hour), hour[:, None]
    tilt = np.deg2rad(-23.4) * np.cos(2 * np.pi * (hour / 24.0 + 10.0) / 365.0)
    latitude = np.deg2rad(rng.uniform(36.0, 58.0, nodes))
    angle = 2 * np.pi * (hour % 24 - 12.0) / 24.0
    height = np.sin(latitude) * np.sin(tilt) + np.cos(latitude) * np.cos(tilt) * np.cos(angle)
    clear = rng.beta(4.0, 1.5, (hours // 24 + 1, nodes)).repeat(24, axis=0)[:hours]
    part = 0.95 * np.maximum(0.0, height) * clear
    return np.where(part < 1e-3, 0.0, np.round(part, 4))


def _wind(rng: np.random.Generator, points: FloatArray, hour: IntArray) -> FloatArray:
    """Return the part of a turbine's capacity (hours, nodes): weather that drifts and spreads."""
    nodes = len(points)
    fronts = rng.random((6, 2)) * np.sqrt(nodes)
    near = np.exp(-np.linalg.norm(points[:, None] - fronts[None], axis=2) / 2.0)
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    keep = 0.97
    shocks = np.sqrt(1.0 - keep**2) * rng.standard_normal((len(hour), 6 + nodes))
    weather = lfilter([1.0], [1.0, -keep], shocks, axis=0)
    mixed = 0.8 * weather[:, :6] @ near.T + 0.6 * weather[:, 6:]
    season = 1.0 + 0.15 * np.cos(2 * np.pi * hour / YEAR)[:, None]
    speed = np.maximum(0.0, 7.5 * season + 3.0 * mixed)
    part = np.clip((speed**3 - 27.0) / (12.0**3 - 27.0), 0.0, 1.0)
    return np.asarray(np.round(np.where(speed > 25.0, 0.0, part), 4))
