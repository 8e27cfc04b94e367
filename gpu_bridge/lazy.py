"""Sequences whose members are made when somebody asks for them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class LazySequence(Sequence[T]):
    """A sequence of which a class says how long it is and how a member is made."""

    @abstractmethod
    def _at(self, index: int) -> T:
        """Return the member at a place from 0 on."""

    def __iter__(self) -> Iterator[T]:
        return map(self._at, range(len(self)))

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        size = len(self)
        if isinstance(index, slice):
            return [self._at(k) for k in range(*index.indices(size))]
        if not -size <= index < size:
            raise IndexError(f"There are {size} members, so there is no number {index}.")
        return self._at(int(index) % size)


class MadeSequence(LazySequence[T]):
    """Members that a function makes of their places; it can be pickled if the function can."""

    def __init__(self, size: int, make: Callable[[int], T]) -> None:
        self._size, self._make = size, make

    def __len__(self) -> int:
        return self._size

    def _at(self, index: int) -> T:
        return self._make(index)
