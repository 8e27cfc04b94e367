"""One name of another solver's option, and how names and values are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

OTHERS = "*"
"""Stands in a row's values for all others, which are ours."""

ANY: frozenset[str] = frozenset({"*"})
"""Harmless values of an option that changes nothing about the answer or the time it takes."""


@dataclass(frozen=True)
class OtherName:
    """Names of one option in another solver.

    Parameters
    ----------
    solver : str
        Whose names they are.
    names : tuple of str
        As that solver writes them; one that ends in ``/`` stands for all that begin so.
    option : str, optional
        The option of ours; None where there is none.
    values : mapping, optional
        Their values, as lower-case text, and ours. Without it their values are ours, and so are
        those it does not name if it has :data:`OTHERS`.
    harmless : frozenset of str
        Values that mean what is done here anyway, as lower-case text.
    hint : str
        What to do instead, where we have no such option.
    is_word : bool
        Whether the name stands alone on a command line.
    steers : bool
        Whether it says how another solver shall search, not what is asked: it is passed over with
        a warning.
    """

    solver: str
    names: tuple[str, ...]
    option: str | None = None
    values: Mapping[str, Any] | None = None
    harmless: frozenset[str] = frozenset()
    hint: str = ""
    is_word: bool = False
    steers: bool = False

    @cached_property
    def squashed(self) -> frozenset[str]:
        """The names without case and punctuation; those that only begin others are none."""
        return frozenset(squashed(name) for name in self.names if not name.endswith("/"))

    def takes(self, value: Any) -> bool:
        """Whether a value has a meaning here, be it one that is refused."""
        return self.values is None or OTHERS in self.values or value_text(value) in self.values

    def translated(self, value: Any) -> Any:
        """Return our value for one of theirs."""
        return value if self.values is None else self.values.get(value_text(value), value)

    def begins(self, name: str) -> bool:
        """Whether the row stands for all names that begin as this one does."""
        return any(own.endswith("/") and name.startswith(own) for own in self.names)

    def is_harmless(self, value: Any) -> bool:
        """Whether a value asks for what is done here anyway."""
        return self.harmless == ANY or value_text(value) in self.harmless


def squashed(name: str) -> str:
    """Return a name without case, blanks and punctuation."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def value_text(value: Any) -> str:
    """Return a value as the table writes it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().lower()
