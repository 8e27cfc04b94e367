"""What LAPACK and cuSOLVER have in common: matrices by columns, and a report on their factors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.papers.dense_lu.factors import PIVOT_EPSILON, Factors, Library, check
from solvers.papers.dense_lu.kernels.inspect import INSPECT, parts

Getrf = Callable[[Any, Any], tuple[Any, Any]]
"""From columns, factorised in place, and memory that may be used or None, to the interchanges and
the memory used."""


@dataclass(frozen=True, eq=False)
class Inspection:
    """The kernels around a factorisation, with all their arguments but the matrix.

    On a GPU they are bound once: preparing a launch takes longer than launching, and what comes
    after the library's last kernel is waited for.
    """

    columns: Any
    report: Any
    take_in: Callable[[Any], None]
    weigh: Callable[[], None]
    conclude: Callable[[], None]


def factorise(
    matrix: Any, device: Device, reuse: Factors | None, library: Library, getrf: Getrf
) -> Factors:
    """Take a matrix in, factorise it, and judge its factors; the host waits once."""
    inspection, memory = (_inspection(matrix, device), None) if reuse is None else reuse.memory
    columns = inspection.columns
    inspection.take_in(matrix)
    interchanges, memory = getrf(columns, memory)
    inspection.weigh()
    inspection.conclude()
    norm = check(device.to_host(inspection.report))
    return Factors(device, library, columns, interchanges, norm, (inspection, memory))


def _inspection(matrix: Any, device: Device) -> Inspection:
    """Allocate what inspections of matrices of one size need; see ``kernels/inspect.py``."""
    n, xp = int(matrix.shape[0]), device.xp
    columns, report = xp.empty((n, n)), xp.empty((3, n))
    sums, weights = xp.empty((parts(n), n)), xp.empty((parts(n), n))
    take_in = (n, matrix, columns, sums)
    weigh = (n, columns, weights)
    conclude = (n, parts(n), PIVOT_EPSILON, columns, sums, weights, report)
    if device.kind == "cpu":
        return Inspection(
            columns,
            report,
            lambda given: INSPECT["take_in"](n, given, columns, sums),
            partial(INSPECT["weigh"], *weigh),
            partial(INSPECT["conclude"], *conclude),
        )
    bound = INSPECT.bind("take_in", *take_in)
    first, _, *others = bound.arguments
    bound = replace(bound, arguments=())  # not to keep the caller's matrix alive
    return Inspection(
        columns,
        report,
        lambda given: replace(bound, arguments=(first, given, *others))(),
        INSPECT.bind("weigh", *weigh),
        INSPECT.bind("conclude", *conclude),
    )


def order(interchanges: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Return the rows in the order that interchanges, counted from 0, bring them into."""
    rows = np.arange(interchanges.size, dtype=np.int32)
    for k, row in enumerate(interchanges.tolist()):
        rows[k], rows[row] = rows[row], rows[k]
    return rows
