"""A stand-in for cuDSS that takes the same calls and computes on the host by dense LDL'.

It reads and writes memory through the addresses that it is given, as the library does, and refuses
calls in an order that the library refuses: nothing is solved before it is factorised, nothing
factorised before it is analysed.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from solvers.interior_point import cudss_library as names

INVALID, NOT_INITIALISED = 3, 1


def at(address: Any, kind: Any, count: int) -> Any:
    """Return the array at an address."""
    value = address.value if isinstance(address, ctypes.c_void_p) else address
    return np.ctypeslib.as_array(ctypes.cast(value, ctypes.POINTER(kind)), (count,))


class FakeCuDSS:
    """The functions that are used, by their names in the library.

    Parameters
    ----------
    version : Version
        Whose numbers it understands.
    memory : int
        What the analysis says that the GPU has to hold at most, in bytes.

    ``failing`` may be told what status a phase returns instead of doing its work.
    """

    def __init__(self, version: names.Version = names.VERSIONS[0], memory: int = 1000) -> None:
        self.memory, self.failing = memory, dict[int, int]()
        self.phases: list[int] = []
        self.version = version
        self.settings: dict[int, float] = {}
        self.live = 0
        self.streams: list[int] = []
        self.matrices: dict[int, Any] = {}
        self.stop: Any = None
        self.told = dict[int, Any]()
        self.info = 0

    def tree(self, rows: int) -> Any:
        """Return the sizes of the parts of so many rows, which come from the last to the first.

        All are in the part that separates the two others.
        """
        return np.array([0, 0, rows])

    def _make(self, out: Any, made: Any = True) -> int:
        self.live += 1
        number = len(self.matrices) + 1
        self.matrices[number] = made
        out._obj.value = number
        return 0

    def cudssCreate(self, out: Any) -> int:  # noqa: N802 (the library's name, as all below)
        return self._make(out)

    def cudssConfigCreate(self, out: Any) -> int:  # noqa: N802
        return self._make(out)

    def cudssDataCreate(self, handle: Any, out: Any) -> int:  # noqa: N802
        return self._make(out)

    def cudssDestroy(self, made: Any) -> int:  # noqa: N802
        self.live -= 1
        return 0

    cudssConfigDestroy = cudssMatrixDestroy = cudssDestroy  # noqa: N815

    def cudssDataDestroy(self, handle: Any, made: Any) -> int:  # noqa: N802
        return self.cudssDestroy(made)

    def cudssSetStream(self, handle: Any, stream: Any) -> int:  # noqa: N802
        self.streams.append(stream.value)
        return 0

    def cudssSetThreadingLayer(self, handle: Any, file: bytes) -> int:  # noqa: N802
        return 0

    def cudssConfigSet(self, config: Any, setting: int, value: Any, size: int) -> int:  # noqa: N802
        self.settings[setting] = value._obj.value
        return 0

    def cudssDataSet(  # noqa: N802
        self, handle: Any, data: Any, figure: int, value: Any, size: Any
    ) -> int:
        if figure in (names.OWN_ORDER, self.version.own_tree):
            self.told[figure] = at(value, ctypes.c_int32, size.value // 4).copy()
            return 0
        if figure != self.version.interrupt:
            return INVALID
        self.stop = value._obj
        return 0

    def cudssDataGet(  # noqa: N802
        self, handle: Any, data: Any, figure: int, value: Any, size: int, written: Any
    ) -> int:
        if not self.phases:
            return NOT_INITIALISED
        if figure in (names.ORDER, self.version.tree):
            rows = self.rows
            found = np.arange(rows)[::-1] if figure == names.ORDER else self.tree(rows)
            if value is None:
                written._obj.value = 4 * found.size
            else:
                at(value, ctypes.c_int32, found.size)[...] = found
            return 0
        if figure == self.version.memory:
            value._obj[1] = self.memory
            return 0
        figures = {names.INFO: self.info, names.FACTOR_ENTRIES: 7, names.REPLACED_PIVOTS: 2}
        value._obj.value = figures[figure]
        return 0

    def cudssMatrixCreateCsr(  # noqa: N802
        self, out: Any, rows: int, columns: int, entries: int, *rest: Any
    ) -> int:
        starts, ends, indices, values, *types = rest
        if types != [*self.version.row_starts, 10, 1, 1, 2, 0] or ends is not None:
            return INVALID
        pattern = at(starts, ctypes.c_int32, rows + 1), at(indices, ctypes.c_int32, entries)
        return self._make(out, (*pattern, at(values, ctypes.c_double, entries)))

    def cudssMatrixCreateDn(  # noqa: N802
        self, out: Any, rows: int, columns: int, leading: int, values: Any, kind: int, layout: int
    ) -> int:
        if (columns, leading, kind, layout) != (1, rows, 1, 0):
            return INVALID
        return self._make(out, at(values, ctypes.c_double, rows))

    def cudssExecute(self, handle: Any, phase: int, *rest: Any) -> int:  # noqa: N802
        if self.stop is not None and self.stop.value:
            return names.EXECUTION_FAILED
        if phase in self.failing:
            return self.failing[phase]
        before = {names.FULL_ANALYSIS: -1, names.FACTORISATION: 3, names.REFACTORISATION: 4}
        if phase in before and before[phase] not in (-1, *self.phases):
            return NOT_INITIALISED
        self.phases.append(phase)
        matrix, solution, right = rest[2:]
        self.rows = self.matrices[matrix.value][0].size - 1
        if phase in (names.FACTORISATION, names.REFACTORISATION):
            starts, indices, values = self.matrices[matrix.value]
            rows = np.repeat(np.arange(starts.size - 1), np.diff(starts))
            assert (indices >= rows).all()  # the upper triangle
            dense = np.zeros((starts.size - 1,) * 2)
            dense[rows, indices] = values
            dense[indices, rows] = values
            self.dense = dense
        if phase == names.SOLVE:
            self.matrices[solution.value][...] = np.linalg.solve(
                self.dense, self.matrices[right.value]
            )
        return 0
