"""What an option means that is called or spelled as another solver has it.

A name is looked for in four steps: ours as it is written, another solver's as it is written, ours
and then others' without regard to case and punctuation. Of what is found in a step the first whose
values fit is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from gpu_bridge.option_names import (
    INTERFACES,
    TABLE,
    OtherName,
    squashed,
    value_text,
)
from gpu_bridge.option_values import Meaning, OptionRow, check_value, number_or_text
from solvers.core.errors import OptionError

TOLERANCES = frozenset({"tolerance", "integrality_tolerance"})


class Refusal(NamedTuple):
    """Why an option means nothing here, and whether it may be passed over all the same."""

    reason: str
    steers: bool = False


def translate(name: str, value: Any, rows: Mapping[str, OptionRow]) -> Meaning | Refusal:
    """Return what a name and a value mean.

    Raises
    ------
    OptionError
        The name is known, but takes no such value.
    """
    failure: OptionError | None = None
    absent: OtherName | None = None
    for candidate in _candidates(name, rows):
        if candidate.option is None:
            if candidate.is_harmless(value):
                note = f"{_shown(name, value)} of {candidate.solver} changes nothing here"
                return Meaning("", None, name, "" if candidate.solver in INTERFACES else note)
            # a word has no value
            if failure is None or value_text(value) == "" or not candidate.is_word:
                absent = absent or candidate
            continue
        row = rows[candidate.option]
        try:
            if not candidate.takes(value):
                raise OptionError(_takes_only(candidate, name, value))
            meant = _kept_by(row, candidate, candidate.translated(value))
            checked = check_value(row, meant, name)
        except OptionError as error:
            failure = failure or error
            continue
        return Meaning(row.name, checked, name, _note(candidate, name, value, checked))
    if absent is not None:
        theirs = f"{absent.solver}'s option {_shown(name, value)}"
        return Refusal(f"{theirs} has no counterpart here; {absent.hint}.", absent.steers)
    if failure is not None:
        raise failure
    return Refusal(_unknown(name, rows))


def is_known(name: str, rows: Mapping[str, OptionRow]) -> bool:
    """Whether a name is one of ours or of another solver."""
    return any(True for _ in _candidates(name, rows))


def stands_alone(name: str) -> bool:
    """Whether a name of another solver needs no value on a command line."""
    return any(row.is_word for row in _exact_rows(name) or _near_rows(name))


@cache
def _exact_rows(name: str) -> tuple[OtherName, ...]:
    """Return the rows that have a name in this very spelling."""
    return tuple(row for row in TABLE if name in row.names)


@cache
def _near_rows(name: str) -> tuple[OtherName, ...]:
    """Return the rows that have a name, but for case and punctuation, or names that begin so."""
    key = squashed(name)
    near = tuple(row for row in TABLE if key in row.squashed)
    return near or tuple(row for row in TABLE if row.begins(name))


def _candidates(name: str, rows: Mapping[str, OptionRow]) -> Iterator[OtherName]:
    if name in rows:
        yield OtherName("", (name,), name)
    exact = _exact_rows(name)
    yield from exact
    if exact or name in rows:
        return
    key = squashed(name)
    yield from (OtherName("", (own,), own) for own in rows if squashed(own) == key)
    yield from _near_rows(name)


def _takes_only(candidate: OtherName, name: str, value: Any) -> str:
    known = ", ".join(candidate.values or ())
    return f"Option '{name}' of {candidate.solver} takes {known} here; {value!r} was given."


def _kept_by(row: OptionRow, candidate: OtherName, value: Any) -> Any:
    """Return a value, of another solver's tolerances the loosest of ours where it is looser.

    Whatever keeps the one keeps the other.
    """
    if not candidate.solver or row.name not in TOLERANCES or row.high is None:
        return value
    number = number_or_text(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return value
    return row.high if number > row.high else value


def _note(candidate: OtherName, name: str, value: Any, checked: Any) -> str:
    """Return a line for the log, empty where name and value are ours."""
    if candidate.solver in INTERFACES or name == candidate.option:
        return ""
    rows = _exact_rows(name) or _near_rows(name)
    solvers = dict.fromkeys(row.solver for row in rows if row.option == candidate.option)
    owner = f" of {' and '.join(solvers)}" if candidate.solver else ""
    as_given = candidate.values is None and (
        candidate.option not in TOLERANCES or float(value) == checked
    )
    if as_given or value_text(value) == value_text(checked):
        return f"option {name}{owner} is {candidate.option} here"
    return f"option {_shown(name, value)}{owner} is {candidate.option}={value_text(checked)} here"


def _shown(name: str, value: Any) -> str:
    text = value_text(value)
    return f"{name}={text}" if text else name


def _unknown(name: str, rows: Mapping[str, OptionRow]) -> str:
    import difflib

    meant = {squashed(their): row.option for row in TABLE if row.option for their in row.names}
    meant |= {squashed(own): own for own in rows}
    near = difflib.get_close_matches(squashed(name), meant, n=1, cutoff=0.6)
    hint = f"did you mean '{meant[near[0]]}'?" if near else f"known are: {', '.join(rows)}."
    return f"There is no option '{name}'; {hint}"
