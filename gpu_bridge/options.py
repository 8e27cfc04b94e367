"""The option table: every name, type, default, range and sentence, and what is made from it.

Validation, ``gpu-bridge solve --help`` and ``docs/options.md`` come from the declarations in
:class:`Options` and :class:`solvers.core.options.EngineOptions`; nothing is written twice.
"""

from __future__ import annotations

import dataclasses
import math
import os
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from solvers.core.errors import OptionError
from solvers.core.options import EngineOptions, option

METHODS = ("auto", "highs", "pdlp", "simplex", "mip", "knapsack")

RETIRED = {
    ("method", "knapsack-bb"): "knapsack_branch_and_bound.solve(problem)",
    **{
        ("simplex_variant", f"paper-{name}"): f"simplex_variants.solve(problem, variant='{name}')"
        for name in ("cpu", "naive", "resident", "graphs")
    },
}
"""Values that options had once, and the call in ``solvers.papers`` that does what they did."""


@dataclass(frozen=True)
class Options(EngineOptions):
    """All options of a solve, validated. Make one with :func:`make_options`."""

    method: str = option(
        "auto",
        "Engine to use; 'auto' picks by structure, size and device, and lets several race on a "
        "larger linear program.",
        choices=METHODS,
    )
    time_limit: float | None = option(None, "Wall-clock limit in seconds.", low=0.0)
    relax: bool = option(False, "Drop integrality and solve the linear relaxation.")
    load_approximate: bool = option(
        False,
        "Load an approximate point of a linear program into a Pyomo or PuLP model, too; else the "
        "model keeps its values.",
    )
    log: bool = option(False, "Print the log of the solve.")
    log_file: str | None = option(None, "Also write the log to this file.")
    explain: bool = option(
        True, "Find the conflicting constraints and bounds of an infeasible model."
    )


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
        return " or ".join(words[part.strip()] for part in self.type.split("|"))

    @property
    def range(self) -> str:
        """The values the option takes, as a reader wants to see them."""
        if self.choices:
            return ", ".join(self.choices)
        if self.low is None and self.high is None:
            return "true, false" if self.type == "bool" else ""
        low = "" if self.low is None else f"{self.low:.12g}"
        return f"at least {low}" if self.high is None else f"{low} to {self.high:.12g}"


@lru_cache(maxsize=1)
def option_table() -> tuple[OptionRow, ...]:
    """Return the table of all options, sorted by name."""
    rows = []
    for item in dataclasses.fields(Options):
        meta = item.metadata
        choices = tuple(meta["choices"]) if meta["choices"] else None
        rows.append(
            OptionRow(
                item.name,
                str(item.type),
                item.default,
                meta["low"],
                meta["high"],
                choices,
                meta["sentence"],
            )
        )
    return tuple(sorted(rows, key=lambda row: row.name))


def make_options(values: Mapping[str, Any] | None = None, /, **more: Any) -> Options:
    """Validate options given by name and return them as an :class:`Options`.

    Raises
    ------
    OptionError
        For an unknown name (with the nearest valid one), a wrong type or a value out of range.
    """
    given = {**(values or {}), **more}
    table = {row.name: row for row in option_table()}
    clean = {}
    for name, value in given.items():
        row = table.get(name)
        if row is None:
            raise OptionError(_unknown(name, table))
        clean[name] = _check(row, value)
    return Options(**clean)


def _unknown(name: str, table: Mapping[str, OptionRow]) -> str:
    import difflib

    wanted = str(name).lower().replace("-", "_")
    near = difflib.get_close_matches(wanted, table, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'?" if near else f"known are: {', '.join(table)}."
    return f"There is no option '{name}'; {hint}"


def _check(row: OptionRow, value: Any) -> Any:
    kinds = _accepted_types(row.name)
    if value is None:
        if type(None) in kinds:
            return None
        raise OptionError(f"Option '{row.name}' needs a value of type {row.kind}; None was given.")
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()  # a NumPy scalar
    if bool in kinds:
        if isinstance(value, bool):
            return value
    elif int in kinds and not isinstance(value, bool):
        if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
            return _in_range(row, int(value))
    elif float in kinds and isinstance(value, (int, float)) and not isinstance(value, bool):
        return _in_range(row, float(value))
    elif str in kinds and isinstance(value, (str, os.PathLike)):
        return _in_choices(row, os.fsdecode(value))
    elif row.name.endswith("_file") and isinstance(value, bytes):
        return os.fsdecode(value)
    raise OptionError(
        f"Option '{row.name}' needs a value of type {row.kind}; {value!r} is a "
        f"{type(value).__name__}."
    )


def _in_range(row: OptionRow, value: Any) -> Any:
    too_low = row.low is not None and value < row.low
    too_high = row.high is not None and value > row.high
    if too_low or too_high or math.isnan(value):
        raise OptionError(f"Option '{row.name}' must be {row.range}; {value:g} was given.")
    return value


def _in_choices(row: OptionRow, value: str) -> str:
    call = RETIRED.get((row.name, value))
    if call is not None:
        raise OptionError(
            f"Option '{row.name}' no longer takes {value!r}; call solvers.papers.{call} instead."
        )
    if row.choices and not any(_is_choice(value, choice) for choice in row.choices):
        import difflib

        near = difflib.get_close_matches(value.lower(), row.choices, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise OptionError(
            f"Option '{row.name}' must be one of {', '.join(row.choices)}; "
            f"{value!r} was given.{hint}"
        )
    return value


def _is_choice(value: str, choice: str) -> bool:
    """Whether a value is one of the choices, where ``:N`` at the end stands for any number."""
    stem, is_numbered, _ = choice.partition(":N")
    if not is_numbered:
        return value == choice
    start, colon, number = value.partition(":")
    return start == stem and bool(colon) and number.isdecimal() and number.isascii()


@cache
def _accepted_types(name: str) -> tuple[type, ...]:
    hint = _types()[name]
    return typing.get_args(hint) or (hint,)


@cache
def _types() -> dict[str, Any]:
    return typing.get_type_hints(Options)


def parse_text(name: str, text: str) -> Any:
    """Turn the text of a command line's ``--option name=text`` into a value of its type.

    Raises
    ------
    OptionError
        For an unknown name or a text that is not of the option's type.
    """
    table = {row.name: row for row in option_table()}
    if name not in table:
        raise OptionError(_unknown(name, table))
    kinds = _accepted_types(name)
    lowered = text.strip().lower()
    if lowered in ("none", "") and type(None) in kinds:
        return None
    if bool in kinds:
        if lowered in ("true", "yes", "on", "1"):
            return True
        if lowered in ("false", "no", "off", "0"):
            return False
    elif int in kinds or float in kinds:
        try:
            return _check(table[name], float(lowered))
        except ValueError as error:
            if isinstance(error, OptionError):
                raise
    else:
        return _check(table[name], text)
    raise OptionError(f"Option '{name}' needs a value of type {table[name].kind}; got '{text}'.")
