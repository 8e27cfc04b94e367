"""One option and the values it takes: types, ranges, choices, and values given as text."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from solvers.core.errors import OptionError

ENDLESS = 2**62
"""From here on a limit is none; solvers write it as 1e20, 1e100 or infinity."""

_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_TYPES = {"str": str, "int": int, "float": float, "bool": bool}


@dataclass(frozen=True)
class OptionRow:
    """One row of the option table."""

    name: str
    type: str
    default: Any
    low: float | None
    high: float | None
    choices: tuple[str, ...] | None
    sentence: str

    @property
    def kind(self) -> str:
        """The type in words."""
        words = {"str": "text", "int": "integer", "float": "number", "bool": "flag", "None": "none"}
        return " or ".join(words[part] for part in self.type.split(" | "))

    @property
    def range(self) -> str:
        """The values the option takes, as a reader wants to see them."""
        if self.choices:
            flags = ("true", "false") if self.type.startswith("bool") else ()
            return ", ".join([*flags, *self.choices])
        if self.low is None and self.high is None:
            return "true, false" if self.type == "bool" else ""
        low = "" if self.low is None else f"{self.low:.12g}"
        return f"at least {low}" if self.high is None else f"{low} to {self.high:.12g}"

    @cached_property
    def may_be_none(self) -> bool:
        """Whether None is a value."""
        return "None" in self.type.split(" | ")

    @cached_property
    def plain_types(self) -> frozenset[Any]:
        """The types of values that are most likely meant as ours."""
        found = {_TYPES[part] for part in self.type.split(" | ") if part != "None"}
        return frozenset(found | {int} if float in found else found)


class Meaning(NamedTuple):
    """The option that is meant, empty where nothing changes, its value, and a line for the log."""

    option: str
    value: Any
    name: str
    note: str = ""


def check_value(row: OptionRow, value: Any, name: str | None = None) -> Any:
    """Return a value as the option has it.

    Numbers and flags may be text, as on a command line, and flags 0 and 1.

    Parameters
    ----------
    row : OptionRow
    value : Any
    name : str, optional
        What the caller calls the option.

    Raises
    ------
    OptionError
        A wrong type, or a value out of range.
    """
    own = name is None or name == row.name
    label = f"Option '{row.name}'" if own else f"Option '{name}', {row.name} here,"
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()  # a NumPy scalar
    if row.name == "device" and isinstance(value, (list, tuple)):
        value = _joined(value)
    read = _from_text(row, value) if isinstance(value, str) else value
    if read is None:
        if row.may_be_none:
            return None
        raise OptionError(f"{label} needs a value of type {row.kind}; {value!r} was given.")
    kinds = row.type.split(" | ")
    is_number = isinstance(read, (int, float)) and not isinstance(read, bool)
    if "bool" in kinds and (isinstance(read, bool) or (is_number and read in (0, 1))):
        return bool(read)
    is_limit = row.may_be_none and ("int" in kinds or "float" in kinds)
    if is_number and is_limit and read >= ENDLESS:
        return None
    if "int" in kinds and is_number:
        if float(read).is_integer() or isinstance(read, int):
            return _in_range(row, int(read), label)
    elif "float" in kinds and is_number:
        return _in_range(row, float(read), label)
    elif "str" in kinds and isinstance(read, (str, os.PathLike)):
        return _in_choices(row, os.fsdecode(read), label)
    elif row.name.endswith("_file") and isinstance(read, bytes):
        return os.fsdecode(read)
    raise OptionError(
        f"{label} needs a value of type {row.kind}; {value!r} is a {type(value).__name__}."
    )


def _joined(devices: Sequence[Any]) -> Any:
    """Return several GPUs as one text: 'cuda:0,1' for ['cuda:0', 'cuda:1'], else the first."""
    names = ["cuda:0" if device == "cuda" else str(device) for device in devices]
    if all(_is_choice(name, "cuda:N") for name in names) and names:
        return "cuda:" + ",".join(name.partition(":")[2] for name in names)
    return ", ".join(names)


def _from_text(row: OptionRow, text: str) -> Any:
    """Return what a text says for an option of this type, the text itself if nothing."""
    lowered = text.strip().lower()
    if "bool" in row.type and lowered in _WORDS:
        return _WORDS[lowered]
    if "str" in row.type.split(" | "):
        return str(text)
    if lowered in ("none", "") and row.may_be_none:
        return None
    return number_or_text(text)


def number_or_text(text: str) -> int | float | str:
    """Return the number that a text stands for, else the text."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _in_range(row: OptionRow, value: Any, label: str) -> Any:
    too_low = row.low is not None and value < row.low
    too_high = row.high is not None and value > row.high
    if too_low or too_high or math.isnan(value):
        raise OptionError(f"{label} must be {row.range}; {value:g} was given.")
    return value


def _in_choices(row: OptionRow, value: str, label: str) -> str:
    if row.choices and not any(_is_choice(value, choice) for choice in row.choices):
        import difflib

        near = difflib.get_close_matches(value.lower(), row.choices, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise OptionError(f"{label} must be one of {row.range}; {value!r} was given.{hint}")
    return value


def _is_choice(value: str, choice: str) -> bool:
    """Whether a value is one of the choices; ``:N`` at the end is any number, ``:N,M`` several."""
    stem, is_numbered, several = choice.partition(":N")
    if not is_numbered:
        return value == choice
    start, colon, found = value.partition(":")
    numbers = found.split(",")
    fits = len(numbers) > 1 if several else len(numbers) == 1
    are_numbers = all(number.isdecimal() and number.isascii() for number in numbers)
    return start == stem and bool(colon) and fits and are_numbers
