"""PDLP, barrier and all methods at once of NVIDIA cuOpt on the GPU, through its C library.

The library is that of the wheel (``pip install libcuopt-mathopt-cu13``), or what the system's
loader finds by its name.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import CDLL, byref, c_double, c_int32, c_void_p
from dataclasses import dataclass
from importlib import import_module, util

import numpy as np

from benchmarks.linear_programs import FloatArray, LinearProgram
from benchmarks.peers.solver import Answer, Solver, Task

LIBRARY, WHEEL = "libcuopt_mathopt.so", "libcuopt_mathopt"

MINIMIZE = 1
CONCURRENT, PDLP, BARRIER = 0, 1, 3
"""Numbers of the methods in its settings."""
ITERATIONS = 303
"""Number of the attribute of a solution."""
STATUSES = {
    1: "optimal",
    2: "infeasible",
    3: "unbounded",
    4: "iteration_limit",
    5: "time_limit",
    11: "infeasible_or_unbounded",
}
TOLERANCES = tuple(
    f"{kind}_{error}_tolerance"
    for kind in ("absolute", "relative")
    for error in ("primal", "dual", "gap")
)


@dataclass(frozen=True, eq=False)
class Model:
    """Its problem, and the sizes of the point to be read."""

    handle: c_void_p
    rows: int
    columns: int


class CuOpt(Solver):
    """Its PDLP without crossover, the presolve as by default."""

    own_signs = True
    method, words = PDLP, ""

    @property
    def label(self) -> str:
        """Name, version, and the method if it is not PDLP."""
        return f"cuopt {_version()}{self.words}"

    def missing(self) -> str | None:
        """Say whether the library can be loaded."""
        try:
            _library()
        except OSError as error:
            return f"its library cannot be loaded: {error}"
        return None

    def prepare(self, lp: LinearProgram, task: Task) -> Model:
        """Hand the arrays over."""
        rows, columns = lp.matrix.shape
        handle = c_void_p()
        arrays = (
            *(_pointer(lp.cost, float), _pointer(lp.matrix.indptr, np.int32)),
            *(_pointer(lp.matrix.indices, np.int32), _pointer(lp.matrix.data, float)),
            *(_pointer(values, float) for values in (lp.row_lower, lp.row_upper)),
            *(_pointer(values, float) for values in (lp.lower, lp.upper)),
        )
        sizes = (c_int32(rows), c_int32(columns), c_int32(MINIMIZE), c_double(lp.offset))
        _check(
            _library().cuOptCreateRangedProblem(
                *sizes, *(place for _, place in arrays), b"C" * columns, byref(handle)
            )
        )
        return Model(handle, rows, columns)

    def solve(self, model: Model, task: Task) -> Answer:
        """Solve, read the solution, and let go of all of it."""
        library, solution = _library(), c_void_p()
        with _settings(task, self.method) as settings:
            _check(library.cuOptSolve(model.handle, settings, byref(solution)))
        status, iterations = c_int32(), c_int32()
        _check(library.cuOptGetTerminationStatus(solution, byref(status)))
        library.cuOptGetSolutionIntAttribute(solution, c_int32(ITERATIONS), byref(iterations))
        answer = Answer(
            status=STATUSES.get(status.value, "failed"),
            x=_read(library.cuOptGetPrimalSolution, solution, model.columns),
            y=_read(library.cuOptGetDualSolution, solution, model.rows),
            iterations=iterations.value,
        )
        library.cuOptDestroySolution(byref(solution))
        library.cuOptDestroyProblem(byref(model.handle))
        return answer


class Barrier(CuOpt):
    """Its interior point method."""

    first_order = False
    method, words = BARRIER, " barrier"


class Concurrent(CuOpt):
    """All its methods at once, of which the first answer counts."""

    first_order = False
    method, words = CONCURRENT, " concurrent"


@contextmanager
def _settings(task: Task, method: int) -> Iterator[c_void_p]:
    library, settings = _library(), c_void_p()
    _check(library.cuOptCreateSolverSettings(byref(settings)))
    values: dict[str, object] = {
        **dict.fromkeys(TOLERANCES, repr(task.tolerance)),
        "method": method,
        "crossover": "false",
        "log_to_console": "false",
        "time_limit": repr(task.time_limit),
        "num_cpu_threads": task.threads or None,
        "presolve": None if task.presolve else 0,
        "iteration_limit": task.iteration_limit,
    }
    try:
        for name, value in values.items():
            if value is not None:
                text = str(value).encode()
                _check(library.cuOptSetParameter(settings, name.encode(), text))
        yield settings
    finally:
        library.cuOptDestroySolverSettings(byref(settings))


def _pointer(values: FloatArray, kind: type) -> tuple[object, c_void_p]:
    """Return an array as the library wants it, to be kept as long as its address is used."""
    array: np.ndarray = np.ascontiguousarray(values, dtype=kind)
    return array, c_void_p(array.ctypes.data)


def _read(getter: object, solution: c_void_p, size: int) -> FloatArray | None:
    assert callable(getter)
    values = np.empty(size)
    return None if getter(solution, c_void_p(values.ctypes.data)) else values


def _check(code: int) -> None:
    if code:
        raise RuntimeError(f"cuOpt answers with error {code}")


def _version() -> str:
    parts = [c_int32() for _ in range(3)]
    _check(_library().cuOptGetVersion(*(byref(part) for part in parts)))
    return ".".join(str(part.value) for part in parts)


@functools.cache
def _library() -> CDLL:
    if util.find_spec(WHEEL) is not None:
        import_module(WHEEL).load_library()
    return CDLL(LIBRARY)
