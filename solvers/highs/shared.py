"""The page of memory that a child process and its parent both see.

A file mapped into both processes holds a small header and two points: the child's incumbent, and
a point the parent offers to the child. Each has one writer and is guarded by a sequence number
(odd while being written, so a reader can tell and look again) and by a checksum, because Python
has no memory fences and some processors let the number be seen before the values.
"""

from __future__ import annotations

import mmap
import zlib
from pathlib import Path

import numpy as np

from solvers.highs.task import FloatArray

HEADER = 16
PHASE, BOUND, ITERATIONS, STOP = 0, 1, 2, 3
"""Places of the single numbers in the header."""
INCUMBENT, OFFER = 4, 8
"""Places of the two guarded points' sequence number, objective and checksum."""

STARTING, RUNNING, REPLYING = 0.0, 1.0, 2.0
"""What the child says it is doing."""


class SharedPage:
    """Header and two points of n values in a mapped file.

    Parameters
    ----------
    path : Path
        The file; it is made, filled with zeros, where ``create`` is true.
    num_columns : int
        n.
    """

    def __init__(self, path: Path, num_columns: int, *, create: bool = False) -> None:
        size = 8 * (HEADER + 2 * num_columns)
        with path.open("w+b" if create else "r+b") as stream:
            if create:
                stream.truncate(size)
            self._map = mmap.mmap(stream.fileno(), size)
        values = np.frombuffer(self._map, dtype=np.float64)
        self._header = values[:HEADER]
        self._points = {
            INCUMBENT: values[HEADER : HEADER + num_columns],
            OFFER: values[HEADER + num_columns :],
        }
        self._seen = {INCUMBENT: 0.0, OFFER: 0.0}
        if create:
            self._header[BOUND] = -np.inf

    def close(self) -> None:
        """Let go of the memory; the page cannot be used afterwards."""
        self._header = np.zeros(HEADER)
        self._points = {}
        self._map.close()

    def get(self, place: int) -> float:
        """Return a single number of the header."""
        return float(self._header[place])

    def put(self, place: int, value: float) -> None:
        """Set a single number of the header."""
        self._header[place] = value

    def write_point(self, which: int, objective: float, x: FloatArray) -> None:
        """Publish a point; only one process may write each."""
        self._header[which] += 1.0
        self._points[which][:] = x
        self._header[which + 1] = objective
        self._header[which + 2] = _checksum(self._points[which])
        self._header[which] += 1.0

    def read_point(self, which: int) -> tuple[float, FloatArray] | None:
        """Return objective and copy of a point not read before, or None."""
        sequence = float(self._header[which])
        if sequence == self._seen[which] or sequence % 2:
            return None
        objective = float(self._header[which + 1])
        checksum = float(self._header[which + 2])
        x = self._points[which].copy()
        if float(self._header[which]) != sequence or _checksum(x) != checksum:
            return None  # it is being written; the next look will find it whole
        self._seen[which] = sequence
        return objective, x


def _checksum(x: FloatArray) -> float:
    return float(zlib.crc32(x.data))
