"""What walkers carry on a device: points, slacks, weights and records, and what makes them differ.

Scores, samples, tabu, smoothing and targets are drawn for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.mip.heuristics.local_search.gpu.kernels.walk import NONE, RECORD, Field
from solvers.mip.heuristics.local_search.gpu.layout import Layout

SAMPLED_ROWS = (1, 2, 4, 4, 8, 12)
"""Violated rows sampled in a step: few are fast, many choose well."""

FRACTIONS = (1e-4, 1e-4, 1e-4, 1e-3, 1e-2)
"""How far below the best point targets lie (staggered against creeping; near a good point what
lies far below it may not be feasible)."""

SMOOTHINGS = (0.0, 1e-4, 3e-4, 3e-4, 1e-3)
"""Probability of smoothing: Local-MIP has 3e-4 in its first version and none in its second."""

LEAST_TENURES = (3, 4)
"""Steps that a change lasts at least, in both versions of Local-MIP."""

TENURE_SPREADS = (6, 9)
"""How many more steps are drawn at random, likewise."""

BREAKTHROUGHS = (8, 16, 32)
PAIR_CHANCES = (0.25, 0.5, 1.0)

JUMP_SHARE = 2
"""One walker of so many takes the decrease of weighted violation for its score."""


def draw_parameters(records: np.ndarray, seed: int) -> None:
    """Draw the parameters of each walker into its record (W, RECORD)."""
    rng = np.random.default_rng([seed, 4])
    walkers = records.shape[0]
    for field, values in (
        (Field.ROWS, SAMPLED_ROWS),
        (Field.FRACTION, FRACTIONS),
        (Field.SMOOTHING, SMOOTHINGS),
        (Field.TENURE, LEAST_TENURES),
        (Field.SPREAD, TENURE_SPREADS),
        (Field.BREAKTHROUGHS, BREAKTHROUGHS),
        (Field.PAIRS, PAIR_CHANCES),
    ):
        records[:, field] = rng.choice(np.asarray(values, dtype=float), size=walkers)
    records[:, Field.JUMP] = np.arange(walkers) % JUMP_SHARE == JUMP_SHARE - 1


LIFT_PATIENCE = 1024
"""Objective columns looked at for a first lift; fewer where lifts are not found (walk.py)."""


@dataclass(frozen=True, eq=False)
class State:
    """State of W walkers.

    Parameters
    ----------
    walkers : int
    values : (W * n * 2,) real
        Value and stamp of each column of each walker.
    cells : (W * m * 2,) real
        Slack and weight of each row.
    place, violated : (W * m,) int32
        Place of a row in the list of violated rows, and that list.
    kept : (W * n,) real
        Columns of the best point.
    records : (W * RECORD,) float64
    """

    walkers: int
    values: Any
    cells: Any
    place: Any
    violated: Any
    kept: Any
    records: Any

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The kernels' arguments that stand for this state."""
        return (
            self.values,
            self.cells,
            self.place,
            self.violated,
            self.kept,
            self.records,
            self.walkers,
        )


def bytes_per_walker(layout: Layout) -> int:
    """Return the memory of one walker."""
    real = np.dtype(layout.real).itemsize
    return layout.columns * 3 * real + layout.rows * (2 * real + 8) + RECORD * 8


def touched_bytes(layout: Layout) -> int:
    """Return what of it a search reads all the time: values and cells."""
    return 2 * np.dtype(layout.real).itemsize * (layout.columns + layout.rows)


def make_state(layout: Layout, device: Device, walkers: int, seed: int) -> State:
    """Allocate the state of so many walkers, each with parameters of its own, without points."""
    xp = device.xp
    rows, columns = walkers * max(1, layout.rows), walkers * layout.columns
    return State(
        walkers=walkers,
        values=xp.zeros(2 * columns, dtype=layout.real),
        cells=xp.zeros(2 * rows, dtype=layout.real),
        place=xp.zeros(rows, dtype=np.int32),
        violated=xp.zeros(rows, dtype=np.int32),
        kept=xp.zeros(columns, dtype=layout.real),
        records=device.to_device(first_records(layout, walkers, seed).ravel()),
    )


def first_records(layout: Layout, walkers: int, seed: int) -> np.ndarray:
    """Return the records (W, RECORD) of walkers that have not walked yet."""
    records = np.zeros((walkers, RECORD))
    for field in (Field.TARGET, Field.LIMIT, Field.BEST):
        records[:, field] = NONE
    records[:, Field.LAST] = layout.columns
    records[:, Field.REFRESH] = 1.0
    records[:, Field.SCALE] = layout.scale
    records[:, Field.GRANULARITY] = layout.granularity
    records[:, Field.PATIENCE] = LIFT_PATIENCE
    draw_parameters(records, seed)
    # A jump's violations are not counted by rows: the objective has no say until there is a point.
    records[:, Field.OBJECTIVE_WEIGHT] = 1.0 - records[:, Field.JUMP]
    return records
