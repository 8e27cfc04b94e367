"""Inputs for the step and measuring kernels: vectors with infinite bounds on any matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.kernels.declaration import Kernel
from solvers.pdlp.bounds import OTHERS, Coded
from solvers.pdlp.control import SIZE, Control
from solvers.pdlp.kernels.matrix import matrix_arguments
from tests.pdlp.matrices import Laid

POISON = -7.25
"""What output arrays hold before a kernel has written them."""


@dataclass
class Vectors:
    """One side of an iteration, (n,) or (m,), with ``low`` and ``high`` its bounds or sides.

    ``codes`` and ``pairs`` stand for some of them; the others are marked.
    """

    point: np.ndarray
    anchor: np.ndarray
    low: np.ndarray
    high: np.ndarray
    metric: np.ndarray
    codes: np.ndarray
    pairs: np.ndarray
    projection: np.ndarray
    difference: np.ndarray
    first_difference: np.ndarray

    @property
    def outputs(self) -> tuple[np.ndarray, ...]:
        return self.projection, self.difference, self.first_difference


@dataclass
class StepCase:
    """What an iteration and its check read and write, all on the host."""

    laid: Laid
    x: Vectors
    y: Vectors
    cost: np.ndarray
    reflected: np.ndarray
    control: np.ndarray

    @property
    def matrix(self) -> sp.csr_array:
        return self.laid.matrix

    def primal_arguments(self) -> tuple[Any, ...]:
        """The arguments of ``primal_step`` up to ``control``."""
        x = self.x
        return (
            *self.laid.by_column.arguments,
            self.y.point, x.point, x.anchor, self.cost, x.low, x.high, x.metric, x.codes, x.pairs,
            self.reflected, *x.outputs, self.control,
        )  # fmt: skip

    def dual_arguments(self) -> tuple[Any, ...]:
        """The arguments of ``dual_step`` up to ``control``."""
        y = self.y
        return (
            *self.laid.by_row.arguments,
            self.reflected, y.point, y.anchor, y.low, y.high, y.metric, y.codes, y.pairs,
            *y.outputs, self.control,
        )  # fmt: skip

    def staying_arguments(self, kernel: Kernel, count: int, blocks: int = 1) -> tuple[Any, ...]:
        """The arguments of a kernel that runs whole blocks."""
        n, m = self.x.point.size, self.y.point.size
        values: dict[str, Any] = {
            "x_reflected": self.reflected,
            "x_cost": self.cost,
            "control": self.control,
            "count": count,
            "blocks": blocks,
            "arrivals": np.zeros(1, dtype=np.int32),
            "tagged_reflected": np.zeros((n, 2)),
            "tagged_y": np.zeros((m, 2)),
        }
        matrices = (("column_", self.laid.by_column), ("row_", self.laid.by_row))
        for prefix, slices in matrices:
            names = [argument.name for argument in matrix_arguments(prefix)]
            values |= dict(zip(names, slices.arguments, strict=True))
        for prefix, side in (("x", self.x), ("y", self.y)):
            values |= {
                f"{prefix}_point": side.point,
                f"{prefix}_anchor": side.anchor,
                f"{prefix}_projection": side.projection,
                f"{prefix}_difference": side.difference,
                f"{prefix}_first_difference": side.first_difference,
                f"{prefix}_lower": side.low,
                f"{prefix}_upper": side.high,
                f"{prefix}_metric": side.metric,
                f"{prefix}_codes": side.codes,
                f"{prefix}_pairs": side.pairs,
            }
        return tuple(values[argument.name] for argument in kernel.arguments)

    def row_measure_arguments(self, partial: np.ndarray) -> tuple[Any, ...]:
        """The arguments of ``measure_rows``."""
        x, y = self.x, self.y
        return (
            *self.laid.by_row.arguments, *x.outputs, *y.outputs,
            y.anchor, y.low, y.high, y.metric, self.control, partial.shape[0], partial,
        )  # fmt: skip

    def column_measure_arguments(self, partial: np.ndarray) -> tuple[Any, ...]:
        """The arguments of ``measure_columns``."""
        x = self.x
        return (
            *self.laid.by_column.arguments, self.y.projection, *x.outputs,
            x.anchor, self.cost, x.low, x.high, x.metric, self.control, partial.shape[0], partial,
        )  # fmt: skip


def make_case(laid: Laid, seed: int, gamma: float = 1.0) -> StepCase:
    """Return random vectors: bounds finite, one-sided, absent and equal, all mixed."""
    generator = np.random.default_rng(seed)
    m, n = laid.matrix.shape
    control = np.zeros(SIZE)
    control[Control.TAU], control[Control.SIGMA] = 0.3, 0.7
    control[Control.REFLECTION], control[Control.ITERATIONS_SINCE_RESTART] = gamma, 5.0
    x, y = _vectors(generator, n), _vectors(generator, m)
    x.point = np.clip(x.point, x.low, x.high)
    return StepCase(laid, x, y, generator.standard_normal(n), np.full(n, POISON), control)


def make_measured_case(laid: Laid, seed: int) -> StepCase:
    """Return a case whose outputs are as a block leaves them: allowed signs, nothing poisoned."""
    case = make_case(laid, seed)
    generator = np.random.default_rng(seed + 1000)
    for side in (case.x, case.y):
        for output in side.outputs:
            output[...] = generator.standard_normal(output.size)
    case.x.projection[...] = np.clip(case.x.projection, case.x.low, case.x.high)
    y = case.y.projection
    y[~np.isfinite(case.y.low)] = np.minimum(y[~np.isfinite(case.y.low)], 0.0)
    y[~np.isfinite(case.y.high)] = np.maximum(y[~np.isfinite(case.y.high)], 0.0)
    return case


def _vectors(generator: np.random.Generator, size: int) -> Vectors:
    low, high = _bounds(generator, size)
    point, anchor = generator.standard_normal(size), generator.standard_normal(size)
    metric = generator.uniform(0.5, 2.0, size)
    coded = Coded.of(low, high)
    coded.codes[generator.random(size) < 0.3] = OTHERS
    outputs = (np.full(size, POISON) for _ in range(3))
    return Vectors(point, anchor, low, high, metric, coded.codes, coded.pairs, *outputs)


def _bounds(generator: np.random.Generator, size: int) -> tuple[Any, Any]:
    low = generator.uniform(-1.0, 0.5, size)
    high = low + generator.uniform(0.0, 2.0, size)
    kind = generator.integers(0, 5, size)
    high[kind == 0] = low[kind == 0]
    low[(kind == 1) | (kind == 3)] = -np.inf
    high[(kind == 2) | (kind == 3)] = np.inf
    return low, high
