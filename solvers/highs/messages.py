"""Tasks, replies and failures as messages on a pipe.

A message is the length of its head (8 bytes), the head in JSON, and the arrays that the head names,
one after the other as they lie in memory. Nothing is written to a disk, which could be full or
read-only, and nothing is left there when both processes are killed.
"""

from __future__ import annotations

import dataclasses
import errno
import json
import mmap
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from io import FileIO
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from solvers.core.outcome import Basis, SolutionStatus, StopReason
from solvers.highs.task import FloatArray, Model, Reply, Task, Work

# The page of memory that a child process and its parent both see.
#
# A nameless file mapped into both processes holds a small header and two points: the child's
# incumbent, and a point the parent offers to the child. Each has one writer and is guarded by a
# sequence number (odd while being written, so a reader can tell and look again) and by a checksum,
# because Python has no memory fences and some processors let the number be seen before the values.
#
# The file is memory where the system has such files, so that no disk can be full, and has no name,
# so that nothing is left of it when both processes are killed. Its space is reserved before it is
# mapped: a write to a page that the system cannot find a place for ends the process (SIGBUS).


HEADER = 16
PHASE, BOUND, ITERATIONS, STOP, DEADLINE = 0, 1, 2, 3, 12
"""Places of the single numbers in the header."""
INCUMBENT, OFFER = 4, 8
"""Places of the two guarded points' sequence number, objective and checksum."""

STARTING, RUNNING, REPLYING = 0.0, 1.0, 2.0
"""What the child says it is doing."""


NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)
"""Errors of systems and file systems that lack a call."""

ZEROS = 2**20
"""Bytes written at a time where space cannot be reserved otherwise."""


def reserve(number: int, size: int) -> None:
    """Give an empty file so many bytes, for which there is room from now on.

    Parameters
    ----------
    number : int
        The file's descriptor.

    Raises
    ------
    OSError
        There is no room.
    """
    try:
        os.posix_fallocate(number, 0, size)
        return
    except AttributeError:  # a system that lacks the call
        pass
    except OSError as error:
        if error.errno not in NOT_HERE:
            raise
    zeros = memoryview(bytes(min(ZEROS, size)))
    while size > 0:
        size -= os.write(number, zeros[:size])


class SharedPage:
    """Header and two points of n values in a mapped file; n is 0 where no points are told of.

    Parameters
    ----------
    number : int
        The file's descriptor; its space is reserved.
    """

    def __init__(self, number: int) -> None:
        self._map = mmap.mmap(number, os.fstat(number).st_size)
        values = np.frombuffer(self._map, dtype=np.float64)
        self._header, points = values[:HEADER], values[HEADER:]
        self._points = {
            INCUMBENT: points[: points.size // 2],
            OFFER: points[points.size // 2 :],
        }
        self._seen = {INCUMBENT: 0.0, OFFER: 0.0}

    @classmethod
    def create(cls, number: int, num_columns: int, deadline: float = np.inf) -> SharedPage:
        """Return the page in an empty file, for points of so many values.

        ``deadline`` is when the child has to be done, by the clock that all processes share.

        Raises
        ------
        OSError
            There is no room.
        """
        reserve(number, 8 * (HEADER + 2 * num_columns))
        page = cls(number)
        page.put(BOUND, -np.inf)
        page.put(DEADLINE, deadline)
        return page

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


LENGTH = 8
"""Bytes of the head's length."""

PIECE = 2**20
"""Bytes written at a time, so that who is told to stop does not copy all of a large model."""


@dataclass(frozen=True)
class Failure:
    """What the engine raised instead of a reply: the name of its class, and its words."""

    kind: str
    message: str


class Sink(Protocol):
    """A binary stream to write to."""

    def write(self, data: memoryview, /) -> int:
        """Write at least a part; return how much."""


class TruncatedError(Exception):
    """The stream ended within a message, or before it; internal to this package."""


def send(thing: Task | Reply | Failure, pipe: Sink) -> None:
    """Write a task, a reply or a failure.

    Raises
    ------
    BrokenPipeError
        Nobody reads any more.
    """
    arrays, plain = _split(thing)
    shapes = [(name, array.dtype.str, array.shape) for name, array in arrays.items()]
    head = json.dumps({"class": type(thing).__name__, "plain": plain, "arrays": shapes}).encode()
    _write(pipe, len(head).to_bytes(LENGTH, "little") + head)
    for array in arrays.values():
        _write(pipe, np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def receive(pipe: FileIO) -> Task | Reply | Failure:
    """Read what :func:`send` wrote.

    Raises
    ------
    TruncatedError
        The writer has gone before its message was whole.
    """
    length = int.from_bytes(_read(pipe, LENGTH), "little")
    head = json.loads(bytes(_read(pipe, length)))
    values: dict[str, Any] = head["plain"]
    for name, dtype, shape in head["arrays"]:
        array = np.empty(shape, dtype=dtype)
        _fill(pipe, array.reshape(-1).view(np.uint8).data)
        values[name] = array
    statuses = values.pop("column_status", None), values.pop("row_status", None)
    if statuses[0] is not None:
        values["basis"] = Basis(*statuses)
    kind: str = head["class"]
    if kind == Failure.__name__:
        return Failure(**values)
    return _task(values) if kind == Task.__name__ else _reply(values)


def _task(values: dict[str, Any]) -> Task:
    names = {item.name for item in dataclasses.fields(Model)}
    model = Model(**{name: values.pop(name) for name in names})
    return Task(model=model, **{**values, "work": Work(values["work"])})


def _reply(values: dict[str, Any]) -> Reply:
    status, reason = values.pop("solution_status"), values.pop("stop_reason")
    return Reply(SolutionStatus[status], StopReason[reason], **values)


def _split(
    thing: Task | Reply | Failure,
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    arrays: dict[str, npt.NDArray[Any]] = {}
    plain: dict[str, Any] = {}
    parts: list[Any] = [thing, thing.model] if isinstance(thing, Task) else [thing]
    parts.append(getattr(thing, "basis", None))
    for part in parts:
        for item in () if part is None else dataclasses.fields(part):
            value = getattr(part, item.name)
            if isinstance(value, np.ndarray):
                # a task has x and row_dual of its own; the model has neither
                arrays[item.name] = value
            elif value is not None and not isinstance(value, (Model, Basis)):
                plain[item.name] = _plain(value)
    return arrays, plain


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: what an enumeration of words has as its name."""
    if isinstance(value, (SolutionStatus, StopReason)):
        return value.name
    return dict(value) if isinstance(value, Mapping) else value


def _write(pipe: Sink, data: bytes | memoryview) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[pipe.write(rest[:PIECE]) :]


def _read(pipe: FileIO, size: int) -> bytearray:
    data = bytearray(size)
    _fill(pipe, memoryview(data))
    return data


def _fill(pipe: FileIO, rest: memoryview) -> None:
    while rest:
        count = pipe.readinto(rest)
        if not count:
            raise TruncatedError
        rest = rest[count:]
