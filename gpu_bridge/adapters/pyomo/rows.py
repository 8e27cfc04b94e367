"""All rows of a model as arrays: the plain ones read in bulk, the others compiled one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import is_
from typing import Any, Protocol

import numpy as np

from gpu_bridge.adapters.pyomo.collect import RowCollector, describe
from gpu_bridge.adapters.pyomo.compiler import RowCompiler
from gpu_bridge.adapters.pyomo.entries import Numbers, RowArray, Terms, sides
from solvers.core.problem import FloatArray


@dataclass(frozen=True, eq=False)
class Entries:
    """Rows ``lower <= coefficients * variables + constant <= upper`` as parallel arrays."""

    coefficients: FloatArray
    variables: list[Any]
    row_of: RowArray
    """The entries, (k,) each; a variable may appear more than once in a row."""
    constants: FloatArray
    lower: FloatArray
    upper: FloatArray
    """(m,) each."""

    def are_last_of(self, rows: ModelRows, begin: int) -> bool:
        """Whether others have the same variables in the same rows, from an entry to the end."""
        others = rows.variables[begin:]
        return (
            len(others) == len(self.variables)
            and all(map(is_, self.variables, others))
            and np.array_equal(self.row_of, rows.row_of[begin:])
        )


@dataclass(frozen=True, eq=False)
class ModelRows(Entries):
    """All rows of a model."""

    rows: list[Any]
    """Objective (or None) and constraint data, (m,)."""
    before: list[Any] | None = None
    same: int = 0
    same_rows: int = 0
    """The variables of the last look, if nothing has gone since, of which the first ``same`` ones
    are those of this one, in the first ``same_rows`` rows."""


class Rows(Protocol):
    """What rows are read from, again and again; the objective is the first of them."""

    def read(self) -> ModelRows:
        """Return the rows as they are now, with the lists of the last look where they fit."""
        ...


class RowReader:
    """Turns collected rows into arrays; where they are read again, only what holds a parameter.

    Rows of unusual shape are compiled at each look, because a compiled row may depend on much:
    named expressions, fixed variables, parameters. So are rows from when on a named expression of
    theirs stands for something else.
    """

    def __init__(self, collected: RowCollector) -> None:
        self._rows = rows = collected.rows
        self._label = label = row_label(rows)
        every_row = np.arange(len(rows), dtype=np.int32)
        self._added = Terms(collected.terms, collected.lengths, every_row, label)
        subtracted_rows = np.array(collected.subtracted_rows, dtype=np.int32)
        self._subtracted = Terms(
            collected.subtracted_terms, collected.subtracted_lengths, subtracted_rows, label
        )
        self._sides = list(collected.lower), list(collected.upper)
        strange = self._added.unusual | self._subtracted.unusual
        self._leave_out(strange)  # the compiler tells their sides
        self._unusual = sorted({*collected.unusual, *strange})

    def drop(self, rows: set[int]) -> None:
        """Leave rows out of all later looks; their places stay, without entries and sides."""
        self._leave_out(rows)
        self._unusual = [row for row in self._unusual if row not in rows]
        self.__dict__.pop("_are_fixed", None)

    def _leave_out(self, rows: set[int]) -> None:
        self._added.leave_out(rows)
        self._subtracted.leave_out(rows)
        label = self._label
        lower, upper = self._sides
        for row in rows:
            lower[row] = upper[row] = None
        self._lower = sides(lower, -np.inf, lambda k: f"The lower side of {label(k)}")
        self._upper = sides(upper, np.inf, lambda k: f"The upper side of {label(k)}")
        self._last: ModelRows | None = None
        self._numbers: tuple[FloatArray, ...] = ()

    @cached_property
    def _are_fixed(self) -> bool:
        """Whether nothing that is read can change."""
        parts = self._added, self._subtracted, self._lower, self._upper
        return not self._unusual and all(part.are_fixed for part in parts)

    def read(self) -> ModelRows:
        """Return the rows as they are now; raises what :func:`convert` says.

        They are the very rows of the last look where no number has changed.
        """
        if self._last is not None and self._are_fixed:
            return self._last
        outdated = self._added.outdated() | self._subtracted.outdated()
        if outdated:
            self._leave_out(outdated)
            self._unusual = sorted({*self._unusual, *outdated})
        last, numbers = self._last, self._read_numbers()
        same = len(numbers) == len(self._numbers) and all(map(is_, numbers, self._numbers))
        self._numbers = numbers
        if last is not None and same and not self._unusual:
            return last
        added, subtracted, _, _, lower, upper = numbers
        constants = np.zeros(len(self._rows))
        self._added.add_constants(constants, 1.0)
        self._subtracted.add_constants(constants, -1.0)
        if not self._subtracted.variables and not self._unusual:
            return self._made(added, None, constants, lower, upper)
        parts = [added, -subtracted]
        if not self._unusual:
            return self._made(np.concatenate(parts), None, constants, lower, upper)
        compiled = self._compile()
        lower, upper = lower.copy(), upper.copy()
        lower[self._unusual], upper[self._unusual] = compiled.lower, compiled.upper
        constants[self._unusual] = compiled.constants
        parts.append(compiled.coefficients)
        return self._made(np.concatenate(parts), compiled, constants, lower, upper)

    def _read_numbers(self) -> tuple[FloatArray, ...]:
        """Return all numbers of the plain rows, arrays of the last look where none has changed."""
        of_terms = self._added, self._subtracted
        numbers = [terms.coefficients.read() for terms in of_terms]
        numbers += [terms.constants.read() for terms in of_terms]
        return *numbers, self._lower.read(), self._upper.read()

    def _made(
        self,
        coefficients: FloatArray,
        compiled: Entries | None,
        constants: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> ModelRows:
        """Return rows that share variables with the last ones where these are the same."""
        last = self._last
        plain = len(self._added.variables) + len(self._subtracted.variables)
        if last is None or (compiled is not None and not compiled.are_last_of(last, plain)):
            variables, row_of = self._added.variables, self._added.rows
            if self._subtracted.variables:
                variables = variables + self._subtracted.variables
                row_of = np.concatenate((row_of, self._subtracted.rows))
            if compiled is not None:
                variables = variables + compiled.variables
                row_of = np.concatenate((row_of, compiled.row_of))
        else:
            variables, row_of = last.variables, last.row_of
        self._last = ModelRows(coefficients, variables, row_of, constants, lower, upper, self._rows)
        return self._last

    def _compile(self) -> Entries:
        compiler = RowCompiler()
        forms = [compiler.compile(self._rows[row]) for row in self._unusual]
        lengths = [len(form.variables) for form in forms]
        row_of = np.repeat(np.array(self._unusual, dtype=np.int32), lengths)
        label, unusual = self._label, self._unusual
        coefficients = Numbers(
            list(chain.from_iterable(form.coefficients for form in forms)),
            lambda k: f"A coefficient of {label(int(row_of[k]))}",
        )
        lower = [form.lower for form in forms]
        upper = [form.upper for form in forms]
        return Entries(
            coefficients=coefficients.read(),
            variables=list(chain.from_iterable(form.variables for form in forms)),
            row_of=row_of,
            constants=np.array([form.constant for form in forms], dtype=np.float64),
            lower=sides(lower, -np.inf, lambda k: f"The lower side of {label(unusual[k])}").read(),
            upper=sides(upper, np.inf, lambda k: f"The upper side of {label(unusual[k])}").read(),
        )


def row_label(rows: list[Any]) -> Callable[[int], str]:
    """Return a function that names a row within a sentence."""

    def label(row: int) -> str:
        name = describe(rows[row])
        return name[0].lower() + name[1:]

    return label


# Rows that come and go: constraints that join later are read by themselves.
#
# Constraints are kept in batches in the order of their arrival. A batch takes in the one before it
# unless that is at least twice as large, so there are never many, and a constraint is read again
# as often as the number of rows doubles. What is removed leaves its place in a batch empty, until
# half of the batch is.


class RowBatches:
    """The objective and the constraints of an instance as rows."""

    def __init__(self) -> None:
        self._batches: list[_Batch] = []
        self._parts: list[ModelRows] = []
        self.set_objective(None)

    def set_objective(self, objective: Any | None) -> None:
        """Make the expression of an objective the first row; None for an empty one."""
        collected = RowCollector()
        collected.add_objective(objective)
        self._objective = RowReader(collected)
        self._whole: ModelRows | None = None

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
        self._whole = None
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
        if last is not None and _are_same(parts, before):
            return last
        same = [] if last is None else list(_leading_same(parts, before))
        k, m = sum(len(part.variables) for part in same), sum(len(part.rows) for part in same)
        if last is None or not len(parts) == len(before) == len(same):
            variables = [] if last is None else last.variables[:k]
            rows = [] if last is None else last.rows[:m]
            numbers = [] if last is None else [last.row_of[:k]]
            for part in parts[len(same) :]:
                numbers.append(part.row_of + len(rows))
                variables += part.variables
                rows += part.rows
            row_of = np.concatenate(numbers)
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
            before=None if last is None else last.variables,
            same=k,
            same_rows=m,
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


def _are_same(parts: list[ModelRows], others: list[ModelRows]) -> bool:
    return len(parts) == len(others) and all(map(is_, parts, others))


def _leading_same(parts: list[ModelRows], others: list[ModelRows]) -> Iterator[ModelRows]:
    """Return the first parts, as far as they have the variables of others."""
    for part, other in zip(parts, others, strict=False):
        if part.variables is not other.variables:
            return
        yield part
