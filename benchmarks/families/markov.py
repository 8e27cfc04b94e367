"""Chains: the values of a Markov decision process, and the PageRank of a network."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.families.builder import Builder, Term
from benchmarks.linear_programs import LinearProgram

ACTIONS, SUCCESSORS = 4, 8
DISCOUNT = 0.99
FAR = 2
"""Successors that can be any state; the others are near by."""

LINKS = 6
DAMPING = 0.85


def markov_decisions(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return the values of the states: the least v with v >= r + discount P v for each action."""
    rng = np.random.default_rng(seed)
    states = max(10, round(nonzeros / (ACTIONS * (1 + SUCCESSORS))))
    shape = (states, ACTIONS)
    near = np.arange(states)[:, None, None] + rng.integers(-20, 21, (*shape, SUCCESSORS - FAR))
    far = rng.integers(0, states, (*shape, FAR))
    chances = rng.exponential(size=(*shape, SUCCESSORS))
    chances /= chances.sum(axis=2, keepdims=True)
    rewards = rng.uniform(0.0, 1.0, shape) * rng.uniform(0.5, 2.0, (states, 1))
    builder = Builder(f"markov-decisions-{states}")
    value = builder.columns(states, cost=1.0 / states, lower=-np.inf)
    after = value[np.concatenate([near % states, far], axis=2)]
    terms = [Term(value[:, None]), Term(after, -DISCOUNT * chances)]
    builder.rows(shape, terms, lower=rewards)
    return builder.finish()


def pagerank(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return the PageRank of a network in which few nodes get most links, as a system of rows.

    Without an objective, one row over all columns, as Applegate et al. put it ("Practical
    large-scale linear programming using primal-dual hybrid gradient", NeurIPS 2021).
    """
    rng = np.random.default_rng(seed)
    count = max(10, round(nonzeros / (LINKS + 2)))
    popular = rng.permutation(count)
    # the chance of a link falls with the square root of the rank, as when networks grow
    target = popular[(count * rng.random((count, LINKS)) ** 2).astype(np.int64)]
    source = np.repeat(np.arange(count), LINKS)
    entries = (np.full(source.size, -DAMPING / LINKS), (target.ravel(), source))
    links = sp.csr_matrix(entries, shape=(count, count))
    builder = Builder(f"pagerank-{count}")
    rank = builder.columns(count)
    own = sp.identity(count, format="csr")
    builder.blocks((own + links).tocsr(), rank[None], lower=(1.0 - DAMPING) / count)
    builder.rows((1,), [Term(rank[None])], lower=1.0, upper=1.0)
    return builder.finish()
