"""Families of linear programs that people solve, of any size and by a seed.

    python -m benchmarks.families energy --nonzeros 1e6 --method auto --tolerance 1e-4

``FAMILIES`` has a maker for each: called with a number of nonzeros, which it comes near to, and a
seed, it returns the same program every time. All are feasible and have an optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.families.blocks import block_angular, staircase
from benchmarks.families.commitment import unit_commitment
from benchmarks.families.design import truss
from benchmarks.families.energy import energy
from benchmarks.families.flows import multicommodity_flow, optimal_transport, supply_chain
from benchmarks.families.markov import markov_decisions, pagerank
from benchmarks.families.regression import quantile_regression, sparse_regression
from benchmarks.families.stochastic import multi_stage, two_stage
from benchmarks.linear_programs import LinearProgram


@dataclass(frozen=True)
class Family:
    """A maker of programs, and in a few words what they are."""

    make: Callable[[int, int], LinearProgram]
    words: str


FAMILIES = {
    "energy": Family(energy, "expansion of an energy system, hourly, with storage and lines"),
    "unit-commitment": Family(unit_commitment, "relaxed: which plants run in which hour"),
    "multicommodity-flow": Family(multicommodity_flow, "commodities on arcs that they share"),
    "supply-chain": Family(supply_chain, "plants, warehouses, customers over many periods"),
    "two-stage": Family(two_stage, "capacities before, operation after demands are known"),
    "multi-stage": Family(multi_stage, "reservoirs on a tree of inflows"),
    "optimal-transport": Family(optimal_transport, "from points to points, dense"),
    "markov-decisions": Family(markov_decisions, "values of states under the best actions"),
    "pagerank": Family(pagerank, "a system without an objective"),
    "quantile-regression": Family(quantile_regression, "dense data, free weights"),
    "sparse-regression": Family(sparse_regression, "absolute errors and a penalty on weights"),
    "truss": Family(truss, "the lightest structure under several loads"),
    "block-angular": Family(block_angular, "blocks, ten rows and five columns through all"),
    "staircase": Family(staircase, "an economy that invests, period by period"),
}
