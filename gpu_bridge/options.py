"""The option table: every name, type, default, range and sentence, and what is made from it.

Validation, ``gpu-bridge solve --help`` and ``docs/options.md`` come from the declarations in
:class:`Options` and :class:`solvers.core.options.EngineOptions`; nothing is written twice.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gpu_bridge.option_values import Meaning, OptionRow, check_value
from solvers.core.errors import OptionError
from solvers.core.options import EngineOptions, option

if TYPE_CHECKING:
    from gpu_bridge.option_translation import Refusal

HOW_TO_GO_ON = "With unknown_options='warn' such options are ignored."

METHODS = ("auto", "highs", "pdlp", "ipm", "simplex", "mip", "knapsack")


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
    time_limit_each: float | None = option(
        None,
        "Wall-clock limit in seconds for each of many models that is solved by itself.",
        low=0.0,
    )
    cluster: str | None = option(
        None,
        "Ray cluster that solves many models, or one mixed-integer model in many ways at once: its "
        "address, 'local' for this machine, or 'auto' for the one that Ray finds or else 'local'.",
    )
    relax: bool = option(False, "Drop integrality and solve the linear relaxation.")
    load_approximate: bool = option(
        False,
        "Load an approximate point of a linear program into the model, too; else the model keeps "
        "its values.",
    )
    pool_search: str = option(
        "found",
        "Which points of a mixed-integer model the pool holds: those 'found' on the way to the "
        "answer, or the 'best' there are, each proven, which takes a solve for each.",
        choices=("found", "best"),
    )
    log: bool = option(False, "Print the log of the solve.")
    log_file: str | None = option(None, "Also write the log to this file.")
    explain: bool | str = option(
        True,
        "Find the conflicting constraints and bounds of an infeasible model; 'relax' also finds "
        "which would have to give way, and by how much.",
        choices=("relax",),
    )
    unknown_options: str = option(
        "refuse",
        "What becomes of options that mean nothing here: 'warn' goes on without them.",
        choices=("refuse", "warn"),
    )
    notes: tuple[str, ...] = dataclasses.field(default=(), compare=False, repr=False)
    """What the log says about names of other solvers; no option."""


@lru_cache(maxsize=1)
def option_table() -> tuple[OptionRow, ...]:
    """Return the table of all options, sorted by name."""
    rows = []
    for item in dataclasses.fields(Options):
        meta = item.metadata
        if "sentence" not in meta:
            continue
        choices = tuple(meta["choices"]) if meta["choices"] else None
        limits, sentence = (meta["low"], meta["high"], choices), meta["sentence"]
        rows.append(OptionRow(item.name, str(item.type), item.default, *limits, sentence))
    return tuple(sorted(rows, key=lambda row: row.name))


@lru_cache(maxsize=1)
def option_rows() -> Mapping[str, OptionRow]:
    """Return the rows of the table by name."""
    return MappingProxyType({row.name: row for row in option_table()})


def make_options(*sources: Mapping[str, Any] | None, **more: Any) -> Options:
    """Validate options given by name and return them as an :class:`Options`.

    Parameters
    ----------
    *sources : mapping or None
        Names, ours or those of :mod:`gpu_bridge.option_names`, and values, which may be text. What
        a later source says goes before what an earlier one says, whatever names they use.
    **more
        The last source.

    Raises
    ------
    OptionError
        For an unknown name (with the nearest valid one), a wrong type, a value out of range, or
        two names of one option that say different things in one source.

    Warns
    -----
    UserWarning
        Once, of all options that are ignored: those that steer the search of another solver, and
        with ``unknown_options='warn'`` all that mean nothing here.
    """
    settings: dict[str, Meaning] = {}
    refused: list[Refusal] = []
    for source in (*sources, more):
        if source:
            settings.update(_read_source(source, refused))
    values = {setting.option: setting.value for setting in settings.values() if setting.option}
    notes = [setting.note for setting in settings.values() if setting.note]
    if refused:
        firm = [refusal.reason for refusal in refused if not refusal.steers]
        if firm and values.get("unknown_options") != "warn":
            raise OptionError(f"{firm[0]} {HOW_TO_GO_ON}")
        reasons = [refusal.reason for refusal in refused]
        warnings.warn(f"Options are ignored. {' '.join(reasons)}", stacklevel=1)
        notes += [f"ignored: {reason}" for reason in reasons]
    return Options(**values, notes=tuple(notes))


_COMBINED = {"tolerance": min, "log": min}
"""Options that have several names in one solver, and how their values become one."""


def _read_source(source: Mapping[str, Any], refused: list[Refusal]) -> dict[str, Meaning]:
    """Return the settings of one source, and add why others are refused."""
    found: dict[str, Meaning] = {}
    rows = option_rows()
    for name, value in source.items():
        setting = _plain(rows.get(name), value)
        if setting is None:
            from gpu_bridge.option_translation import Refusal, translate

            meaning = translate(str(name), value, rows)
            if isinstance(meaning, Refusal):
                refused.append(meaning)
                continue
            setting = meaning
        key = setting.option or f"{setting.name} "
        other = found.get(key)
        found[key] = setting if other is None else _merged(other, setting)
    return found


def _plain(row: OptionRow | None, value: Any) -> Meaning | None:
    """Return what a name and a value of ours mean, None where more has to be looked at."""
    if row is None or value.__class__ not in row.plain_types:
        return None
    try:
        return Meaning(row.name, check_value(row, value), row.name)
    except OptionError:
        return None


def _merged(one: Meaning, other: Meaning) -> Meaning:
    """Return what two names of an option in one source say together."""
    if one.value == other.value:
        return one
    combine = _COMBINED.get(one.option)
    if combine is None:
        raise OptionError(
            f"'{one.name}' and '{other.name}' set the same option, '{one.option}', to "
            f"{one.value} and {other.value}; give one."
        )
    notes = "; ".join(note for note in (one.note, other.note) if note)
    return one._replace(value=combine(one.value, other.value), note=notes)
