"""Moving a solve's arrays to the device on which its factors are.

The method's own lines do not say where they compute: NumPy hands each call on to the library of the
arrays that it gets (NEP 13 and 18), so that CuPy's stay on the GPU from one iteration to the next.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import Problem
from solvers.interior_point.point import Point
from solvers.interior_point.standard_form import StandardForm

Holder = TypeVar("Holder", bound=Any)


def matrix_on(matrix: Any, device: Device) -> Any:
    """Return a CSR matrix, sorted and without duplicates, on a device.

    CuPy is told so. To find it out it compiles a reduction for each range of sizes, which took 3 s
    each on a machine that had compiled nothing yet.
    """
    if device.kind == "cpu":
        return matrix
    from cupyx.scipy.sparse import csr_matrix

    indices, starts = (part.astype(np.int32) for part in (matrix.indices, matrix.indptr))
    parts = tuple(device.to_device(part) for part in (matrix.data, indices, starts))
    there = csr_matrix(parts, shape=matrix.shape)
    there.has_canonical_format = True
    return there


def form_on(form: StandardForm, device: Device) -> StandardForm:
    """Return a standard form on a device, with the way back to its problem."""
    if device.kind == "cpu":
        return form
    return dataclasses.replace(
        _vectors_on(form, device),
        matrix=matrix_on(form.matrix, device),
        transposed=matrix_on(form.transposed, device),
        origin=_vectors_on(form.origin, device),
    )


def problem_on(problem: Problem, device: Device) -> Problem:
    """Return what points are judged on, with the arrays of a problem on a device."""
    if device.kind == "cpu":
        return problem
    names = ("cost", "row_lower", "row_upper", "lower", "upper")
    there = {name: device.to_device(getattr(problem, name)) for name in names}
    made = object.__new__(Problem)  # which is not to look at each entry again
    made.__dict__.update(matrix=matrix_on(problem.matrix, device), offset=problem.offset, **there)
    return made


def point_on(point: Point, device: Device) -> Point:
    """Return an iterate on a device."""
    return point if device.kind == "cpu" else _vectors_on(point, device)


def _vectors_on(holder: Holder, device: Device) -> Holder:
    """Return a dataclass with its arrays on a device."""
    fields = ((field.name, getattr(holder, field.name)) for field in dataclasses.fields(holder))
    there = {k: device.to_device(v) for k, v in fields if isinstance(v, np.ndarray)}
    return dataclasses.replace(holder, **there)
