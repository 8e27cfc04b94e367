"""How a kernel is declared: its arguments, the shape of its launch, and what it promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

WARP, BLOCK = 32, 256
"""Threads of a warp, and of a block where nothing speaks for another number."""

ARRAYS = ("real[]", "index[]", "packed[]", "code[]")
SCALARS = ("real", "index", "int")

Values = Mapping[str, Any]
"""The arguments of one call, by name."""


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel.

    ``kind`` is ``real[]``, ``index[]``, ``packed[]`` or ``code[]`` (unsigned bytes) for arrays and
    ``real``, ``index`` or ``int`` (32 bits) for scalars; ``direction`` is ``in``, ``out`` or
    ``inout``. A packed array has a type of its own, chosen with the data: an argument ``values``
    is an array of ``VALUES_T`` in device code. An argument may be the ``field`` of a
    ``structure`` (:func:`structure`).
    """

    name: str
    kind: str
    direction: str = "in"
    structure: str = ""
    field: str = ""

    def __post_init__(self) -> None:
        if self.kind not in ARRAYS + SCALARS or self.direction not in ("in", "out", "inout"):
            raise ValueError(f"argument '{self.name}': {self.kind} {self.direction}")


def arguments(declarations: str) -> tuple[Argument, ...]:
    """Declare arguments as C would: ``int rows; real[] x, y; out index[] order``.

    A declaration is a direction, ``in`` if it is left out, a kind, and names of that kind.
    """
    found: list[Argument] = []
    for declaration in declarations.split(";"):
        *direction, kind, first = declaration.split(",")[0].split()
        names = (first, *(name.strip() for name in declaration.split(",")[1:]))
        found += (Argument(name, kind, *direction) for name in names)
    return tuple(found)


def structure(name: str, fields: str, prefix: str | None = None) -> tuple[Argument, ...]:
    """Declare the fields of a structure, in their order in C++, as arguments of a kernel.

    Device code and twin take the structure as one parameter; what is passed from Python stays one
    value for each field. An argument is called ``prefix``, which is ``name_`` if it is left out,
    and then as the field.
    """
    before = f"{name}_" if prefix is None else prefix
    return tuple(
        Argument(before + one.name, one.kind, one.direction, name, one.name)
        for one in arguments(fields)
    )


@dataclass(frozen=True)
class Launch:
    """Shape of a launch: blocks in the grid, threads in a block, dynamic shared memory in bytes."""

    grid: int
    block: int
    shared: int = 0


@dataclass(frozen=True)
class Kernel:
    """The declaration of one kernel."""

    name: str
    """Its name in the ``.cu`` file and in the twin's module."""
    arguments: Sequence[Argument]
    """By :func:`arguments`."""
    contract: str
    """What holds before and after, and how exactly device and twin agree."""
    launch: Callable[[Values], Launch]
    """From the arguments of a call to the shape of its launch."""
    work: Callable[[Values], int] = lambda values: 0
    """From the arguments to the number of elementary steps, by which the CPU decides whether
    threads pay; a twin in NumPy has none."""
    traffic: Callable[[Values], int] | None = None
    """From the arguments to the bytes that have to travel at least once, where these are not all
    arrays, once for each way."""
    bounds: str = ""
    """Of ``__launch_bounds__``, for a kernel with structures."""

    @cached_property
    def arrays(self) -> tuple[int, ...]:
        """Places of the arrays among the arguments."""
        return tuple(i for i, argument in enumerate(self.arguments) if argument.kind in ARRAYS)

    def bytes_moved(self, values: Values) -> int:
        """Return the bytes that have to travel at least once."""
        if self.traffic is not None:
            return self.traffic(values)
        ways = {argument.name: 1 + (argument.direction == "inout") for argument in self.arguments}
        names = (self.arguments[place].name for place in self.arrays)
        return sum(ways[name] * int(values[name].nbytes) for name in names)

    def arguments_of(self, *holders: Any, **others: Any) -> tuple[Any, ...]:
        """Return the arguments of a call, each by its name.

        Parameters
        ----------
        *holders
            Objects with attributes of the arguments' names; the first that has one gives it.
        **others
            What goes before them.

        Raises
        ------
        AttributeError
            Nobody has an argument.
        """
        return tuple(
            others[one.name] if one.name in others else _attribute(holders, one.name)
            for one in self.arguments
        )

    def by_name(self, values: Sequence[Any]) -> Values:
        """Pair the values of a call with the declared names."""
        if len(values) != len(self.arguments):
            raise TypeError(
                f"{self.name}() takes {len(self.arguments)} arguments, {len(values)} were given"
            )
        return {
            argument.name: value for argument, value in zip(self.arguments, values, strict=True)
        }


def _attribute(holders: Sequence[Any], name: str) -> Any:
    for holder in holders:
        if hasattr(holder, name):
            return getattr(holder, name)
    raise AttributeError(f"no argument '{name}' among {[type(one).__name__ for one in holders]}")


def by_owner(owners: str, lanes: str | None = None, block: int = 256) -> Callable[[Values], Launch]:
    """Return a launch rule: ``lanes`` threads per owner, whole blocks of ``block`` threads."""

    def launch(values: Values) -> Launch:
        threads = int(values[owners]) * (1 if lanes is None else int(values[lanes]))
        return Launch(-(-threads // block), block)

    return launch


def stored_types(*prefixes: str) -> tuple[Mapping[str, str], ...]:
    """Return the types in which a matrix's entries may be stored, for ``foreseen``.

    ``prefixes`` name the matrices that a kernel gets, all stored alike.
    """
    return tuple(
        {f"{prefix}indices": index for prefix in prefixes}
        | {f"{prefix}values": value for prefix in prefixes}
        for value in ("float64", "float32", "uint8", "uint16")
        for index in ("int32", "uint16")
    )
