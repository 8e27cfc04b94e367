"""Diagonal scaling: A becomes R A C with entries near one in every row and column.

In this order: passes of Curtis and Reid (1972), which make the logarithms of the entries small in
the mean square, and tame badly scaled models; Ruiz passes (Ruiz 2001) by the root of the greatest
magnitude, rows and columns at once; and one pass by the root of the sum of magnitudes (Pock and
Chambolle 2011, alpha = 1), after which ``||A||_2 <= 1``. Each stage is worth it
(``docs/pdlp-constants.md``); passes by the geometric mean of each row's and column's extremes,
which others put first, took a tenth more iterations than those of Curtis and Reid.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.progress import Progress
from solvers.pdlp.kernels.matrix import LARGEST, MATRIX, TOTAL
from solvers.pdlp.settings import Settings
from solvers.sparse.slices import Slices


def prepared(name: str, *values: Any, threads: int = 0) -> Callable[[], None]:
    """Return a kernel of the matrix with its arguments, to be run again and again.

    On a GPU preparing a launch costs five times as much as the launch.
    """
    if any(isinstance(value, np.ndarray) for value in values):
        return functools.partial(MATRIX[name], *values, threads=threads)
    return MATRIX.bind(name, *values)


@dataclass(frozen=True, eq=False)
class Scaling:
    """Row scale R (m,) and column scale C (n,), all positive, on the device."""

    row: Any
    column: Any


def find_scaling(
    by_row: Slices,
    by_column: Slices,
    device: Device,
    settings: Settings,
    progress: Progress,
    threads: int = 0,
) -> Scaling:
    """Return the scaling of A, given as A and as A'.

    Empty rows and columns keep the scale 1. When time runs out, the passes left are left out.
    """
    row, next_row = (device.to_device(np.ones(by_row.rows)) for _ in range(2))
    column, next_column = (device.to_device(np.ones(by_column.rows)) for _ in range(2))

    def rescale(matrix: Slices, mode: int, own: Any, other: Any, scaled: Any) -> None:
        MATRIX["rescale"](*matrix.arguments, mode, own, other, scaled, threads=threads)

    balance_rows = prepared("balance", *by_row.arguments, column, row, threads=threads)
    balance_columns = prepared("balance", *by_column.arguments, row, column, threads=threads)
    for _ in range(settings.scaling.curtis_reid_passes):
        if progress.should_stop():
            break
        balance_rows()
        balance_columns()
    for mode in [LARGEST] * settings.scaling.ruiz_passes + [TOTAL]:
        if mode == LARGEST and progress.should_stop():
            continue
        rescale(by_row, mode, row, column, next_row)
        rescale(by_column, mode, column, row, next_column)
        row, next_row = next_row, row
        column, next_column = next_column, column
    return Scaling(row, column)
