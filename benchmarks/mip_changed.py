"""The mixed-integer engine with parts left out, other constants, or one heuristic at work.

What is changed here is changed for the whole process, before the engine is imported.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from solvers.mip.table import Row

NEIGHBOURHOOD = "neighbourhood:"
"""Before the name of one neighbourhood of large-neighbourhood search."""

KIND = "kind:"
"""Before the name of a kind of heuristics."""

FIRST_POINTS = "fix_and_propagate"
"""Folder of the heuristic that finds first points where another one has the turns."""

WORK_UNIT = 1e6
"""Entries of the matrix in which work is told."""


def change(text: str) -> None:
    """Give a constant another value (``module.NAME=value``), or leave a part out (``-NAME``)."""
    if not text.startswith("-"):
        name, _, value = text.partition("=")
        module, _, constant = name.rpartition(".")
        number = int(value) if re.fullmatch(r"-?\d+", value) else float(value)
        _put(importlib.import_module(module), constant, number)
    elif text.startswith(f"-{NEIGHBOURHOOD}"):
        _leave_out_neighbourhood(text.removeprefix(f"-{NEIGHBOURHOOD}"))
    else:
        _leave_out_heuristic(text[1:])


def give_turns(folder: str) -> None:
    """Let one heuristic have the turns of all solves, by its folder or file."""
    from solvers.mip import heuristic_stage

    _put(heuristic_stage, "TABLE", turns_of(folder))


def _put(owner: object, name: str, value: object) -> None:
    setattr(owner, name, value)


def _leave_out_heuristic(name: str) -> None:
    from solvers.mip import table

    kept = tuple(row for row in table.TABLE if not is_named(row, name))
    if len(kept) == len(table.TABLE):
        raise KeyError(f"There is no heuristic '{name}' in the table.")
    _put(table, "TABLE", kept)


def _leave_out_neighbourhood(name: str) -> None:
    from solvers.mip.heuristics.large_neighbourhood import search

    kept = tuple(one for one in vars(search)["CATALOGUE"] if one.name != name)
    if len(kept) == len(vars(search)["CATALOGUE"]):
        raise KeyError(f"There is no neighbourhood '{name}'.")
    _put(search, "CATALOGUE", kept)


def is_named(row: Row, name: str) -> bool:
    """Whether a row of the table is of a heuristic, or of a kind (``kind:NAME``), of this name."""
    if name.startswith(KIND):
        return row.kind is not None and row.kind.value == name.removeprefix(KIND)
    return name in (row.name, row.heuristic.name)


def turns_of(folder: str) -> tuple[Row, ...]:
    """Return a table in which one heuristic has the turns, by its folder or file.

    Beside it are dives by propagation, which find first points, and the relaxation where it needs
    that. Turns may be as short as they like: a neighbourhood's three seconds would be all of a
    short run.
    """
    from solvers.mip.heuristics.diving.heuristic import SolveRelaxation
    from solvers.mip.table import TABLE

    own = [row for row in TABLE if folder in _folders(row)]
    if not own:
        raise KeyError(f"There is no heuristic in '{folder}'.")
    others = [row for row in TABLE if FIRST_POINTS in _folders(row) and row not in own]
    if any(row.heuristic.needs.relaxation for row in own):
        others += [row for row in TABLE if isinstance(row.heuristic, SolveRelaxation)]
    rows = dict.fromkeys((*own, *others))
    return tuple(dataclasses.replace(row, shortest=0.0) for row in TABLE if row in rows)


def _folders(row: Row) -> list[str]:
    return type(row.heuristic).__module__.split(".")


class PointsByWork:
    """Points of solves that count work, as they come, by the work done until then.

    Points before the heuristics begin have a work of zero.
    """

    def __init__(self) -> None:
        from solvers.mip import heuristic_stage
        from solvers.mip.budget import Budget
        from solvers.mip.solutions.incumbents import IncumbentStore

        self.events: list[tuple[float, float]] = []
        self._budget: Budget | None = None
        record = IncumbentStore.record

        def make(*given: Any, **named: Any) -> Budget:
            self._budget = Budget(*given, **named)
            return self._budget

        def note(store: IncumbentStore, x: np.ndarray, source: str) -> bool:
            is_better = record(store, x, source)
            if is_better:
                work = self._budget.work if self._budget is not None else 0.0
                self.events.append((work / WORK_UNIT, store.pool.objective))
            return is_better

        _put(heuristic_stage, "Budget", make)
        _put(IncumbentStore, "record", note)

    def begin(self) -> None:
        """Forget what was before: another solve begins."""
        self.events.clear()
        self._budget = None
