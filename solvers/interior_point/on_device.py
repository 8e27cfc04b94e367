"""The arrays of a solve on the device on which its factors are.

The method's own lines do not say where they compute: NumPy hands each call on to the library of the
arrays that it gets (NEP 13 and 18), so that CuPy's stay on the GPU from one iteration to the next.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from solvers.core.device import Device
from solvers.core.errors import DeviceError
from solvers.core.problem import Problem
from solvers.core.threads import start_thread
from solvers.interior_point.standard_form import Look, Outline, StandardForm

Holder = TypeVar("Holder", bound=Any)


def array_on(array: Any, device: Device) -> Any:
    """Return an array of the host on a device; on the CPU itself."""
    return array if device.kind == "cpu" else device.to_device(array)


def matrix_on(matrix: Any, device: Device) -> Any:
    """Return a CSR matrix of the host, sorted and without duplicates, on a device."""
    if device.kind == "cpu":
        return matrix
    return csr_on(
        device.to_device(matrix.data), matrix.indices, matrix.indptr, matrix.shape, device
    )


def csr_on(data: Any, indices: Any, starts: Any, shape: tuple[int, int], device: Device) -> Any:
    """Return a CSR matrix, sorted and without duplicates, with its ``data`` there already.

    CuPy is told so. To find it out it compiles a reduction for each range of sizes, which took 3 s
    each on a machine that had compiled nothing yet.

    Raises
    ------
    DeviceError
        More entries than CuPy's matrices have numbers for.
    """
    if device.kind == "cpu":
        return sp.csr_array((data, indices, starts), shape=shape)
    if starts[-1] > np.iinfo(np.int32).max:
        raise DeviceError("On a GPU matrices of interior point have up to two billion entries.")
    from cupyx.scipy.sparse import csr_matrix

    places = (device.to_device(part.astype(np.int32, copy=False)) for part in (indices, starts))
    there = csr_matrix((data, *places), shape=shape)
    there.has_canonical_format = True
    return there


def form_on(form: StandardForm, device: Device) -> StandardForm:
    """Return a standard form on a device, with the way back to its problem."""
    if device.kind == "cpu":
        return form
    return dataclasses.replace(
        vectors_on(form, device),
        matrix=matrix_on(form.matrix, device),
        transposed=matrix_on(form.transposed, device),
        origin=vectors_on(form.origin, device),
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


def vectors_on(holder: Holder, device: Device) -> Holder:
    """Return a dataclass with its arrays on a device."""
    if device.kind == "cpu":
        return holder
    fields = ((field.name, getattr(holder, field.name)) for field in dataclasses.fields(holder))
    there = {k: device.to_device(v) for k, v in fields if isinstance(v, np.ndarray)}
    return dataclasses.replace(holder, **there)


@dataclass(frozen=True, eq=False)
class Placed:
    """A standard form on a device, and the problem on which its points are judged."""

    form: StandardForm
    judged: Problem


@contextmanager
def made_beside(
    outline: Outline, device: Device, look: Look, threads: int
) -> Iterator[Callable[[], Placed]]:
    """Make a standard form and send it to a GPU, beside what is done within.

    What is returned waits for it, and raises what that raised. On the CPU, whose cores have other
    work, it is made before.
    """
    if device.kind == "cpu":
        placed = Placed(outline.form(look, threads), outline.problem)
        yield lambda: placed
        return
    stream = device.xp.cuda.get_current_stream()
    found: list[Placed] = []
    failures: list[BaseException] = []

    def make() -> None:
        form = outline.form(look, threads)
        with device.xp.cuda.Device(device.index), stream:
            placed = Placed(form_on(form, device), problem_on(outline.problem, device))
            stream.synchronize()  # whoever asks may use another one
            found.append(placed)

    thread = start_thread("standard form", make, failures.append)

    def there() -> Placed:
        thread.join()
        if failures:
            raise failures.pop()  # which holds what was sent, and is held by nobody else
        return found[-1]

    try:
        yield there
    finally:
        thread.join()
