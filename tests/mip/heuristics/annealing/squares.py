"""Numbers to be put in places so that some sums of places are as asked for."""

from __future__ import annotations

import numpy as np

from solvers.mip.model import MipModel
from tests.mip.inference.domain.models import model_of


def placing(size: int, sums: int, seed: int, cost: float = 0.0) -> MipModel:
    """Return a model with a binary for each place and number, and at least one solution.

    The column of place p and number v is ``size * p + v``; rows are places, numbers, sums.
    """
    rng = np.random.default_rng(seed)
    number = rng.choice(np.arange(1, 3 * size), size, replace=False)
    hidden = rng.permutation(size)
    by_place = np.kron(np.eye(size), np.ones(size))
    by_number = np.kron(np.ones(size), np.eye(size))
    rows, sides = [by_place, by_number], [np.ones(size), np.ones(size)]
    for _ in range(sums):
        places = rng.choice(size, max(3, size // 4), replace=False)
        chosen = np.zeros(size)
        chosen[places] = 1.0
        rows.append(np.kron(chosen, number)[None, :])
        sides.append(np.array([float(number[hidden[places]].sum())]))
    side = np.concatenate(sides)
    return model_of(
        np.full(size * size, cost),
        np.vstack(rows),
        side,
        side,
        lower=0.0,
        upper=1.0,
        integrality=True,
    )
