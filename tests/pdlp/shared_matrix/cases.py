"""Kernel arguments with random contents, and problems that share a matrix."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.device import Device, cpu
from solvers.core.problem import Problem
from solvers.pdlp.shared_matrix.kernels.check import SUMS
from solvers.pdlp.shared_matrix.state import FIELDS, Field, Matrix, State, interleaved
from solvers.pdlp.state import Iterate

POISON = 1e300
"""What stands where nothing may be written."""


def with_infinities(generator: np.random.Generator, size: int, sign: float) -> np.ndarray:
    values = sign * generator.uniform(0.0, 2.0, size)
    values[generator.random(size) < 0.3] = sign * np.inf
    return values


def make_state(
    matrix: sp.csr_array, width: int, seed: int, stopped: tuple[int, ...], device: Device
) -> State:
    """Return a state in the middle of a solve; problems in ``stopped`` are not to change."""
    generator = np.random.default_rng(seed)
    m, n = matrix.shape
    csc = matrix.tocsc()
    to = device.to_device

    def side(size: int) -> Iterate:
        kept = [to(generator.standard_normal(size * width)) for _ in range(2)]
        return Iterate(*kept, *(to(np.full(size * width, POISON)) for _ in range(4)))

    vectors = {
        "cost": generator.standard_normal(n * width),
        "lower": with_infinities(generator, n * width, -1.0),
        "upper": with_infinities(generator, n * width, 1.0),
        "row_lower": with_infinities(generator, m * width, -1.0),
        "row_upper": with_infinities(generator, m * width, 1.0),
    }
    control = generator.uniform(0.1, 0.9, (FIELDS, width))
    control[Field.ITERATIONS_SINCE_RESTART] = generator.integers(0, 5, width)
    control[Field.STOP] = 0.0
    control[Field.STOP, list(stopped)] = 1.0
    control[Field.BEST_ERROR] = control[Field.BEST_IMBALANCE] = np.inf
    control[Field.CHECKS] = generator.integers(0, 3, width)
    by_row = Matrix.of(matrix.indptr, matrix.indices, matrix.data, width, device)
    by_column = Matrix.of(csc.indptr, csc.indices, csc.data, width, device)
    return State(
        width=width,
        by_row=by_row,
        by_column=by_column,
        vectors={name: to(values) for name, values in vectors.items()},
        column_metric=to(generator.uniform(0.1, 2.0, n)),
        row_metric=to(generator.uniform(0.1, 2.0, m)),
        x=side(n),
        y=side(m),
        reflected=to(np.full(n * width, POISON)),
        control=to(control),
        row_partial=to(np.zeros((max(1, min(7, by_row.units)), SUMS, width))),
        column_partial=to(np.zeros((max(1, min(7, by_column.units)), SUMS, width))),
    )


def arrays_of(state: State) -> dict[str, np.ndarray]:
    """Return copies of everything that kernels may write, by name, on the host."""
    found: dict[str, Any] = {"reflected": state.reflected, "control": state.control}
    for name, side in (("x", state.x), ("y", state.y)):
        for field in dataclasses.fields(Iterate):
            found[f"{name}.{field.name}"] = getattr(side, field.name)
    found |= {"row_partial": state.row_partial, "column_partial": state.column_partial}
    device = cpu()
    return {
        name: device.to_host(value if isinstance(value, np.ndarray) else value.get())
        for name, value in found.items()
    }


def variants(problem: Problem, count: int, seed: int) -> list[Problem]:
    """Return problems with the same matrix and other costs, bounds and sides."""
    generator = np.random.default_rng(seed)
    n, m = problem.num_columns, problem.num_rows
    return [
        dataclasses.replace(
            problem,
            cost=problem.cost * generator.uniform(0.5, 2.0, n),
            lower=np.maximum(problem.lower - generator.random(n), -10.0),
            upper=np.minimum(problem.upper + generator.random(n), 10.0),
            row_lower=problem.row_lower - generator.random(m),
            row_upper=problem.row_upper + generator.random(m),
        )
        for _ in range(count)
    ]


def stacked(problems: list[Problem]) -> dict[str, np.ndarray]:
    names = ("cost", "lower", "upper", "row_lower", "row_upper")
    return {name: np.stack([getattr(p, name) for p in problems]) for name in names}


__all__ = ["POISON", "arrays_of", "interleaved", "make_state", "stacked", "variants"]
