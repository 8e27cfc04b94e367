"""The step size, from the spectral norm of the scaled matrix by power iteration on A A'.

The last stage of scaling bounds the norm by 1, and on presolved Netlib models it is 0.97 in the
median: knowing it exactly saves 2 % of the iterations. So few power iterations are spent, and
the bound is taken where they do not settle the matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.device import Device
from solvers.pdlp.kernels.matrix import MATRIX
from solvers.pdlp.matrix import CompressedRows
from solvers.pdlp.settings import Settings
from solvers.progress import Progress

NORM_AFTER_SCALING = 1.0
"""Upper bound on ||A||_2 after the last stage of scaling."""


def spectral_norm(
    by_row: CompressedRows,
    by_column: CompressedRows,
    device: Device,
    settings: Settings,
    progress: Progress,
    seed: int = 0,
    threads: int = 0,
) -> float:
    """Return ||A||_2 of a scaled matrix, given as A and as A', or a bound on it.

    The norm counts as known at ``||A A'q - lambda q|| < tolerance * min(1, lambda)``. When
    iterations or time run out first, the bound that the scaling guarantees is returned.
    """
    xp = device.xp
    generator = np.random.default_rng(seed)
    q = device.to_device(generator.standard_normal(by_row.rows))
    q /= _norm(q, xp)
    by_columns, image = xp.empty(by_column.rows), xp.empty(by_row.rows)
    for count in range(1, settings.power_iterations + 1):
        MATRIX["multiply"](*by_column.arguments, q, by_columns, threads=threads)
        MATRIX["multiply"](*by_row.arguments, by_columns, image, threads=threads)
        if count % settings.power_check == 0:
            if progress.should_stop():
                return NORM_AFTER_SCALING
            eigenvalue = float((q * image).sum())
            residual = float(_norm(image - eigenvalue * q, xp))
            if residual < settings.power_tolerance * min(1.0, eigenvalue):
                return float(np.sqrt(eigenvalue))
        q, image = image / _norm(image, xp), q
    return NORM_AFTER_SCALING


def _norm(vector: Any, xp: Any) -> Any:
    """Return the 2-norm, without the linear algebra library that ``linalg.norm`` would load."""
    return xp.sqrt((vector * vector).sum())
