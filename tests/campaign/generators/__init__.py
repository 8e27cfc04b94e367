"""Random models with seeds: the same kind and seed always make the same model."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable

import numpy as np

from solvers.core.problem import Problem
from tests.campaign.generators.hostile import HOSTILE
from tests.campaign.generators.knapsacks import KNAPSACKS
from tests.campaign.generators.linear import LINEAR
from tests.campaign.generators.mixed import MIXED
from tests.campaign.generators.scaled import SCALED

Generator = Callable[[np.random.Generator], Problem]

KINDS: dict[str, Generator] = {
    make.__name__: make for make in (*LINEAR, *MIXED, *KNAPSACKS, *SCALED, *HOSTILE)
}


def make_model(kind: str, seed: int) -> Problem:
    """Return the model of a kind and a seed."""
    rng = np.random.default_rng([zlib.crc32(kind.encode()), seed])
    return KINDS[kind](rng)


def chosen_kinds(names: Iterable[str]) -> list[str]:
    """Return the kinds that names or beginnings of names stand for, all without any.

    Raises
    ------
    ValueError
        No kind begins like that.
    """
    wanted = list(names)
    for name in wanted:
        if not any(kind.startswith(name) for kind in KINDS):
            raise ValueError(f"There is no kind '{name}'; there are: {', '.join(KINDS)}.")
    return [kind for kind in KINDS if not wanted or kind.startswith(tuple(wanted))]
