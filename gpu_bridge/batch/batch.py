"""Many problems of one structure: a base problem, and arrays for what differs from it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.errors import CrossedBoundsError, ProblemError
from solvers.core.problem import (
    CROSSING_TOLERANCE,
    INFINITY_THRESHOLD,
    BoolArray,
    FloatArray,
    Problem,
)

VARIABLE_DATA = (
    "cost",
    "lower",
    "upper",
    "row_lower",
    "row_upper",
    "coefficients",
    "offset",
)
"""What may differ from member to member of a batch."""


SUM_BY_THREADS_FROM = 4_000_000
"""Numbers from which several cores look for NaN and infinities."""


@dataclass(frozen=True, eq=False)
class Batch:
    """K problems that share a structure and differ in some of their data.

    Arrays of floats that are contiguous are not copied: leave them as they are.

    Parameters
    ----------
    problem : Problem
        Gives the structure, and all data that is not given here.
    cost, lower, upper : (K, n) arrays, optional
        Objective coefficients and bounds of the columns. Like those of ``Problem`` itself, costs
        are those of the minimisation; :meth:`from_model_data` takes a model's own.
    row_lower, row_upper : (K, m) arrays, optional
        Sides of the rows.
    coefficients : (K, nnz) array, optional
        Entries of the matrix in the order of ``problem.matrix.data``; zeros are fine.
    offset : (K,) array, optional
        Constants of the objective.

    Raises
    ------
    ProblemError
        Nothing differs, shapes do not fit, or a value is not usable; the message names the
        member and the column or row.
    """

    problem: Problem
    cost: FloatArray | None = None
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    row_lower: FloatArray | None = None
    row_upper: FloatArray | None = None
    coefficients: FloatArray | None = None
    offset: FloatArray | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.problem, Problem):
            raise ProblemError(
                "The first argument of a Batch is the Problem that its members share; a "
                f"{type(self.problem).__name__} was given."
            )
        given = [name for name in VARIABLE_DATA if getattr(self, name) is not None]
        if not given:
            raise ProblemError(
                "A Batch needs at least one array of data that differs from member to member: "
                f"{', '.join(VARIABLE_DATA)}."
            )
        for name in given:
            object.__setattr__(self, name, _numbers(name, getattr(self, name)))
        count = len(getattr(self, given[0]))
        for name in given:
            self._check(name, count)
        self._settle("row_lower", "row_upper")
        self._settle("lower", "upper")

    @classmethod
    def from_model_data(cls, problem: Problem, **data: npt.ArrayLike) -> Batch:
        """Make a batch from a model's own data: costs and offsets of a maximisation are turned.

        Takes the same names as the class itself.
        """
        unknown = [name for name in data if name not in VARIABLE_DATA]
        if unknown:
            raise ProblemError(
                f"A Batch has no data '{unknown[0]}'; there are: {', '.join(VARIABLE_DATA)}."
            )
        arrays: dict[str, Any] = {
            name: _numbers(name, values) for name, values in data.items() if values is not None
        }
        if isinstance(problem, Problem) and problem.maximize:
            for name in ("cost", "offset"):
                if name in arrays:
                    arrays[name] = -arrays[name]
        return cls(problem, **arrays)

    def __len__(self) -> int:
        arrays = (getattr(self, name) for name in VARIABLE_DATA)
        return next(len(array) for array in arrays if array is not None)

    def member(self, k: int) -> Problem:
        """Return the k-th problem.

        Raises
        ------
        CrossedBoundsError
            Its own bounds contradict each other.
        """
        base = self.problem
        changes: dict[str, Any] = {
            name: getattr(self, name)[k]
            for name in VARIABLE_DATA
            if name != "coefficients" and getattr(self, name) is not None
        }
        if self.coefficients is not None:
            A = base.matrix
            changes["matrix"] = sp.csr_array(
                (self.coefficients[k], A.indices, A.indptr), shape=A.shape
            )
        return dataclasses.replace(base, **changes)

    def member_or_crossing(self, k: int) -> Problem | CrossedBoundsError:
        """Return the k-th problem, or the error that says why its bounds cannot be met."""
        try:
            return self.member(k)
        except CrossedBoundsError as error:
            return error

    def rows_of(self, name: str) -> FloatArray:
        """Return an array of :data:`VARIABLE_DATA` with one row, or a row for each member."""
        values = getattr(self, name)
        if values is None:
            base = self.problem.matrix.data if name == "coefficients" else None
            values = getattr(self.problem, name) if base is None else base
            return _read_only(np.asarray(values, dtype=np.float64).reshape(1, -1))
        return _read_only(values.reshape(len(self), -1))

    @cached_property
    def crossed(self) -> BoolArray:
        """Members (K,) whose own bounds contradict each other, by more than rounding."""
        found = np.zeros(len(self), dtype=np.bool_)
        for low_name, high_name in (("row_lower", "row_upper"), ("lower", "upper")):
            low, high = self.rows_of(low_name), self.rows_of(high_name)
            # each by itself: what all members share is looked at once
            found |= (low > high).any(axis=1)
            found |= (low == np.inf).any(axis=1) | (high == -np.inf).any(axis=1)
        return found

    def _check(self, name: str, count: int) -> None:
        """Raise for an array of another shape, or with NaN or infinities where they cannot be."""
        n, m = self.problem.num_columns, self.problem.num_rows
        widths = {"coefficients": self.problem.num_nonzeros, "row_lower": m, "row_upper": m}
        shape = (count,) if name == "offset" else (count, widths.get(name, n))
        array: FloatArray = getattr(self, name)
        if array.shape != shape:
            raise ProblemError(f"'{name}' has shape {array.shape}; it must be {shape}.")
        allowed_infinite = name in ("lower", "upper", "row_lower", "row_upper")
        # a sum is infinite or NaN if a part is, and needs no array of flags
        with np.errstate(all="ignore"):
            total = _sum(array)
        if np.isfinite(total):
            return
        bad = np.isnan(array) if allowed_infinite else ~np.isfinite(array)
        if bad.any():
            where = tuple(int(part) for part in np.argwhere(bad)[0])
            raise ProblemError(
                f"'{name}' of member {where[0]} holds {array[where]} at place "
                f"{where[-1]}; give it a number."
            )

    def _settle(self, low_name: str, high_name: str) -> None:
        """Read 1e20 as infinite and close crossings within rounding; the rest is left crossed."""
        for name, sign in ((low_name, -1.0), (high_name, 1.0)):
            array = getattr(self, name)
            if array is not None and (sign * array >= INFINITY_THRESHOLD).any():
                settled = np.where(sign * array >= INFINITY_THRESHOLD, sign * np.inf, array)
                wrong = np.where(sign * settled <= -INFINITY_THRESHOLD, -sign * np.inf, settled)
                object.__setattr__(self, name, wrong)
        low, high = self.rows_of(low_name), self.rows_of(high_name)
        if not (low > high).any():
            return
        with np.errstate(invalid="ignore"):
            size = np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
            near = (low > high) & (low - high <= CROSSING_TOLERANCE * size)
        if near.any():
            with np.errstate(invalid="ignore"):  # of infinite sides elsewhere
                middle = 0.5 * (low + high)
            object.__setattr__(self, low_name, np.where(near, middle, low))
            object.__setattr__(self, high_name, np.where(near, middle, high))


def _numbers(name: str, values: Any) -> FloatArray:
    """Return a contiguous array of floats with a row, or a number, for each member."""
    try:
        if np.iscomplexobj(values):
            raise TypeError("some are complex")
        array: FloatArray = np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(f"'{name}' is not an array of numbers: {error}") from error
    if array.ndim == 0:
        raise ProblemError(
            f"'{name}' of a Batch needs a row or number for each member; {values!r} was given."
        )
    return array


def _sum(array: FloatArray) -> float:
    """Return the sum of an array, of a large one by several cores."""
    flat = array.reshape(-1)
    if flat.size < SUM_BY_THREADS_FROM:
        return float(flat.sum())
    parts = np.array_split(flat, min(8, len(os.sched_getaffinity(0))))
    with ThreadPoolExecutor(max_workers=len(parts)) as pool:
        return float(sum(pool.map(np.sum, parts)))


def _read_only(array: FloatArray) -> FloatArray:
    """Return a view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def as_batch(problems: list[Problem]) -> Batch | None:
    """Return the problems of one structure as a batch, or None where they differ in more.

    The pattern, integrality and sense have to be the same; arrays that all share stay single.
    """
    base = problems[0]
    if not all(_same_structure(base, problem) for problem in problems[1:]):
        return None
    data: dict[str, FloatArray] = {}
    for name in VARIABLE_DATA:
        rows = [_data(problem, name) for problem in problems]
        if any(row is not rows[0] and not np.array_equal(row, rows[0]) for row in rows):
            data[name] = np.array(rows)
    if not data:
        data["offset"] = np.array([problem.offset for problem in problems])
    return Batch(base, **data)


