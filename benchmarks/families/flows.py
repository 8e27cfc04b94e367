"""Flows in networks: many commodities on shared arcs, supply chains, and optimal transport."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from benchmarks.families.builder import Builder, Term
from benchmarks.families.networks import incidence, lengths_of, lines, places
from benchmarks.linear_programs import LinearProgram

LINES_PER_NODE = 3.0
DESTINATIONS = 3
EXTRA_COST = 20.0
"""Of capacity beyond what an arc has, in multiples of its length."""

SERVING = 4
"""Warehouses from which a customer may get his goods."""


def multicommodity_flow(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return half as many commodities as nodes, from one node to some others each.

    Every arc has a capacity row as long as there are commodities, all other rows are short. More
    capacity can be rented, so that there is a flow whatever the demands are.
    """
    rng = np.random.default_rng(seed)
    nodes = max(8, round(np.sqrt(nonzeros / (3 * LINES_PER_NODE))))
    commodities = nodes // 2
    points = places(rng, nodes)
    pairs = lines(points, LINES_PER_NODE)
    arcs = np.concatenate([pairs, pairs[:, ::-1]])
    lengths = lengths_of(points, arcs)
    ends = np.argsort(rng.random((commodities, nodes)), axis=1)[:, : 1 + DESTINATIONS]
    amounts = rng.lognormal(1.0, 1.0, (commodities, DESTINATIONS))
    demand = np.zeros((commodities, nodes))
    np.put_along_axis(demand, ends[:, 1:], amounts, axis=1)
    np.put_along_axis(demand, ends[:, :1], -amounts.sum(axis=1, keepdims=True), axis=1)
    # what every arc would carry if all went straight and each arc carried the same
    way = np.linalg.norm(points[ends[:, 1:]] - points[ends[:, :1]], axis=2)
    share = float((amounts * way).sum() / lengths.sum())
    builder = Builder(f"multicommodity-flow-{nodes}-{commodities}")
    flow = builder.columns(commodities, len(arcs), cost=lengths)
    extra = builder.columns(len(arcs), cost=EXTRA_COST * lengths)
    builder.blocks(incidence(arcs, nodes), flow, lower=demand, upper=demand)
    capacity = share * rng.choice([1.0, 2.0, 4.0], len(arcs))
    builder.rows((len(arcs),), [Term(flow.T), Term(extra, -1.0)], upper=capacity)
    return builder.finish()


def supply_chain(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return plants, warehouses and customers with many products over many periods.

    Capacities of plants, lorries and warehouses tie the products of a period, stocks its periods.
    """
    rng = np.random.default_rng(seed)
    customers = max(5, round(nonzeros ** (1 / 3)))
    warehouses, plants = max(2, customers // 10), max(2, customers // 30)
    serving = min(SERVING, warehouses)
    entries = 5 * plants * warehouses + (2 * serving + 1) * customers + 3 * (plants + warehouses)
    products = max(1, round(np.sqrt(nonzeros / entries)))
    periods = max(1, round(nonzeros / entries / products))
    shape = (periods, products)
    at = places(rng, plants + warehouses + customers)
    plant, warehouse, customer = np.split(at, [plants, plants + warehouses])
    served = np.reshape(cKDTree(warehouse).query(customer, serving)[1], (customers, serving))
    far = np.linalg.norm(plant[:, None] - warehouse[None], axis=2)
    near = np.linalg.norm(warehouse[served] - customer[:, None], axis=2)
    season = 1.0 + 0.4 * np.sin(2 * np.pi * np.arange(periods) / 12.0)[:, None, None]
    demand = season * rng.lognormal(2.0, 1.0, (products, customers))
    demand = demand * rng.uniform(0.7, 1.3, (*shape, customers))
    volume = rng.uniform(0.5, 3.0, (products, 1))
    builder = Builder(f"supply-chain-{customers}-{products}-{periods}")
    price = rng.uniform(5.0, 30.0, (products, plants))
    made = builder.columns(*shape, plants, cost=price)
    sent = builder.columns(*shape, plants, warehouses, cost=0.5 * far)
    stock = builder.columns(*shape, warehouses, cost=0.3 * volume)
    brought = builder.columns(*shape, customers, serving, cost=near)
    lost = builder.columns(*shape, customers, cost=200.0)
    overtime = builder.columns(periods, plants, cost=40.0)
    builder.rows((*shape, plants), [Term(made), Term(sent, -1.0)], lower=0.0, upper=0.0)
    leaving = sp.csr_matrix(
        (np.full(served.size, -1.0), (served.ravel(), np.arange(served.size))),
        shape=(warehouses, served.size),
    )
    arriving = sp.hstack([sp.identity(warehouses)] * plants)
    kept = sp.hstack([-sp.identity(warehouses), sp.identity(warehouses)])
    parts = (sent, stock, np.roll(stock, 1, axis=0), brought)
    columns = np.concatenate([part.reshape(periods * products, -1) for part in parts], axis=1)
    balance = sp.hstack([arriving, kept, leaving], format="csr")
    builder.blocks(balance, columns, lower=0.0, upper=0.0)
    builder.rows((*shape, customers), [Term(brought), Term(lost)], lower=demand, upper=demand)
    mean = float((demand * volume).sum()) / periods
    use = [Term(made.transpose(0, 2, 1), volume[:, 0]), Term(overtime, -1.0)]
    builder.rows((periods, plants), use, upper=0.9 * mean / plants)
    room = Term(stock.transpose(0, 2, 1), volume[:, 0])
    builder.rows((periods, warehouses), [room], upper=0.5 * mean / warehouses)
    lorries = Term(sent.transpose(0, 2, 3, 1), volume[:, 0])
    limit = 2.0 * mean / (plants * warehouses)
    builder.rows((periods, plants, warehouses), [lorries], upper=limit)
    return builder.finish()


def optimal_transport(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return the transport between two clouds of equally many points, by squared distances.

    Every column has two entries, every row as many as a cloud has points.
    """
    rng = np.random.default_rng(seed)
    count = max(2, round(np.sqrt(nonzeros / 2)))
    first, second = rng.random((count, 2)), 0.2 + 0.6 * rng.random((count, 2))
    weights = rng.lognormal(0.0, 0.5, (2, count))
    weights /= weights.sum(axis=1, keepdims=True)
    distance = ((first[:, None] - second[None]) ** 2).sum(axis=2)
    builder = Builder(f"optimal-transport-{count}")
    plan = builder.columns(count, count, cost=distance)
    for axes, side in ((plan, weights[0]), (plan.T, weights[1])):
        builder.rows((count,), [Term(axes)], lower=side, upper=side)
    return builder.finish()
