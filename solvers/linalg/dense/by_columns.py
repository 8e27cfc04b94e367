"""What LAPACK and cuSOLVER have in common: matrices by columns, and a report on their factors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.device import Device
from solvers.linalg.dense.factors import PIVOT_EPSILON, Factors, Library, check
from solvers.linalg.dense.kernels.inspect import INSPECT, parts

Getrf = Callable[[Any, Any], tuple[Any, Any]]
"""From columns, factorised in place, and memory that may be used or None, to the interchanges and
the memory used."""


@dataclass(frozen=True, eq=False)
class Space:
    """Where the report is made: see ``kernels/inspect.py``."""

    sums: Any
    weights: Any
    report: Any


def factorise(
    matrix: Any, device: Device, reuse: Factors | None, library: Library, getrf: Getrf
) -> Factors:
    """Take a matrix in, factorise it, and judge its factors; the host waits once."""
    n = int(matrix.shape[0])
    xp = device.xp
    if reuse is None:
        shape = (parts(n), n)
        columns, memory = xp.empty((n, n)), None
        space = Space(xp.empty(shape), xp.empty(shape), xp.empty((3, n)))
    else:
        columns, (space, memory) = reuse.lu, reuse.memory
    INSPECT["take_in"](n, matrix, columns, space.sums)
    interchanges, memory = getrf(columns, memory)
    INSPECT["weigh"](n, columns, space.weights)
    arguments = (columns, space.sums, space.weights, space.report)
    INSPECT["conclude"](n, parts(n), PIVOT_EPSILON, *arguments)
    norm = check(device.to_host(space.report))
    return Factors(device, library, columns, interchanges, norm, (space, memory))


def order(interchanges: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Return the rows in the order that interchanges, counted from 0, bring them into."""
    rows = np.arange(interchanges.size, dtype=np.int32)
    for k, row in enumerate(interchanges.tolist()):
        rows[k], rows[row] = rows[row], rows[k]
    return rows
