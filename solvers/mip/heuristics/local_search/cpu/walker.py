"""One walker: a point that moves, in slices short enough for whoever calls to hear a stop.

It begins at clamped zeros, at bounds by the objective, at random or at perturbed points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.cpu.layout import (
    BALANCED,
    Kept,
    Origin,
    WalkerSettings,
    state_of,
    working_bounds,
)
from solvers.mip.model import MipModel, is_feasible
from solvers.native.mip_heuristics_local_search_cpu import aim_below, refresh, run_slice

RANDOM_RANGE = 100.0
"""Random values of a column stay within this distance of its bound (or zero) at which it would
start otherwise: domains are often far wider than what is sensible in them."""


def starting_point(
    model: MipModel, origin: Origin, x: FloatArray | None, rng: np.random.Generator
) -> FloatArray:
    """Return a point (n,) within bounds, integer columns whole.

    Where ``x`` is given, only its values that are not finite come from ``origin``.
    """
    if x is not None and np.isfinite(x).all():
        return model.rounded(x)
    zero = np.clip(np.zeros(model.num_columns), model.lower, model.upper)
    point = zero
    if origin == "objective":
        wanted = np.where(model.cost > 0.0, model.lower, model.upper)
        point = np.where((model.cost != 0.0) & np.isfinite(wanted), wanted, zero)
    elif origin == "random":
        point = _drawn(model, zero, rng)
    if x is not None:
        point = np.where(np.isfinite(x), x, point)
    return model.rounded(point)


def perturbed(
    model: MipModel, point: FloatArray, part: float, rng: np.random.Generator
) -> FloatArray:
    """Return the point with about ``part`` of its integer columns drawn anew, one at least."""
    columns = model.integers if model.integers.size else np.arange(model.num_columns)
    if columns.size == 0:
        return point
    chosen = columns[rng.random(columns.size) < part]
    if chosen.size == 0:
        chosen = columns[rng.integers(columns.size, size=1)]
    changed = point.copy()
    changed[chosen] = _drawn(model, point, rng)[chosen]
    return model.rounded(changed)


def _drawn(model: MipModel, x: FloatArray, rng: np.random.Generator) -> FloatArray:
    low = np.maximum(model.lower, x - RANDOM_RANGE)
    high = np.minimum(model.upper, x + RANDOM_RANGE)
    point: FloatArray = low + rng.random(model.num_columns) * (high - low)
    return point


FAILED_RECORDS = 3
"""Points that the check refused, in one slice, after which the slice is given up."""


@dataclass(frozen=True, eq=False)
class Report:
    """What one slice brought.

    Parameters
    ----------
    x : (n,) array or None
        A feasible point better than the cutoff and all before, if it found one; checked.
    objective : float
        Its objective with offset; inf without one.
    violated : int
        Fewest violated rows at any local minimum since the start.
    moves : int
        Changes of a column in this slice.
    work : int
        Entries visited in this slice.
    stale : bool
        Whether the walker's patience is over: no better point for many steps.
    done : bool
        Whether it found a point and there is no objective to improve.
    """

    x: FloatArray | None
    objective: float
    violated: int
    moves: int
    work: int
    stale: bool
    done: bool


class Walker:
    """A local search on the CPU that runs in the calling thread, without the interpreter lock.

    Parameters
    ----------
    model : MipModel
        Not changed; its matrix is shared by all walkers.
    settings : WalkerSettings
        How to search.
    seed : int
        The same seed, starts and slices give the same walk.
    """

    def __init__(self, model: MipModel, settings: WalkerSettings = BALANCED, seed: int = 0) -> None:
        self._model = model
        self._rng = np.random.default_rng(seed)
        self._state = state_of(model, settings, seed)
        self.settings = settings
        self.start()

    @property
    def settings(self) -> WalkerSettings:
        """How the walker searches; may be changed between slices."""
        return self._settings

    @settings.setter
    def settings(self, settings: WalkerSettings) -> None:
        self._settings = settings
        self._state.status["aim"] = settings.stagger

    @property
    def x(self) -> FloatArray:
        """The point (n,) where the walker stands."""
        return np.array(self._state.columns["x"])

    @property
    def activity(self) -> FloatArray:
        """The activities (m,) as the walker keeps them."""
        return np.array(self._state.rows["activity"])

    @property
    def num_violated(self) -> int:
        """Number of rows violated where the walker stands."""
        return int(self._state.status["num_violated"][0])

    @property
    def moves(self) -> int:
        """Changes of a column so far."""
        return int(self._state.status["moves"][0])

    @property
    def weights(self) -> FloatArray:
        """The heavier weight of each row's sides (m,): what was hard to satisfy ranks first."""
        rows = self._state.rows
        heavier: FloatArray = np.maximum(rows["lower_weight"], rows["upper_weight"])
        return heavier

    @property
    def least_violated(self) -> tuple[FloatArray, int]:
        """The point (n,) with the fewest violated rows at a local minimum, and their number."""
        if self._state.status["least_violated"][0] > self._model.num_rows:
            return self.x, self.num_violated
        return self._state.kept[Kept.LEAST].copy(), int(self._state.status["least_violated"][0])

    def start(
        self, x: FloatArray | None = None, *, weights: float = 0.0, perturbation: float = 0.0
    ) -> None:
        """Put the walker at a point, given or by the settings.

        Parameters
        ----------
        x : (n,) array, optional
            Moved within bounds and to integers; values that are not finite are filled in.
        weights : float
            Part of the weights that is kept: 0 starts afresh, 1 keeps them all.
        perturbation : float
            Part of the columns that get another value within their bounds.
        """
        point = starting_point(self._model, self._settings.origin, x, self._rng)
        if perturbation > 0.0:
            point = perturbed(self._model, point, perturbation, self._rng)
        state = self._state
        rows, columns, status = state.rows, state.columns, state.status
        columns["lower"], columns["upper"] = working_bounds(self._model, point)
        columns["x"] = point
        for mark in ("no_rise", "no_fall", "changed"):
            columns[mark] = 0
        first = np.where(rows["lower"] == rows["upper"], self._settings.equality_weight, 1.0)
        for side in ("lower_weight", "upper_weight"):
            rows[side] = np.maximum(first, np.floor(weights * rows[side]))
        kept = np.floor(weights * status["objective_weight"])
        status["objective_weight"] = np.maximum(self._settings.objective_weight, kept)
        status["step"] = 0
        status["improved"] = 0
        status["least_violated"] = self._model.num_rows + 1
        refresh(self._model, state)

    def run(self, work: int, cutoff: float = np.inf) -> Report:
        """Walk until so many entries were visited.

        Parameters
        ----------
        work : int
            Entries of the matrix; a million take some milliseconds.
        cutoff : float
            Objective (with offset) that a point has to beat.
        """
        state, status = self._state, self._state.status
        before_moves, before_work = self.moves, int(status["work"][0])
        limit = cutoff - self._model.offset
        if limit < status["best"][0]:
            aim_below(state, float(limit))
        x: FloatArray | None = None
        for _ in range(FAILED_RECORDS):
            left = int(before_work + work - status["work"][0])
            if left <= 0 or status["done"][0]:
                break
            status["found"] = 0
            best = float(status["best"][0])
            run_slice(self._model, state, self._settings, left)
            if status["found"][0]:
                x = self._checked()
            if not status["found"][0] or x is not None:
                break
            status["done"] = 0
            aim_below(state, best)
            refresh(self._model, state)
        steps = int(status["step"][0] - status["improved"][0])
        return Report(
            x=x,
            objective=np.inf if x is None else self._model.objective_at(x),
            violated=int(status["least_violated"][0]),
            moves=self.moves - before_moves,
            work=int(status["work"][0]) - before_work,
            stale=steps > self._settings.patience,
            done=bool(status["done"][0]),
        )

    def _checked(self) -> FloatArray | None:
        """Return a copy of the recorded point if it really is feasible."""
        point = self._model.rounded(self._state.kept[Kept.BEST])
        return point if is_feasible(self._model, point) else None
