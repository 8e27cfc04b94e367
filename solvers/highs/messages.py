"""Tasks, replies and failures as messages on a pipe.

A message is the length of its head (8 bytes), the head in JSON, and the arrays that the head names,
one after the other as they lie in memory. Nothing is written to a disk, which could be full or
read-only, and nothing is left there when both processes are killed.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import FileIO
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from solvers.highs.task import Ending, Finding, Model, Reply, Task, Work

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
    kind: str = head["class"]
    if kind == Failure.__name__:
        return Failure(**values)
    return _task(values) if kind == Task.__name__ else _reply(values)


def _task(values: dict[str, Any]) -> Task:
    names = {item.name for item in dataclasses.fields(Model)}
    model = Model(**{name: values.pop(name) for name in names})
    return Task(model=model, **{**values, "work": Work(values["work"])})


def _reply(values: dict[str, Any]) -> Reply:
    values["finding"] = Finding(values["finding"])
    values["ending"] = Ending(values["ending"])
    return Reply(**values)


def _split(
    thing: Task | Reply | Failure,
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    arrays: dict[str, npt.NDArray[Any]] = {}
    plain: dict[str, Any] = {}
    parts: list[Any] = [thing, thing.model] if isinstance(thing, Task) else [thing]
    for part in parts:
        for item in dataclasses.fields(part):
            value = getattr(part, item.name)
            if isinstance(value, np.ndarray):
                # a task has x and row_dual of its own; the model has neither
                arrays[item.name] = value
            elif value is not None and not isinstance(value, Model):
                plain[item.name] = dict(value) if isinstance(value, Mapping) else value
    return arrays, plain


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
