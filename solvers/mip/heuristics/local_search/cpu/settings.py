"""Constants of the walkers and what may be chosen for each: how wide, how bold, from where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

Scoring = Literal["local", "jump"]
Origin = Literal["zero", "objective", "random"]

VIOLATION_TOLERANCE = 5e-7
"""Violation above which a row counts as violated: half the model's, which leaves room for the
rounding of activities that are kept up to date and not summed anew."""

SMOOTHING = 3e-4
"""Chance to lower the weights of satisfied rows instead of raising those of violated ones at a
local minimum; Lin, Zou and Cai, CP 2024."""

INTEGER_BOX = 1e6
"""Free integers start out within this distance of their finite bound or zero; the box widens
whenever a move hits it."""

CONTINUOUS_BOX = 1e9
"""Free continuous columns stay within this distance: beyond, activities are no longer exact to a
millionth, and walks on unbounded flows would drift there."""

STAGGER = (1e-4, 1e-3, 1e-2, 5e-2)
"""How far below the best objective walkers aim, relative to it."""


class Parameters(NamedTuple):
    """What the loops read of the settings; plain numbers."""

    jump: int
    rows: int
    breadth: int
    scan: int
    satisfied_rows: int
    breakthroughs: int
    lift_work: int
    tabu_base: int
    tabu_spread: int
    smoothing: float
    equality_weight: float
    chain_trials: int
    chain_depth: int
    chain_breadth: int


@dataclass(frozen=True)
class WalkerSettings:
    """How one walker searches.

    Parameters
    ----------
    scoring : str
        ``local``: progress and bonus of Local-MIP, by the number of rows won and lost; ``jump``:
        the weighted violation of Feasibility Jump, with its jump values.
    rows : int
        Violated rows sampled in a step.
    breadth : int
        Candidates scored for each of these rows, at most.
    scan : int
        Entries of a row looked at for them, at most.
    satisfied_rows : int
        Satisfied rows sampled in a step where violated rows gave nothing.
    breakthroughs : int
        Columns with a cost tried in a step towards the objective target.
    lift_work : int
        Entries looked at for an improving move that keeps all rows, at most.
    tabu_base, tabu_spread : int
        A move may not be reversed for ``tabu_base + random(tabu_spread)`` steps.
    smoothing : float
        See :data:`SMOOTHING`.
    objective_weight : float
        Weight of the objective at the start.
    equality_weight : float
        First weight, and its rise, of a row with equal sides.
    chain_trials, chain_depth, chain_breadth : int
        Chains of moves tried at a local minimum, their longest, and candidates for each link.
    patience : int
        Steps without a better point after which the walker asks for a restart.
    stagger : float
        How far below the best objective the walker aims, relative to it.
    origin : str
        Start where none is given: zero, bounds by the objective, or random; within bounds.
    """

    scoring: Scoring = "local"
    rows: int = 3
    breadth: int = 24
    scan: int = 400
    satisfied_rows: int = 1
    breakthroughs: int = 8
    lift_work: int = 20_000
    tabu_base: int = 3
    tabu_spread: int = 10
    smoothing: float = SMOOTHING
    objective_weight: float = 1.0
    equality_weight: float = 1.0
    chain_trials: int = 2
    chain_depth: int = 4
    chain_breadth: int = 24
    patience: int = 200_000
    stagger: float = STAGGER[0]
    origin: Origin = "zero"

    @property
    def parameters(self) -> Parameters:
        """The numbers for the loops."""
        return Parameters(
            jump=int(self.scoring == "jump"),
            rows=int(self.rows),
            breadth=int(self.breadth),
            scan=int(self.scan),
            satisfied_rows=int(self.satisfied_rows),
            breakthroughs=int(self.breakthroughs),
            lift_work=int(self.lift_work),
            tabu_base=int(self.tabu_base),
            tabu_spread=int(self.tabu_spread),
            smoothing=float(self.smoothing),
            equality_weight=float(self.equality_weight),
            chain_trials=int(self.chain_trials),
            chain_depth=int(self.chain_depth),
            chain_breadth=int(self.chain_breadth),
        )


FAST = WalkerSettings(rows=1, breadth=16, scan=64, satisfied_rows=0, breakthroughs=2)
"""One violated row a step: most moves in a second, for plateaus that want depth."""

BALANCED = WalkerSettings()
"""A few rows a step."""

V1 = WalkerSettings(rows=12, breadth=160, scan=2000, satisfied_rows=20, breakthroughs=20)
"""The sampling of Local-MIP's first version: wide, slow, greedy."""

V2 = WalkerSettings(
    rows=10, breadth=225, scan=2250, satisfied_rows=1, breakthroughs=20,
    tabu_base=4, tabu_spread=7, smoothing=0.0, equality_weight=2.0, patience=1_000_000,
)  # fmt: skip
"""The sampling of its second version: weights only rise, equations count twice."""

JUMP = WalkerSettings(
    scoring="jump", rows=4, breadth=24, satisfied_rows=0, smoothing=0.0, objective_weight=0.0
)
"""Feasibility Jump: weighted violation, the objective only once there is a point to beat."""

PRESETS = {"fast": FAST, "balanced": BALANCED, "v1": V1, "v2": V2, "jump": JUMP}
"""Settings by name."""


def drawn(base: WalkerSettings, rng: np.random.Generator) -> WalkerSettings:
    """Return settings near ``base``, so that walkers side by side differ."""
    return replace(
        base,
        rows=max(1, round(base.rows * float(rng.choice((0.5, 1.0, 1.0, 2.0))))),
        tabu_base=int(base.tabu_base + rng.integers(0, 3)),
        tabu_spread=int(base.tabu_spread + rng.integers(0, 6)),
        stagger=float(rng.choice(STAGGER)),
    )
