"""Tables of cases that one test goes through."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from typing import Any

Test = Callable[..., None]


def through(names: str | tuple[str, ...], table: Collection[Any]) -> Callable[[Test], Test]:
    """Let one test go through a table, as ``pytest.mark.parametrize`` makes a test of each row.

    It ends at the first row that fails, which pytest shows beside the failure. Fixtures are made
    once for the whole table.

    Parameters
    ----------
    names : str or tuple of str
        The argument, or the arguments, that a row gives.
    table : collection
        The rows: a value each, or a tuple of as many as there are names.
    """
    taken = (names,) if isinstance(names, str) else names
    assert len(table), "a table without rows tests nothing"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def go_through(**fixtures: Any) -> None:
            for row in table:
                case = dict(zip(taken, (row,) if isinstance(names, str) else row, strict=True))
                try:
                    test(**fixtures, **case)
                except BaseException:
                    print("in the case of", ", ".join(f"{key}={case[key]}" for key in taken))
                    raise

        parameters = inspect.signature(test).parameters
        assert {*taken} <= {*parameters}, f"{test.__name__} takes no {taken}"
        left = [parameters[name] for name in parameters if name not in taken]
        go_through.__signature__ = inspect.Signature(left)  # type: ignore[attr-defined]
        return go_through

    return decorate
