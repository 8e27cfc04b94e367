"""Decisions under uncertainty: two stages with many scenarios, and a tree of many stages."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.families.builder import Builder, IntArray, Term
from benchmarks.linear_programs import LinearProgram

PLANTS, BLOCKS = 60, 7
"""First-stage columns and blocks of load; they make a few rows and columns very long."""

SHORT_COST = 1_000.0

RESERVOIRS, THERMAL = 10, 5
BRANCHES = 3
YEAR = 12
"""Stages in a year."""


def two_stage(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return capacities that are built before demands and outages are known.

    The structure of the first models of this kind (Louveaux and Smeers, "Optimal investments for
    electricity generation", 1988) with more plants: a capacity stands in a row of each scenario,
    all other columns have three entries.
    """
    rng = np.random.default_rng(seed)
    entries = PLANTS * (BLOCKS + 1) + BLOCKS * (PLANTS + 1) + PLANTS * BLOCKS
    scenarios = max(1, round(nonzeros / entries))
    probability = 1.0 / scenarios
    builder = Builder(f"two-stage-{scenarios}")
    running = rng.uniform(5.0, 100.0, PLANTS)
    build = rng.uniform(0.9, 1.1, PLANTS) * (450.0 - 3.5 * running)
    hours = np.linspace(8.0, 1.0, BLOCKS)
    built = builder.columns(PLANTS, cost=build, upper=rng.uniform(5.0, 40.0, PLANTS))
    cost = probability * running[:, None] * hours
    output = builder.columns(scenarios, PLANTS, BLOCKS, cost=cost)
    short = builder.columns(scenarios, BLOCKS, cost=probability * SHORT_COST * hours)
    available = 1.0 - 0.4 * rng.beta(1.0, 6.0, (scenarios, PLANTS))
    within = [Term(output), Term(built[None], -available)]
    builder.rows((scenarios, PLANTS), within, upper=0.0)
    growth = rng.lognormal(0.0, 0.15, (scenarios, 1))
    demand = np.linspace(40.0, 80.0, BLOCKS) * growth * rng.normal(1.0, 0.05, (scenarios, BLOCKS))
    served = [Term(output.transpose(0, 2, 1)), Term(short)]
    builder.rows((scenarios, BLOCKS), served, lower=demand)
    dirt = np.broadcast_to(np.where(running > 40.0, 0.5, 0.0)[:, None] + 0.05, (PLANTS, BLOCKS))
    limit = rng.uniform(0.9, 1.1, scenarios) * 0.35 * float(demand.sum()) / scenarios
    emitted = Term(output.reshape(scenarios, -1), (dirt * hours / hours.mean()).ravel())
    builder.rows((scenarios,), [emitted], upper=limit)
    builder.rows((1,), [Term(built[None], build)], upper=100.0 * float(build.mean()))
    return builder.finish()


def multi_stage(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return reservoirs along a river and thermal plants, on a tree of inflows.

    Each node of the tree has the columns of one month and is tied to its parent by what is left in
    the reservoirs (Pereira and Pinto, "Multi-stage stochastic optimization applied to energy
    planning", Math. Programming 52, 1991). Probabilities scale the costs down by the stage.
    """
    rng = np.random.default_rng(seed)
    entries = 6 * RESERVOIRS + RESERVOIRS + THERMAL + 1 + 4 * THERMAL
    nodes = max(1 + BRANCHES, round(nonzeros / entries))
    parent, stage = _tree(nodes)
    probability = (1.0 / BRANCHES) ** stage[:, None]
    leaf = ~np.isin(np.arange(nodes), parent[1:])
    builder = Builder(f"multi-stage-{nodes}-{stage[-1] + 1}")
    size = rng.lognormal(5.0, 0.6, RESERVOIRS)
    yields = rng.uniform(0.3, 1.0, RESERVOIRS)
    value = np.where(leaf[:, None], -20.0 * yields, 0.0)  # of water that is left at the end
    full = builder.columns(1, RESERVOIRS, lower=0.5 * size, upper=0.5 * size)
    volume = builder.columns(nodes, RESERVOIRS, cost=probability * value, upper=size)
    turbined = builder.columns(nodes, RESERVOIRS, upper=0.4 * size)
    spilled = builder.columns(nodes, RESERVOIRS, cost=0.01 * probability)
    running = np.linspace(20.0, 120.0, THERMAL)
    mean_inflow = 0.15 * size
    load = 1.4 * float((mean_inflow * yields).sum())
    thermal = builder.columns(nodes, THERMAL, cost=probability * running, upper=0.15 * load)
    short = builder.columns(nodes, cost=1_000.0 * probability[:, 0])
    season = 1.0 + 0.5 * np.sin(2 * np.pi * stage / YEAR)[:, None]
    inflow = season * mean_inflow * rng.lognormal(-0.08, 0.4, (nodes, RESERVOIRS))
    # what a reservoir lets go comes to the next one
    own, down = sp.identity(RESERVOIRS), sp.eye(RESERVOIRS, k=-1)
    river = sp.hstack([own, -own, own - down, own - down], format="csr")
    before = np.concatenate([full, volume[parent[1:]]])
    columns = np.concatenate([volume, before, turbined, spilled], axis=1)
    builder.blocks(river, columns, lower=inflow, upper=inflow)
    supply = [Term(turbined, yields), Term(thermal), Term(short)]
    demand = load * (1.0 + 0.1 * np.cos(2 * np.pi * stage / YEAR))
    builder.rows((nodes,), supply, lower=demand)
    for sign in (1.0, -1.0):
        change = [Term(thermal[1:], sign), Term(thermal[parent[1:]], -sign)]
        builder.rows((nodes - 1, THERMAL), change, upper=0.05 * load)
    return builder.finish()


def _tree(nodes: int) -> tuple[IntArray, IntArray]:
    """Return the parent (-1 for the root) and the stage of the nodes of a tree, by stage."""
    parent = (np.arange(nodes) - 1) // BRANCHES
    ends = np.cumsum(BRANCHES ** np.arange(1 + int(np.log(2 * nodes + 1) / np.log(BRANCHES)) + 1))
    return parent, np.searchsorted(ends, np.arange(nodes), side="right")
