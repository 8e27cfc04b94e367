"""PDLP in one file, for experiments: every constant and rule is a field of :class:`Recipe`.

A plain copy of the method in ``solvers.pdlp`` that counts iterations, which the engine's own
kernels make on the CPU. What proves itself here (``python -m benchmarks.pdlp_constants``) goes into
the engine.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import FloatArray, Problem, side_sizes
from solvers.pdlp.control import SIZE, Control
from solvers.pdlp.kernels.step import KEEP_LAST, STEP
from solvers.sparse.shape import CPU_PLAN
from solvers.sparse.slices import Packed, Slices, in_slices


@dataclass(frozen=True)
class Recipe:
    """What can be varied; the defaults are those of cuPDLPx with passes of geometric scaling."""

    scaling: str = "geometric"
    """First stage: 'geometric', 'curtis-reid' or 'none'."""
    geometric_passes: int = 12
    curtis_reid_passes: int = 20
    curtis_reid_ridge: float = 0.0
    ruiz_passes: int = 10
    pock_chambolle: float = 1.0
    """Exponent of the last stage; 0 leaves it out."""
    check_interval: int = 200
    sufficient: float = 0.2
    necessary: float = 0.5
    artificial: float = 0.36
    standstill: float = math.inf
    """Part of the metric at half the iterations, above which there is a restart (engine: 0.9)"""
    standstill_share: float = 0.05
    """after this part of all iterations."""
    first_check_restarts: bool = True
    reflection: float = 1.0
    weight_rule: str = "pid"
    """'pid' or 'hpr', which mixes the movement's ratio with the best weight by the gap."""
    proportional: float = 0.99
    integral: float = 0.01
    derivative: float = 0.0
    integral_memory: float = 0.3
    first_weight: str = "norms"
    """'norms' or 'one'."""
    largest_imbalance: float = 1e8
    balance: float = 0.0
    """Part of log(relative primal / relative dual) that is added to the controller's error."""


@dataclass(frozen=True)
class Run:
    """Iterations to each tolerance (the cap where it was not reached) and the seconds spent."""

    iterations: dict[float, int]
    solved: dict[float, bool]
    seconds: float
    restarts: int


