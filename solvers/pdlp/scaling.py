"""Diagonal scaling: A becomes R A C with entries near one in every row and column.

In this order: passes of Curtis and Reid (1972), which make the logarithms of the entries small in
the mean square, and tame badly scaled models, with a ridge that keeps a few tiny entries from
blowing up the scales of their rows and columns; Ruiz passes (Ruiz 2001) by the root of the greatest
magnitude, rows and columns at once; and one pass by the root of the sum of magnitudes (Pock and
Chambolle 2011, alpha = 1), after which ``||A||_2 <= 1``. Each stage is worth it
(``docs/pdlp-constants.md``); passes by the geometric mean of each row's and column's extremes,
which others put first, took a tenth more iterations than those of Curtis and Reid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.progress import Progress
from solvers.pdlp.kernels.matrix import LARGEST, TOTAL
from solvers.pdlp.products import Matrix, gathered, prepared
from solvers.pdlp.settings import Settings


@dataclass(frozen=True, eq=False)
class Scaling:
    """Row scale R (m,) and column scale C (n,), all positive, on the device."""

    row: Any
    column: Any


def find_scaling(
    by_row: Matrix,
    by_column: Matrix,
    device: Device,
    settings: Settings,
    progress: Progress,
    threads: int = 0,
) -> Scaling:
    """Return the scaling of A, given as A and as A'.

    Empty rows and columns keep the scale 1. When time runs out, the passes left are left out.
    """
    row, next_row = (gathered(by_row, np.ones(by_row.rows), device) for _ in range(2))
    column, next_column = (gathered(by_column, np.ones(by_column.rows), device) for _ in range(2))

    def rescale(matrix: Matrix, mode: int, own: Any, other: Any, scaled: Any) -> None:
        prepared("rescale", matrix, mode, own, other, scaled, threads=threads)()

    ridge = settings.scaling.curtis_reid_ridge
    balance_rows = prepared("balance", by_row, ridge, column, row, threads=threads)
    balance_columns = prepared("balance", by_column, ridge, row, column, threads=threads)
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
