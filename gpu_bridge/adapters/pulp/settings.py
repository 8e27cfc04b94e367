"""PuLP's option names in terms of the option table, checked in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpu_bridge.options import Options, make_options, option_table, parse_text
from solvers.core.errors import OptionError

PULP_NAMES = {
    "timeLimit": "time_limit",
    "gapRel": "rel_gap",
    "gapAbs": "abs_gap",
    "threads": "threads",
    "maxNodes": "node_limit",
    "logPath": "log_file",
}
"""PuLP's own keywords and the options of the table that they set."""

WARM_START = "warmStart"


def make_settings(
    mip: bool,
    msg: bool,
    time_limit: float | None,
    texts: Sequence[Any],
    named: Mapping[str, Any],
) -> tuple[Options, bool]:
    """Return the options of a solve, and whether it starts from the variables' values.

    Parameters
    ----------
    mip, msg, time_limit
        The attributes every PuLP solver has.
    texts : sequence of str
        PuLP's list ``options``: each item ``"name=value"`` with a name of the option table.
    named : mapping
        Keywords: PuLP's names and those of the option table.

    Raises
    ------
    OptionError
        An unknown name (with the nearest valid one), a wrong type, a value out of range, or one
        option given under two names.
    """
    values: dict[str, Any] = {"log": bool(msg), "relax": not mip}
    given: dict[str, str] = {}
    warm_start = False
    items = [*named.items(), *map(_split, texts)]
    if time_limit is not None:
        items.append(("timeLimit", time_limit))
    known = {row.name for row in option_table()}
    for name, value in items:
        if value is None or (name == "logPath" and value == ""):
            continue
        if name == WARM_START:
            warm_start = _flag(name, value)
            continue
        target = PULP_NAMES.get(name, name)
        if target not in known:
            raise OptionError(_unknown(name, known))
        if given.setdefault(target, name) != name:
            raise OptionError(f"'{given[target]}' and '{name}' set the same option; give one.")
        values[target] = value
    return make_options(values), warm_start


def _split(text: Any) -> tuple[str, Any]:
    name, separator, value = str(text).partition("=")
    if not separator:
        raise OptionError(f"The list 'options' takes texts like 'method=pdlp'; it has {text!r}.")
    name = name.strip().lstrip("-").replace("-", "_")
    return name, parse_text(name, value)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, int)):
        raise OptionError(f"Option '{name}' needs True or False; {value!r} was given.")
    return bool(value)


def _unknown(name: str, known: set[str]) -> str:
    import difflib

    names = {option.lower(): option for option in [*known, *PULP_NAMES, WARM_START, "mip", "msg"]}
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    hint = (
        f"did you mean '{names[near[0]]}'?" if near else f"known are: {', '.join(names.values())}."
    )
    return f"GPUHEUR has no option '{name}'; {hint}"