def groups_of_one_structure(
    problems: Mapping[int, Problem], pays: Callable[[Problem, int], bool]
) -> list[list[int]]:
    """Return the numbers of problems that share a structure, group by group.

    Parameters
    ----------
    pays : callable
        Whether so many like a problem are worth solving together; groups that are not are left
        out, and where it cannot be, patterns are not looked at.
    """
    found = []
    for alike in _grouped(problems, problems, _size_key):
        if pays(problems[alike[0]], len(alike)):
            exactly = _grouped(problems, alike, _pattern_key)
            found += [members for members in exactly if pays(problems[members[0]], len(members))]
    return found


def _grouped(
    problems: Mapping[int, Problem], numbers: Iterable[int], key: Callable[[Problem], Any]
) -> list[list[int]]:
    groups: dict[Any, list[int]] = {}
    for k in numbers:
        groups.setdefault(key(problems[k]), []).append(k)
    return list(groups.values())


def _size_key(problem: Problem) -> tuple[int, int, int, bool, bool]:
    """Return what problems of one structure have in common and is quick to compare."""
    sizes = problem.num_rows, problem.num_columns, problem.num_nonzeros
    return *sizes, problem.maximize, problem.is_mip


def _pattern_key(problem: Problem) -> tuple[int, int, int]:
    """Return what tells patterns and integrality apart, but for a chance next to nothing."""
    arrays = (problem.matrix.indptr, problem.matrix.indices, problem.integrality)
    first, second, third = (hash(array.tobytes()) for array in arrays)
    return first, second, third


def _same_structure(one: Problem, other: Problem) -> bool:
    pairs = (
        (one.matrix.indptr, other.matrix.indptr),
        (one.matrix.indices, other.matrix.indices),
        (one.integrality, other.integrality),
    )
    return _size_key(one) == _size_key(other) and all(
        a is b or np.array_equal(a, b) for a, b in pairs
    )


def _data(problem: Problem, name: str) -> Any:
    return problem.matrix.data if name == "coefficients" else getattr(problem, name)
