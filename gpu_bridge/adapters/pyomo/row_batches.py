"""Rows that come and go: constraints that join later are read by themselves.

Constraints are kept in batches in the order of their arrival. A batch takes in the one before it
unless that is at least twice as large, so there are never many, and a constraint is read again as
often as the number of rows doubles. What is removed leaves its place in a batch empty, until half
of the batch is.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from operator import is_
from typing import Any

import numpy as np

from gpu_bridge.adapters.pyomo.collect import RowCollector
from gpu_bridge.adapters.pyomo.rows import ModelRows, RowReader


class RowBatches:
    """The objective and the constraints of an instance as rows."""

    def __init__(self) -> None:
        self.set_objective(None)
        self._batches: list[_Batch] = []
        self._parts: list[ModelRows] = []
        self._whole: ModelRows | None = None

    def set_objective(self, objective: Any | None) -> None:
        """Make the expression of an objective the first row; None for an empty one."""
        collected = RowCollector()
        collected.add_objective(objective)
        self._objective = RowReader(collected)

    def add(self, constraints: list[Any]) -> None:
        """Add active constraints, none of which is there already."""
        if not constraints:
            return
        while self._batches and len(self._batches[-1]) < 2 * len(constraints):
            constraints = [*self._batches.pop().constraints, *constraints]
        self._batches.append(_Batch(constraints))

    def remove(self, keys: set[int]) -> None:
        """Remove the constraints with these ``id``; others are not missed."""
        if not keys:
            return
        kept = []
        for batch in self._batches:
            batch.remove(keys)
            if len(batch) < batch.places / 2:
                batch = _Batch(batch.constraints)
            if len(batch):
                kept.append(batch)
        self._batches = kept

    def read(self) -> ModelRows:
        """Return all rows as they are now, in lists of the last look where nothing came or went."""
        parts = [self._objective.read(), *(batch.reader.read() for batch in self._batches)]
        last, before = self._whole, self._parts
        if last is None or not _have_same_entries(parts, before):
            variables = list(chain.from_iterable(part.variables for part in parts))
            rows = list(chain.from_iterable(part.rows for part in parts))
            begins = np.cumsum([0, *(len(part.rows) for part in parts[:-1])])
            row_of = np.concatenate(
                [part.row_of + begin for part, begin in zip(parts, begins.tolist(), strict=True)]
            )
        else:
            variables, rows, row_of = last.variables, last.rows, last.row_of
        self._parts = parts
        self._whole = ModelRows(
            rows=rows,
            coefficients=np.concatenate([part.coefficients for part in parts]),
            variables=variables,
            row_of=row_of,
            constants=np.concatenate([part.constants for part in parts]),
            lower=np.concatenate([part.lower for part in parts]),
            upper=np.concatenate([part.upper for part in parts]),
        )
        return self._whole


class _Batch:
    """Constraints that were read together, of which some may have gone."""

    def __init__(self, constraints: Iterable[Any]) -> None:
        collected = RowCollector()
        collected.add_constraints(constraints)
        self._place = {id(row): place for place, row in enumerate(collected.rows)}
        self._rows = collected.rows
        self.places = len(collected.rows)
        self.reader = RowReader(collected)

    def __len__(self) -> int:
        return len(self._place)

    @property
    def constraints(self) -> list[Any]:
        """Those that are still there, in their order."""
        return [self._rows[place] for place in self._place.values()]

    def remove(self, keys: set[int]) -> None:
        """Drop the constraints with these ``id`` as far as they are here."""
        gone = keys & self._place.keys()
        if gone:
            self.reader.drop({self._place.pop(key) for key in gone})


def _have_same_entries(parts: list[ModelRows], others: list[ModelRows]) -> bool:
    return len(parts) == len(others) and all(
        map(is_, [part.variables for part in parts], [part.variables for part in others])
    )
