"""Tables of cases that one test goes through."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at(*case: object) -> Iterator[None]:
    """Name the case of a table that fails: pytest shows what is printed beside a failure."""
    try:
        yield
    except BaseException:
        print("in the case of", *case)
        raise