class Lab:
    """One model, scaled by a recipe.

    Residuals are measured against the norms of ``reference``, the model before its reduction.
    """

    def __init__(self, problem: Problem, recipe: Recipe, reference: Problem | None = None) -> None:
        self.problem, self.recipe = problem, recipe
        whole = problem if reference is None else reference
        A = problem.matrix
        row, column = find_scaling(A, recipe)
        self.row, self.column = row, column
        scaled = A.copy()
        scaled.data = A.data * np.repeat(row, np.diff(A.indptr)) * column[A.indices]
        self.A, self.At = scaled, scaled.T.tocsr()
        self.by_row, self.by_column = _laid_out(self.A), _laid_out(self.At)
        self.cost = problem.cost * column
        self.lower, self.upper = problem.lower / column, problem.upper / column
        self.row_lower, self.row_upper = problem.row_lower * row, problem.row_upper * row
        self.side_norm = float(np.linalg.norm(side_sizes(whole.row_lower, whole.row_upper)))
        self.cost_norm = float(np.linalg.norm(whole.cost))
        self.norm = spectral_norm(self.A, self.At)

    def solve(self, tolerances: tuple[float, ...], cap: int, seconds: float = math.inf) -> Run:
        """Iterate to the tightest tolerance or the cap."""
        began = time.perf_counter()
        r = self.recipe
        n, m = self.cost.size, self.row_lower.size
        x = np.clip(np.zeros(n), self.lower, self.upper)
        y = np.zeros(m)
        x0, y0 = x.copy(), y.copy()
        xh, yh, xb = x.copy(), y.copy(), x.copy()
        dx, dy = np.zeros(n), np.zeros(m)
        control = np.zeros(SIZE)
        control[Control.REFLECTION] = r.reflection
        none = (np.zeros(0, dtype=np.uint8), np.zeros((0, 2)))
        x_half = (
            *self.by_column.arguments, y, x, x0, self.cost, self.lower, self.upper, np.ones(n),
            *none, xb, xh, dx, np.zeros(n), control,
        )  # fmt: skip
        y_half = (
            *self.by_row.arguments, xb, y, y0, self.row_lower, self.row_upper, np.ones(m),
            *none, yh, dy, np.zeros(m), control,
        )  # fmt: skip
        weight = self._first_weight()
        controller = Controller(weight)
        k = total = checks = restarts = 0
        first = previous = mark = math.inf
        marked = 0
        found: dict[float, int] = {}
        while total < cap and time.perf_counter() - began < seconds:
            eta = 0.998 / self.norm
            for count in (1, r.check_interval - 1) if k == 0 else (r.check_interval,):
                control[Control.TAU], control[Control.SIGMA] = eta / weight, eta * weight
                control[Control.ITERATIONS_SINCE_RESTART] = k
                STEP.twin.steps_fast(0, count - 1, *x_half, *y_half, 1)
                STEP.twin.primal_step(*x_half, count - 1, KEEP_LAST, 1)
                STEP.twin.dual_step(*y_half, count - 1, KEEP_LAST, 1)
                k += count
                total += count
                now_squared = self._metric(dx, dy, weight, eta)
                if k == 1:
                    first, previous = math.sqrt(max(now_squared, 0.0)), math.inf
            now = math.sqrt(max(now_squared, 0.0))
            if now_squared < 0.0:
                self.norm *= 1.05
            checks += 1
            primal, dual, gap = self._errors(xh, yh)
            for tolerance in tolerances:
                if tolerance not in found and max(primal, dual, gap) <= tolerance:
                    found[tolerance] = total
            if len(found) == len(tolerances) or not math.isfinite(primal + dual + gap):
                break
            if k <= r.check_interval:
                still, marked, mark = False, k, now
            elif still := k >= 2 * marked:
                still = now > r.standstill * mark and k >= r.standstill_share * total
                marked, mark = k, now
            controller.note(primal, dual, gap, r)
            if (
                (checks == 1 and r.first_check_restarts)
                or still
                or now <= r.sufficient * first
                or (now <= r.necessary * first and now > previous)
                or k >= r.artificial * total
            ):
                moved_x = float(np.linalg.norm(xh - x0))
                moved_y = float(np.linalg.norm(yh - y0))
                weight = controller.next(moved_x, moved_y, primal, dual, gap, r)
                x[:], x0[:], y[:], y0[:] = xh, xh, yh, yh
                k = 0
                restarts += 1
            previous = now
        return Run(
            {t: found.get(t, cap) for t in tolerances},
            {t: t in found for t in tolerances},
            time.perf_counter() - began,
            restarts,
        )

    def _first_weight(self) -> float:
        if self.recipe.first_weight == "one":
            return 1.0
        high = np.where(self.row_lower == self.row_upper, 0.0, self.row_upper)
        sides = np.concatenate([self.row_lower, high])
        size = float(np.linalg.norm(sides[np.isfinite(sides)]))
        return (1.0 + float(np.linalg.norm(self.cost))) / (1.0 + size)

    def _metric(self, dx: FloatArray, dy: FloatArray, weight: float, eta: float) -> float:
        cross = float(dy @ (self.A @ dx))
        return float(weight * (dx @ dx) + (dy @ dy) / weight + 2.0 * eta * cross)

    def _errors(self, xh: FloatArray, yh: FloatArray) -> tuple[float, float, float]:
        p = self.problem
        x, y = xh * self.column, yh * self.row
        activity = p.matrix @ x
        primal = np.linalg.norm(activity - np.clip(activity, p.row_lower, p.row_upper))
        z = p.cost - (self.At @ yh) / self.column
        side = np.where(z > 0, p.lower, p.upper)
        held = np.isfinite(side)
        dual = np.linalg.norm(z[~held])
        leaning = y != 0
        below = np.where(y > 0, p.row_lower, p.row_upper)
        low = float(y[leaning] @ below[leaning]) + float(z[held] @ side[held])
        high = float(p.cost @ x)
        return (
            float(primal) / (1.0 + self.side_norm),
            float(dual) / (1.0 + self.cost_norm),
            abs(high - low) / (1.0 + abs(high + p.offset) + abs(low + p.offset)),
        )


def _laid_out(matrix: sp.csr_array) -> Slices:
    rows = SparseRows.of(matrix)
    none = np.zeros(0, dtype=np.int32)
    return in_slices(rows, CPU_PLAN, none, none, Packed())


