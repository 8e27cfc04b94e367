"""What a PuLP solver was told, in terms of the option table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpu_bridge.options import Options, make_options, option_rows
from solvers.core.errors import OptionError

WARM_START = frozenset({"warmstart", "mip_start", "warm_start"})
"""Names of the switch for a warm start, in lower case."""

NOT_GIVEN = {"logPath": ""}
"""Values by which PuLP's solvers mean that an option is not given, besides None."""


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
    texts : sequence of str or (str, value)
        PuLP's list ``options``, as :func:`listed_options` reads it.
    named : mapping
        Keywords: PuLP's names, those of the option table, and those of other solvers.

    Raises
    ------
    OptionError
        An unknown name (with the nearest valid one), a wrong type, a value out of range, or one
        option given under two names with two values.
    """
    given = {
        name: value
        for name, value in named.items()
        if not (value is None or (isinstance(value, str) and NOT_GIVEN.get(name) == value))
    }
    switches = {name: given.pop(name) for name in [*given] if name.lower() in WARM_START}
    warm_start = any(_flag(name, value) for name, value in switches.items())
    if time_limit is not None:
        given["timeLimit"] = time_limit
    for name, value in listed_options(texts) if texts else ():
        if given.setdefault(name, value) != value:
            raise OptionError(f"Option '{name}' is given as {given[name]!r} and {value!r}.")
    return make_options({"log": bool(msg), "relax": not mip}, given), warm_start


def listed_options(items: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Give names and values from a list as PuLP's solvers take it.

    Each solver has a form of its own: ``["method=pdlp"]``, CBC's ``["sec 10", "ratio 0.01"]`` or
    ``["sec", "10"]``, GLPK's ``["--tmlim", "10"]``, CPLEX's ``["set timelimit 10"]`` and Gurobi's
    ``[("TimeLimit", 10)]``.

    Raises
    ------
    OptionError
        A name without a value, which only some may be.
    """
    words: list[str] = []
    for item in items:
        if isinstance(item, (tuple, list)) and len(item) == 2:
            yield str(item[0]), item[1]
            continue
        text = str(item).strip()
        name, equals, value = text.partition("=")
        if equals and len(name.split()) == 1:
            yield _bare(name), value
        elif text.startswith("set ") and len(text.split()) > 2:
            *path, value = text.split()[1:]
            yield " ".join(path), value
        else:
            words += text.split()
    yield from _pairs(words)


def _pairs(words: list[str]) -> Iterator[tuple[str, Any]]:
    """Give names and values from words that follow one another; ``-name`` is no value."""
    from gpu_bridge.option_translation import is_known, stands_alone

    position = 0
    while position < len(words):
        name = _bare(words[position].rstrip(":"))
        value = words[position + 1] if position + 1 < len(words) else "-"
        alone = stands_alone(name) and (value == "-" or is_known(value, option_rows()))
        if not alone and not _is_flag(value):
            yield name, value
            position += 2
        elif stands_alone(name):
            yield name, ""  # not True, which is a value of our options: of `relax`, for one
            position += 1
        else:
            raise OptionError(
                f"The list 'options' takes names with values, such as 'method=pdlp' or "
                f"'sec 10'; {name!r} has none."
            )


def _is_flag(word: str) -> bool:
    """Whether a word is a name with dashes before it, and not a negative number."""
    return word.startswith("-") and not word.lstrip("-")[:1].isdigit()


def _bare(name: str) -> str:
    name = name.strip()
    dashes = len(name) - len(name.lstrip("-"))
    return name[dashes:].replace("-", "_") if dashes else name


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, int)):
        raise OptionError(f"Option '{name}' needs True or False; {value!r} was given.")
    return bool(value)
