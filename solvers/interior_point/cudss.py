"""Factorisation by cuDSS on a GPU: LDL' of a quasidefinite matrix, without pivoting.

Analysed once, factorised for ever new values of the same pattern, solved for one right-hand side.
Matrix, factors and vectors stay on the GPU. Pivots smaller than what regularisation adds come from
rounding alone and are replaced; their number is watched.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from ctypes import byref, c_double, c_int, c_int64, c_size_t, c_void_p, sizeof
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.errors import DeviceError
from solvers.core.problem import BoolArray, FloatArray
from solvers.core.progress import LOOK_AGAIN, Progress
from solvers.core.threads import start_thread
from solvers.interior_point import cudss_library as names
from solvers.interior_point.cudss_library import OutOfMemoryError, check
from solvers.interior_point.graph_reduction import GraphReduction
from solvers.interior_point.linear_system import DUAL_REGULARISATION, SingularError
from solvers.interior_point.ordering import long_rows, without

MEMORY_FIGURES = 16
"""Figures of the memory estimate; the second is the most that the GPU has to hold."""

PEAK_ON_DEVICE = 1

PARTS = 1023
"""Parts of the library's tree by itself (ten levels). What leaves fewer rows is dissected whole."""


class CuDSS:
    """A symmetric matrix in cuDSS; see :class:`solvers.interior_point.linear_system`.

    Its deterministic mode stays off: with it a solve with the factors of an energy system of 288
    hours took 5.8 ms on an H200 instead of 0.7, and one of a multi-stage tree 0.54 instead of 0.26.
    So two runs may differ in the last digits.

    Parameters
    ----------
    device : Device
        The current one, on whose current stream everything is queued.
    progress : Progress
        Asked beside long calls whether they are to end, which the library does where it looks.
    """

    def __init__(self, device: Device, progress: Progress) -> None:
        self.entries = self.replaced_pivots = 0
        self.bytes_needed = self.seconds_needed = 0.0  # of seconds nothing is predicted
        self._device = device
        loaded = names.library()
        self._library, self._version = loaded.functions, loaded.version
        self._handle, self._config, self._data = c_void_p(), c_void_p(), c_void_p()
        self._objects: list[c_void_p] = []
        self._told: list[npt.NDArray[np.int32]] = []
        self._stop = c_int(0)
        self._is_factorised = False
        self._call("cudssCreate", byref(self._handle))
        self._call("cudssConfigCreate", byref(self._config))
        self._call("cudssDataCreate", self._handle, byref(self._data))
        self._progress, self._stream = progress, None
        if device.kind == "cuda":
            self._stream = device.xp.cuda.get_current_stream()
            self._call("cudssSetStream", self._handle, c_void_p(self._stream.ptr))
        self._close = weakref.finalize(
            self,
            _destroy,
            self._library,
            self._handle,
            self._config,
            self._data,
            self._objects,
            self._stream,
        )
        layer = names.threading_layer(self._version)
        if layer is not None:  # otherwise one thread orders the matrix
            self._library.cudssSetThreadingLayer(self._handle, layer)
        self._set(self._version.pivot_type, c_int(self._version.no_pivoting))
        self._set(self._version.pivot_epsilon, c_double(DUAL_REGULARISATION))
        self._call(
            *("cudssDataSet", self._handle, self._data, self._version.interrupt),
            *(byref(self._stop), c_size_t(sizeof(self._stop))),
        )

    def begin(self, progress: Progress) -> AbstractContextManager[Any]:
        """Take up a solve, which may end calls; within what is returned the stream is the first's.

        That lives as long as the library's objects, which it goes on using: where the stream of the
        solve before was gone and another set, a factorisation failed or the process broke down.
        """
        self._progress, self._stop.value = progress, 0
        return nullcontext() if self._stream is None else self._stream

    @property
    def bytes_free(self) -> float:
        """Memory of the GPU that is free, with what CuPy holds for nobody."""
        if self._device.kind == "cpu":
            return float(self._device.memory_free)
        xp = self._device.xp
        free: float = xp.cuda.Device().mem_info[0] + xp.get_default_memory_pool().free_bytes()
        return free

    def analyse(
        self, row: npt.NDArray[Any], column: npt.NDArray[Any], size: int, most: float = np.inf
    ) -> None:
        """Order the matrix whose lower triangle has entries there, by columns, and lay it out."""
        long = long_rows(row, column, size)
        if long.any():
            self._order_last(long, row, column)
        self._lay_out(row, column, size)
        with self._stoppable():
            self._execute(names.FULL_ANALYSIS, "the analysis")
        figures = (c_int64 * MEMORY_FIGURES)()
        self._get(self._version.memory, figures)
        self.bytes_needed = float(figures[PEAK_ON_DEVICE])
        entries = c_int64()
        self._get(names.FACTOR_ENTRIES, entries)
        self.entries = entries.value

    def _order_last(self, long: BoolArray, row: npt.NDArray[Any], column: npt.NDArray[Any]) -> None:
        """Order all rows but the long ones by nested dissection, and those into its last part.

        The library is told the tree of parts beside the order, without which it takes the rows for
        one part: an energy system of 8,760 hours was factorised in 24 ms on an H200 instead of 223,
        and analysed in 1.0 s instead of 5.5.
        """
        kept, inside_row, inside_column = without(long, row, column)
        reduction = GraphReduction.of(inside_row, inside_column, kept.size)
        found = None
        if reduction.left.size >= PARTS:
            left = reduction.row, reduction.column, reduction.left.size
            found = reduction.whole(*self._dissected(*left))
        order, tree = found or self._dissected(inside_row, inside_column, kept.size)
        tree[-1] += np.count_nonzero(long)
        order = np.concatenate([kept[order], np.flatnonzero(long)])
        self._tell(names.OWN_ORDER, order.astype(np.int32))
        self._tell(self._version.own_tree, tree)

    def _dissected(
        self, row: npt.NDArray[Any], column: npt.NDArray[Any], size: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return the library's order of a matrix, and the sizes of its parts.

        One part stands after the other, first those at the bottom of the tree, last the one at its
        top.
        """
        alone = CuDSS(self._device, self._progress)
        alone._lay_out(row, column, size)
        with alone._stoppable():
            alone._execute(names.ORDERING, "ordering")
        return alone._array(names.ORDER), alone._array(self._version.tree)

    def _lay_out(self, row: npt.NDArray[Any], column: npt.NDArray[Any], size: int) -> None:
        """Describe the matrix and its vectors to the library."""
        # the lower triangle by columns is the upper one by rows
        starts = np.zeros(size + 1, dtype=np.int32)
        np.cumsum(np.bincount(column, minlength=size), out=starts[1:])
        self._starts = self._device.to_device(starts)
        self._indices = self._device.to_device(row.astype(np.int32, copy=False))
        self._values = np.zeros_like(self._indices, dtype=np.float64)
        self._right, self._solution = (
            np.zeros_like(self._starts, dtype=np.float64, shape=size) for _ in range(2)
        )
        self._matrix = self._new(
            *("cudssMatrixCreateCsr", size, size, row.size, _address(self._starts), None),
            *(_address(self._indices), _address(self._values), *self._version.row_starts),
            *(names.INTEGER_32, names.REAL_64),
            *(names.SYMMETRIC, names.UPPER, names.ZERO_BASED),
        )
        self._right_side, self._solved = (
            self._new(
                *("cudssMatrixCreateDn", size, 1, size, _address(vector)),
                *(names.REAL_64, names.BY_COLUMN),
            )
            for vector in (self._right, self._solution)
        )

    def factorise(self, values: FloatArray) -> None:
        """Factorise with these values (entries,), which live on the device."""
        self._values[...] = values
        phase = names.REFACTORISATION if self._is_factorised else names.FACTORISATION
        try:
            with self._stoppable():
                self._execute(phase, "a factorisation")
                self._wait()
                info = c_int()
                self._get(names.INFO, info)
        except OutOfMemoryError as error:
            raise DeviceError(
                "The factors of the interior point method, about "
                f"{self.bytes_needed / 1e9:.1f} GB, do not fit on the GPU; use device='cpu' or "
                "method='pdlp'."
            ) from error
        replaced = c_int()
        if info.value:
            raise SingularError(f"pivot {info.value}")
        self._get(names.REPLACED_PIVOTS, replaced)
        self.replaced_pivots = replaced.value
        self._is_factorised = True

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the solution for a right-hand side (size,) on the device."""
        self._right[...] = right
        self._execute(names.SOLVE, "a solve")
        solution: FloatArray = self._solution.copy()
        return solution

    def _wait(self) -> None:
        """Wait for the GPU outside of the library, whose copies to the host wait in the driver.

        Beside factorisations of 0.14 s calls of PDLP's thread came back after as long.
        """
        if self._stream is not None:
            self._stream.synchronize()

    def _execute(self, phase: int, what: str) -> None:
        status = self._library.cudssExecute(
            *(self._handle, phase, self._config, self._data),
            *(self._matrix, self._solved, self._right_side),
        )
        if self._stop.value and status == names.EXECUTION_FAILED:
            raise SingularError("interrupted")
        check(status, what)

    @contextmanager
    def _stoppable(self) -> Iterator[None]:
        """Have the library end what it is doing within, where it looks, if the solve is to stop."""
        ended, progress, stop = threading.Event(), self._progress, self._stop

        def watch() -> None:
            while not ended.wait(LOOK_AGAIN):
                if progress.should_stop() is not None:
                    stop.value = 1
                    return

        start_thread("cudss", watch, lambda failure: None)
        try:
            yield
        finally:
            ended.set()

    def _new(self, name: str, *arguments: Any) -> c_void_p:
        """Return a new matrix or vector of the library's."""
        made = c_void_p()
        self._call(name, byref(made), *arguments)
        self._objects.append(made)
        return made

    def _set(self, setting: int, value: Any) -> None:
        self._call("cudssConfigSet", self._config, setting, byref(value), sizeof(value))

    def _get(self, figure: int, value: Any) -> None:
        written = c_size_t()
        self._call(
            *("cudssDataGet", self._handle, self._data, figure),
            *(byref(value), sizeof(value), byref(written)),
        )

    def _array(self, figure: int) -> npt.NDArray[np.int32]:
        """Return whole numbers that the library tells, as many as it has."""
        written = c_size_t()
        self._call(
            *("cudssDataGet", self._handle, self._data, figure, None, c_size_t(0), byref(written))
        )
        values = np.zeros(written.value // 4, dtype=np.int32)
        self._call(
            *("cudssDataGet", self._handle, self._data, figure),
            *(_address(values), c_size_t(values.nbytes), byref(written)),
        )
        return values

    def _tell(self, figure: int, values: npt.NDArray[np.int32]) -> None:
        """Give whole numbers to the library, and keep them in case that it does not copy them."""
        self._told.append(values)
        self._call(
            *("cudssDataSet", self._handle, self._data, figure),
            *(_address(values), c_size_t(values.nbytes)),
        )

    def _call(self, name: str, *arguments: Any) -> None:
        check(getattr(self._library, name)(*arguments), name)


def _address(array: Any) -> c_void_p:
    """Return where an array's values are, on the device or on the host."""
    interface = getattr(array, "__cuda_array_interface__", None) or array.__array_interface__
    return c_void_p(interface["data"][0])


def _destroy(
    library: Any,
    handle: c_void_p,
    config: c_void_p,
    data: c_void_p,
    objects: list[c_void_p],
    stream: Any,
) -> None:
    """Give everything back to the library, while the ``stream`` is still there."""
    for made in objects:
        library.cudssMatrixDestroy(made)
    library.cudssDataDestroy(handle, data)
    library.cudssConfigDestroy(config)
    library.cudssDestroy(handle)
