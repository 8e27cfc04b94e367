"""Kernels of a matrix and vectors of its rows, on one device or shared out over several."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.pdlp.distributed.group import Replicated
from solvers.pdlp.distributed.matrix import SharedMatrix, slots_of
from solvers.pdlp.kernels.matrix import MATRIX
from solvers.pdlp.kernels.measure import SUMS
from solvers.sparse.slices import Slices

Matrix = Slices | SharedMatrix
"""A matrix by its rows, as a solve holds it."""


def partial_sums(matrix: Matrix, device: Device) -> Any:
    """Return memory (slots, 7) for the sums of a check over a matrix's rows, on the device."""
    if isinstance(matrix, SharedMatrix):
        return Replicated.of(matrix.group, np.zeros((matrix.devices * matrix.slots, SUMS)))
    return device.xp.zeros((slots_of(matrix), SUMS))


def prepared(name: str, matrix: Matrix, *values: Any, threads: int = 0) -> Callable[[], None]:
    """Return a kernel of a matrix with its other arguments, to be run again and again.

    On a GPU preparing a launch costs five times as much as the launch.
    """
    if isinstance(matrix, SharedMatrix):
        return matrix.prepared(MATRIX, name, values, threads)
    if any(isinstance(value, np.ndarray) for value in values):
        return functools.partial(MATRIX[name], *matrix.arguments, *values, threads=threads)
    return MATRIX.bind(name, *matrix.arguments, *values)


def of_rows(matrix: Matrix, values: FloatArray, device: Device) -> Any:
    """Bring figures of a matrix's rows (rows,), in their order there, to where the matrix is."""
    if isinstance(matrix, SharedMatrix):
        return matrix.of_rows(values)
    return device.to_device(values)


def gathered(matrix: Matrix, values: FloatArray, device: Device) -> Any:
    """Do the same for a vector that products of the transpose are going to read."""
    vector = of_rows(matrix, values, device)
    return vector.with_copies() if isinstance(matrix, SharedMatrix) else vector
