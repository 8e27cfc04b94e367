"""Special ordered sets, rewritten with one binary column per member or neighbouring pair.

For members x_1, ..., x_k in their order, with bounds l and u, declared or implied by rows:

    SOS1   l_j z_j <= x_j <= u_j z_j,                         sum z <= 1
    SOS2   l_j (z_j-1 + z_j) <= x_j <= u_j (z_j-1 + z_j),     sum z <= 1,   one z per neighbours

where l is at most and u at least zero (Beale and Tomlin, 1970, state the sets; this is the
textbook form of them). A side that the member's own bounds already keep has no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gpu_bridge.lazy import MadeSequence
from gpu_bridge.pipeline.pool_search import with_binaries
from solvers.core.errors import UnsupportedModelError
from solvers.core.problem import FloatArray, Problem

if TYPE_CHECKING:
    import scipy.sparse as sp


@dataclass(frozen=True)
class FixedMember:
    """A member that is no column, but a number; it keeps its place in the order."""

    name: str
    value: float


@dataclass(frozen=True)
class OrderedSet:
    """A special ordered set: its name, its type (1 or 2), and its columns in order."""

    name: str
    type: int
    members: tuple[int | FixedMember, ...]


def joined_names(first: Sequence[str], more: Sequence[str]) -> Sequence[str]:
    """Return names followed by more; the first are still read only when they are asked for."""
    return MadeSequence(len(first) + len(more), partial(_joined_name, first, more))


def _joined_name(first: Sequence[str], more: Sequence[str], place: int) -> str:
    return first[place] if place < len(first) else more[place - len(first)]


@dataclass
class _Additions:
    """Rows with their sides, and binary columns to be added to a problem."""

    first_column: int
    rows: list[dict[int, float]] = field(default_factory=list)
    sides: list[tuple[float, float]] = field(default_factory=list)
    row_names: list[str] = field(default_factory=list)
    column_names: list[str] = field(default_factory=list)

    def column(self, name: str) -> int:
        self.column_names.append(name)
        return self.first_column + len(self.column_names) - 1

    def row(self, name: str, terms: dict[int, float], lower: float, upper: float) -> None:
        self.rows.append(terms)
        self.sides.append((lower, upper))
        self.row_names.append(name)


def add_ordered_sets(problem: Problem, sets: Sequence[OrderedSet]) -> Problem:
    """Return the problem with the sets' rows and binary columns behind its own.

    Raises
    ------
    UnsupportedModelError
        A member without finite bounds, declared or implied, or a set of another type than 1, 2.
    """
    for item in sets:
        if item.type not in (1, 2):
            raise UnsupportedModelError(
                f"SOS constraint '{item.name}' has level {item.type}; use levels 1 and 2."
            )
    sets = [item for item in sets if len(item.members) > item.type]  # others allow everything
    if not sets:
        return problem
    columns = {j for item in sets for j in item.members if isinstance(j, int)}
    bounds = imply_bounds(
        problem.matrix,
        problem.row_lower,
        problem.row_upper,
        problem.lower,
        problem.upper,
        sorted(columns),
    )
    new = _Additions(problem.num_columns)
    for item in sets:
        _add_set(new, problem, bounds, item)
    names, row_names = problem.column_names, problem.row_names
    return with_binaries(
        problem,
        len(new.column_names),
        new.rows,
        new.sides,
        None if names is None else joined_names(names, new.column_names),
        None if row_names is None else joined_names(row_names, new.row_names),
    )


def _add_set(
    new: _Additions, problem: Problem, bounds: tuple[FloatArray, FloatArray], item: OrderedSet
) -> None:
    count = len(item.members) - item.type + 1
    switches = [new.column(f"{item.name}.switch[{k + 1}]") for k in range(count)]
    for k, member in enumerate(item.members):
        around = {k} if item.type == 1 else {max(k - 1, 0), min(k, count - 1)}
        own = [switches[j] for j in sorted(around)]
        if not isinstance(member, FixedMember):
            _add_member(new, problem, bounds, item.name, member, own)
        elif member.value != 0:
            new.row(f"{item.name}[{member.name}]", dict.fromkeys(own, 1.0), 1.0, np.inf)
    new.row(f"{item.name}.one", dict.fromkeys(switches, 1.0), -np.inf, 1.0)


def _add_member(
    new: _Additions,
    problem: Problem,
    bounds: tuple[FloatArray, FloatArray],
    set_name: str,
    column: int,
    switches: list[int],
) -> None:
    """Allow a column to leave zero only where one of its switches is on."""
    low, high = float(bounds[0][column]), float(bounds[1][column])
    label = problem.column_label(column)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise UnsupportedModelError(
            f"Variable '{label}' of SOS constraint '{set_name}' has bounds [{low:g}, {high:g}]; "
            "give it finite ones, so that the set can be written with binary variables."
        )
    if high > 0:
        terms = {column: 1.0} | dict.fromkeys(switches, -high)
        new.row(f"{set_name}[{label}].upper", terms, -np.inf, 0.0)
    if low < 0:
        terms = {column: 1.0} | dict.fromkeys(switches, -low)
        new.row(f"{set_name}[{label}].lower", terms, 0.0, np.inf)


# Bounds of a few columns that follow from the rows, for columns that declare none.
#
# A row ``low <= sum a_j x_j <= high`` bounds x_k by what the other terms can make up for:
# ``a_k x_k <= high - sum of the others' least values`` (Brearley, Mitra and Williams, 1975). Some
# sweeps over the rows of the wanted columns are enough for the convex-combination rows that
# special ordered sets come with.


SWEEPS = 3


def imply_bounds(
    matrix: sp.csr_array,
    row_lower: FloatArray,
    row_upper: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    columns: Iterable[int],
) -> tuple[FloatArray, FloatArray]:
    """Return bounds (n,) in which infinite ones of ``columns`` are replaced where rows allow."""
    lower, upper = lower.copy(), upper.copy()
    by_columns = matrix.tocsc()
    wanted = [j for j in columns if not (np.isfinite(lower[j]) and np.isfinite(upper[j]))]
    for _ in range(SWEEPS):
        for j in wanted:
            for i in by_columns.indices[by_columns.indptr[j] : by_columns.indptr[j + 1]]:
                low, high = _from_row(matrix, int(i), j, row_lower[i], row_upper[i], lower, upper)
                lower[j] = max(lower[j], low)
                upper[j] = min(upper[j], high)
    return lower, upper


def _from_row(
    matrix: sp.csr_array,
    row: int,
    column: int,
    row_low: float,
    row_high: float,
    lower: FloatArray,
    upper: FloatArray,
) -> tuple[float, float]:
    """Return the bounds that one row puts on one of its columns."""
    entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
    indices, factors = matrix.indices[entries], matrix.data[entries]
    own = float(factors[indices == column][0])
    others = indices != column
    a, low, high = factors[others], lower[indices[others]], upper[indices[others]]
    least = float(np.sum(np.where(a > 0, a * low, a * high)))
    most = float(np.sum(np.where(a > 0, a * high, a * low)))
    bounds = (row_low - most) / own, (row_high - least) / own
    return (bounds[0], bounds[1]) if own > 0 else (bounds[1], bounds[0])
