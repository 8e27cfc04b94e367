"""Ways to solve a model: a method, its options, a door and a device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpu_bridge.classify import KNAPSACKS, classify
from solvers.core.problem import Problem
from tests.campaign.doors import DOORS, Answers, fits

FIRST_ORDER_SECONDS = 10.0
"""Limit of a first-order method, which may need hours for a model of three columns."""

SEARCH_SECONDS = 20.0
"""Limit of a search over whole numbers where they reach so far that it need not end."""

FAR = 1e9
WORK = 0.002
"""Work of the heuristics where it is counted; a small model needs no more."""

ZERO_GAPS = {"rel_gap": 0.0, "abs_gap": 0.0}
LINEAR: tuple[dict[str, Any], ...] = (
    {},
    {"method": "highs"},
    {"method": "highs", "presolve": False},
    {"method": "highs", "lp_algorithm": "ipm"},
    {"method": "pdlp", "time_limit": FIRST_ORDER_SECONDS},
    {"method": "pdlp", "presolve": False, "time_limit": FIRST_ORDER_SECONDS},
    {"method": "simplex"},
    {"method": "simplex", "presolve": False},
    {"method": "simplex", "simplex_variant": "dense", "presolve": False},
)
MIXED: tuple[dict[str, Any], ...] = (
    {},
    ZERO_GAPS,
    {"presolve": False},
    {"method": "highs"},
    {"method": "highs", **ZERO_GAPS},
    {"method": "highs", "presolve": False},
    {"method": "mip", "deterministic": True, "work_limit": WORK},
    {"method": "mip", "deterministic": True, "work_limit": WORK, **ZERO_GAPS},
    {"method": "mip", "deterministic": True, "work_limit": WORK, "heuristics_only": True},
    {"deterministic": True, "work_limit": WORK, "presolve": False},
)
PACKED: tuple[dict[str, Any], ...] = (
    {"method": "knapsack"},
    {"method": "knapsack", **ZERO_GAPS},
    {"method": "knapsack", "deterministic": True},
)
ON_DEVICE = frozenset({"pdlp", "simplex", "mip", "auto"})
RARE = {"by_command": 0.004, "by_batch": 0.05, "by_list": 0.05}
"""How often the doors that take longest are drawn."""

Range = np.random.Generator


@dataclass(frozen=True)
class Way:
    """How a model is solved."""

    door: str = "by_arrays"
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        named = " ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.door} {named}".rstrip()

    @property
    def method(self) -> str:
        """The method asked for."""
        return str(self.options.get("method", "auto"))

    def solve(self, problem: Problem, folder: Path) -> Answers:
        """Solve a problem and return what is claimed of it, and of its variants in a batch."""
        return DOORS[self.door](problem, self.options, folder)


def draw_ways(problem: Problem, rng: Range, count: int, device: str) -> Iterator[Way]:
    """Draw some different ways that take the problem; the first is with default options."""
    choices = _option_sets(problem)
    first = int(rng.integers(3)) == 0
    order = rng.permutation(len(choices))[:count].tolist()
    if not first and 0 not in order:
        order[0] = 0
    for k in order:
        options = dict(choices[k])
        if device == "cpu" or options.get("method", "auto") in ON_DEVICE:
            options["device"] = device
        if rng.random() < 0.8:
            options["threads"] = 1
        if _reaches_far(problem):
            options.setdefault("time_limit", SEARCH_SECONDS)
        yield Way(_door(problem, rng), options)


def _option_sets(problem: Problem) -> tuple[dict[str, Any], ...]:
    if not problem.is_mip:
        return LINEAR
    return (*MIXED, *PACKED) if classify(problem).kind in KNAPSACKS else MIXED


def _reaches_far(problem: Problem) -> bool:
    """Whether a whole-number column may be large or free, or a number of its rows is."""
    if not problem.is_mip:
        return False
    whole = problem.integrality
    if np.any(whole & np.isinf(problem.lower) & np.isinf(problem.upper)):
        return True
    numbers = (problem.lower[whole], problem.upper[whole], problem.row_lower, problem.row_upper)
    largest = max(np.max(np.abs(part[np.isfinite(part)]), initial=0.0) for part in numbers)
    return bool(max(largest, np.max(np.abs(problem.matrix.data), initial=0.0)) > FAR)


def _door(problem: Problem, rng: Range) -> str:
    if rng.random() < 0.4:
        return "by_arrays"
    for door, share in RARE.items():
        if rng.random() < share and fits(door, problem):
            return door
    usual = [door for door in DOORS if door not in RARE and fits(door, problem)]
    return usual[int(rng.integers(len(usual)))]