class Controller:
    """The primal weight."""

    def __init__(self, weight: float) -> None:
        self.value = self.best = weight
        self.best_imbalance = self.best_gap = math.inf
        self.sum = self.last = 0.0

    def note(self, primal: float, dual: float, gap: float, r: Recipe) -> None:
        """Remember the weight that balanced the residuals best, or gave the least error."""
        if r.weight_rule == "hpr":
            error = max(primal, dual, gap)
            if error < self.best_gap:
                self.best_gap, self.best = error, self.value
            return
        imbalance = _imbalance(primal, dual)
        if imbalance is not None and imbalance < self.best_imbalance:
            self.best, self.best_imbalance = self.value, imbalance

    def next(
        self, dx: float, dy: float, primal: float, dual: float, gap: float, r: Recipe
    ) -> float:
        """Return the weight of the next epoch."""
        telling = 1e-16 < dx < 1e12 and 1e-16 < dy < 1e12
        imbalance = _imbalance(primal, dual)
        if imbalance is not None and imbalance > math.log10(r.largest_imbalance):
            telling = False
        if not telling:
            self.value, self.sum, self.last = self.best, 0.0, 0.0
            return self.value
        if r.weight_rule == "hpr":
            share = math.exp(-0.05 * max(primal, dual, gap) / max(self.best_gap, 1e-300))
            self.value = math.exp(share * math.log(dy / dx) + (1.0 - share) * math.log(self.best))
            return self.value
        error = math.log(dy / dx) - math.log(self.value)
        if r.balance and imbalance is not None:
            error += r.balance * math.log(primal / dual)
        self.sum = r.integral_memory * self.sum + error
        change = r.proportional * error + r.integral * self.sum
        change += r.derivative * (error - self.last)
        self.last = error
        self.value *= math.exp(change)
        return self.value


def _imbalance(primal: float, dual: float) -> float | None:
    if primal <= 0.0 or dual <= 0.0:
        return None
    return abs(math.log10(dual / primal))


def find_scaling(A: Any, recipe: Recipe) -> tuple[FloatArray, FloatArray]:
    """Return row and column scale of a matrix."""
    m, n = A.shape
    row, column = np.ones(m), np.ones(n)
    magnitude = abs(A).tocoo()
    i, j, v = magnitude.row, magnitude.col, magnitude.data
    if recipe.scaling == "curtis-reid":
        row, column = curtis_reid(i, j, v, m, n, recipe)
    elif recipe.scaling == "geometric":
        for _ in range(recipe.geometric_passes):
            row *= _inverse_root(_extremes(i, v * row[i] * column[j], m))
            column *= _inverse_root(_extremes(j, v * row[i] * column[j], n))
    for _ in range(recipe.ruiz_passes):
        w = v * row[i] * column[j]
        of_rows, of_columns = _largest(i, w, m), _largest(j, w, n)
        row *= _inverse_root(of_rows)
        column *= _inverse_root(of_columns)
    if recipe.pock_chambolle:
        w = v * row[i] * column[j]
        alpha = recipe.pock_chambolle
        of_rows = np.asarray(np.bincount(i, w ** (2.0 - alpha), m), dtype=np.float64)
        of_columns = np.asarray(np.bincount(j, w**alpha, n), dtype=np.float64)
        row *= _inverse_root(of_rows)
        column *= _inverse_root(of_columns)
    return row, column


def curtis_reid(
    i: Any, j: Any, v: Any, m: int, n: int, recipe: Recipe
) -> tuple[FloatArray, FloatArray]:
    """Least squares of log|a_ij| + r_i + c_j, with a ridge on r and c, by alternations."""
    logs = np.log(v)
    weight = 1.0 + recipe.curtis_reid_ridge
    rows = weight * np.maximum(np.bincount(i, minlength=m), 1)
    columns = weight * np.maximum(np.bincount(j, minlength=n), 1)
    r, c = np.zeros(m), np.zeros(n)
    for _ in range(recipe.curtis_reid_passes):
        r = -np.bincount(i, logs + c[j], m) / rows
        c = -np.bincount(j, logs + r[i], n) / columns
    return np.exp(r), np.exp(c)


def _largest(owner: Any, w: FloatArray, size: int) -> FloatArray:
    found = np.zeros(size)
    np.maximum.at(found, owner, w)
    return found


def _extremes(owner: Any, w: FloatArray, size: int) -> FloatArray:
    smallest = np.full(size, np.inf)
    np.minimum.at(smallest, owner, w)
    largest = _largest(owner, w, size)
    return np.where(largest > 0, np.where(largest > 0, smallest, 0.0) * largest, 0.0)


def _inverse_root(sizes: FloatArray) -> FloatArray:
    usable = (sizes > 0) & np.isfinite(sizes)
    return 1.0 / np.sqrt(np.where(usable, sizes, 1.0))


def spectral_norm(A: Any, At: Any, iterations: int = 100) -> float:
    """Return ||A||, or 1, which the scaling guarantees, if that many products do not settle it."""
    q = np.random.default_rng(0).standard_normal(A.shape[0])
    q /= np.linalg.norm(q)
    for count in range(1, iterations + 1):
        image = A @ (At @ q)
        if count % 10 == 0:
            value = float(q @ image)
            if np.linalg.norm(image - value * q) < 1e-4 * min(1.0, value):
                return math.sqrt(value)
        q = image / np.linalg.norm(image)
    return 1.0


def variant(name: str, **changes: Any) -> tuple[str, Recipe]:
    """Return a named recipe that differs from the default."""
    return name, replace(Recipe(), **changes)
