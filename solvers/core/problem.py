"""The one form in which every model reaches an engine.

    minimise    c'x + offset
    subject to  row_lower <= A x <= row_upper
                lower <= x <= upper
                x_j integer where integrality[j]

A model that maximises is turned round once, here, by :meth:`Problem.from_arrays`; ``maximize``
then only records that answers must be turned back before the caller sees them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from solvers.core.errors import CrossedBoundsError, ProblemError
from solvers.core.linear_algebra import SparseRows
from solvers.core.machine import STEPS_PER_LOOK, threads_for
from solvers.core.vectors import SMALL, inner

if TYPE_CHECKING:
    import scipy.sparse as sp

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

INFINITY_THRESHOLD = 1e20
"""Bounds of at least this size mean "no bound", as in MPS files and most solvers."""

CROSSING_TOLERANCE = 1e-8
"""Bounds crossed by no more than this, relative to max(1, |bound|), are rounding, not a mistake."""


@dataclass(frozen=True, eq=False)
class Problem:
    """An immutable linear or mixed-integer linear program in two-sided row form.

    Parameters
    ----------
    cost : (n,) array
        Objective coefficients c of the minimisation.
    matrix : (m, n) sparse or dense matrix
        Constraint matrix A; stored as CSR, duplicate entries summed, explicit zeros dropped.
    row_lower, row_upper : (m,) arrays
        Sides of the rows; sizes from 1e20 on mean infinite, equal sides make an equation.
    lower, upper : (n,) arrays
        Bounds of the columns, with the same meaning of infinity.
    integrality : (n,) array of bool
        True where the column must be integer.
    offset : float
        Constant term of the objective.
    maximize : bool
        The model maximised: ``cost`` and ``offset`` hold its negated objective.
    name : str
        Name of the model, for logs and solution files.
    column_names, row_names : sequences of str, optional
        Names for messages and solution files; ``c0``, ``r0``, ... where absent.

    Raises
    ------
    ProblemError
        Wrong shapes, NaN, infinite coefficients, bounds of the wrong infinity.
    CrossedBoundsError
        A lower bound above its upper bound by more than :data:`CROSSING_TOLERANCE`.
    """

    cost: FloatArray
    matrix: sp.csr_array
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray
    integrality: BoolArray
    offset: float = 0.0
    maximize: bool = False
    name: str = ""
    column_names: Sequence[str] | None = None
    row_names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        n = np.size(self.cost)
        m = np.shape(self.matrix)[0] if np.ndim(self.matrix) == 2 else np.size(self.row_lower)
        set_field = object.__setattr__
        set_field(self, "cost", _vector(self.cost, n, "cost"))
        set_field(self, "row_lower", _vector(self.row_lower, m, "row_lower"))
        set_field(self, "row_upper", _vector(self.row_upper, m, "row_upper"))
        set_field(self, "lower", _vector(self.lower, n, "lower"))
        set_field(self, "upper", _vector(self.upper, n, "upper"))
        set_field(self, "integrality", _flags(self.integrality, n))
        set_field(self, "offset", float(self.offset))
        for axis, names, size in (("column", self.column_names, n), ("row", self.row_names, m)):
            if names is not None and not hasattr(names, "__getitem__"):
                raise ProblemError(
                    f"'{axis}_names' must be a list of texts; a {type(names).__name__} was given."
                )
            if names is not None and len(names) != size:
                raise ProblemError(f"{len(names)} {axis} names were given for {size} {axis}s.")
        self._check_objective()
        self._take_matrix(m, n)
        self._settle()

    @classmethod
    def from_arrays(
        cls,
        cost: npt.ArrayLike,
        matrix: Any = None,
        row_lower: npt.ArrayLike | float = -np.inf,
        row_upper: npt.ArrayLike | float = np.inf,
        *,
        lower: npt.ArrayLike | float = 0.0,
        upper: npt.ArrayLike | float = np.inf,
        integrality: npt.ArrayLike | bool = False,
        offset: float = 0.0,
        maximize: bool = False,
        name: str = "",
        column_names: Sequence[str] | None = None,
        row_names: Sequence[str] | None = None,
    ) -> Problem:
        """Build a problem from a model's own data, turning a maximisation round.

        Scalars are spread over all rows or columns; columns are non-negative by default, as in
        MPS files. ``cost`` and ``offset`` are those of the model, before any change of sign.
        """
        c = _vector(cost, np.size(cost), "cost")
        n = c.size
        A = np.zeros((0, n)) if matrix is None else matrix
        if not _is_sparse(A):
            A = _table(A)
        if np.ndim(A) != 2 and not _is_sparse(A):
            raise ProblemError(
                f"The constraint matrix must have rows and columns; a {type(A).__name__} of "
                f"{np.ndim(A)} dimensions was given."
            )
        m = np.shape(A)[0]
        if np.ndim(maximize) or maximize not in (True, False):
            raise ProblemError(f"'maximize' must be True or False; {maximize!r} was given.")
        constant = float(_vector(offset, 1, "offset")[0])
        sign = -1.0 if maximize else 1.0
        return cls(
            cost=sign * c if maximize else c,
            matrix=A,
            row_lower=_spread(row_lower, m),
            row_upper=_spread(row_upper, m),
            lower=_spread(lower, n),
            upper=_spread(upper, n),
            integrality=_flags(
                np.full(n, integrality) if np.ndim(integrality) == 0 else integrality, n
            ),
            offset=sign * constant,
            maximize=bool(maximize),
            name=name,
            column_names=column_names,
            row_names=row_names,
        )

    @classmethod
    def from_canonical(
        cls,
        *,
        cost: FloatArray,
        matrix: sp.csr_array | SparseRows,
        row_lower: FloatArray,
        row_upper: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        integrality: BoolArray,
        offset: float = 0.0,
        maximize: bool = False,
        name: str = "",
        column_names: Sequence[str] | None = None,
        row_names: Sequence[str] | None = None,
        columns: SparseRows | None = None,
    ) -> Problem:
        """Build a problem of arrays that are right by construction, and take them over.

        For whoever derives one problem from another. Nothing is copied, shapes and types are taken
        for what they have to be, and so is the matrix: float64, without zeros, entries in order,
        indices as short as :class:`Problem` would have them. Objective and bounds are looked at as
        ever, because sums of good ones can be bad. ``columns`` is its transpose.
        """
        made = object.__new__(cls)
        made.__dict__.update(
            cost=cost,
            row_lower=row_lower,
            row_upper=row_upper,
            lower=lower,
            upper=upper,
            integrality=integrality,
            offset=offset,
            maximize=maximize,
            name=name,
            column_names=column_names,
            row_names=row_names,
        )
        made.__dict__["entries" if isinstance(matrix, SparseRows) else "matrix"] = matrix
        if columns is not None:
            made.__dict__["_columns"] = columns
        made._check_objective()
        made._settle()
        return made

    @property
    def num_rows(self) -> int:
        """Number of rows m."""
        return int(self.row_lower.size)

    @property
    def num_columns(self) -> int:
        """Number of columns n."""
        return int(self.cost.size)

    @property
    def num_nonzeros(self) -> int:
        """Number of stored entries of A."""
        return self.entries.nnz

    @cached_property
    def is_mip(self) -> bool:
        """Whether any column must be integer."""
        return bool(self.integrality.any())

    @cached_property
    def entries(self) -> SparseRows:
        """A, on the arrays of ``matrix``, for whom SciPy would be loaded in vain."""
        return SparseRows.of(self.matrix)

    def __getattr__(self, name: str) -> Any:
        """Make ``matrix`` of the entries when it is first asked for."""
        if name == "matrix" and "entries" in self.__dict__:
            made = self.entries.csr
            made.has_canonical_format = True
            object.__setattr__(self, "matrix", made)
            return made
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @cached_property
    def matrix_csc(self) -> sp.csc_array:
        """A by columns, on the arrays of ``columns``, for whom SciPy would be loaded in vain."""
        return self.columns.csc

    @property
    def columns(self) -> SparseRows:
        """The transpose of A; made at the first use and kept."""
        return self.by_column(1)

    def by_column(self, threads: int) -> SparseRows:
        """Return ``columns``, made by so many threads at most if they are not yet; 0 for all."""
        made: SparseRows | None = self.__dict__.get("_columns")
        if made is None:
            made = self.entries.transposed(threads)
            self.__dict__["_columns"] = made
        return made

    def forget_columns(self) -> None:
        """Leave the transpose to the next who asks for it."""
        self.__dict__.pop("_columns", None)

    def column_label(self, column: int) -> str:
        """Return the name of a column, for a message."""
        return f"c{column}" if self.column_names is None else self.column_names[column]

    def row_label(self, row: int) -> str:
        """Return the name of a row, for a message."""
        return f"r{row}" if self.row_names is None else self.row_names[row]

    def objective_at(self, x: FloatArray) -> float:
        """Return c'x + offset, in the minimised sense."""
        return inner(self.cost, x) + self.offset

    def relaxation(self) -> Problem:
        """Return the same problem with every column continuous."""
        return self._with(integrality=np.zeros(self.num_columns, dtype=bool))

    def with_cost(self, cost: FloatArray) -> Problem:
        """Return the same problem with an objective of finite costs (n,) alone, taken over."""
        return self._with(cost=cost, offset=0.0)

    def with_limits(
        self, lower: FloatArray, upper: FloatArray, row_lower: FloatArray, row_upper: FloatArray
    ) -> Problem:
        """Return the same problem with other bounds (n,) and sides (m,), which it takes over."""
        made = self._with(lower=lower, upper=upper, row_lower=row_lower, row_upper=row_upper)
        made._settle()
        return made

    def _with(self, **fields: Any) -> Problem:
        """Return a problem that shares all arrays with this one but those given."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, **fields)
        if "integrality" in fields:
            made.__dict__.pop("is_mip", None)
        for array in (made.cost, made.integrality):
            array.flags.writeable = False
        return made

    def _settle(self) -> None:
        """Read bounds as they are meant, and let nobody change the arrays any more."""
        self._settle_bounds("row_lower", "row_upper", self.row_label)
        self._settle_bounds("lower", "upper", self.column_label)
        for array in (self.cost, self.row_lower, self.row_upper, self.lower, self.upper):
            array.flags.writeable = False
        for array in (self.entries.data, self.entries.indices, self.entries.indptr):
            array.flags.writeable = False
        self.integrality.flags.writeable = False

    def _check_objective(self) -> None:
        bad = ~np.isfinite(self.cost)
        if bad.any():
            j = int(np.flatnonzero(bad)[0])
            raise ProblemError(
                f"The objective coefficient of '{self.column_label(j)}' is {self.cost[j]}; "
                "give it a finite number."
            )
        if not np.isfinite(self.offset):
            raise ProblemError(f"The objective's constant is {self.offset}; make it finite.")

    def _take_matrix(self, m: int, n: int) -> None:
        """Bring the matrix into the one form, a small one without SciPy."""
        given: Any = self.matrix
        if isinstance(given, np.ndarray) and given.ndim == 2:
            given = SparseRows.of_table(given)
        if np.shape(given) != (m, n) and np.ndim(given) == 2:
            rows, columns = np.shape(given)
            raise ProblemError(
                f"The constraint matrix is {rows} x {columns}, but there are {m} rows "
                f"and {n} columns."
            )
        if isinstance(given, SparseRows) and given.nnz <= SMALL:
            entries = given.canonical()
            self.__dict__.pop("matrix")
            self.__dict__["entries"] = entries
            self.check_coefficients()
            return
        matrix = _canonical_matrix(given.csr if isinstance(given, SparseRows) else given)
        object.__setattr__(self, "matrix", matrix)
        self.check_coefficients()

    def check_coefficients(self) -> None:
        """Raise ProblemError where an entry of A is not finite."""
        entries = self.entries
        finite = np.isfinite(entries.data)
        if not finite.all():
            k = int(np.argmin(finite))
            raise ProblemError(
                f"The coefficient of '{self.column_label(int(entries.indices[k]))}' in row "
                f"'{self.row_label(int(entries.row[k]))}' is {entries.data[k]}; give it a finite "
                "number or leave it out."
            )

    def _settle_bounds(self, low_field: str, high_field: str, label: Any) -> None:
        """Read 1e20 as infinite, close crossings within rounding and refuse the rest."""
        low: FloatArray = getattr(self, low_field)
        high: FloatArray = getattr(self, high_field)
        kind = "row" if low_field == "row_lower" else "variable"
        in_order = bool((low <= high).all())  # false for NaN
        if in_order and not ((low >= INFINITY_THRESHOLD) | (high <= -INFINITY_THRESHOLD)).any():
            low[low <= -INFINITY_THRESHOLD] = -np.inf
            high[high >= INFINITY_THRESHOLD] = np.inf
            return
        for side, values in (("lower", low), ("upper", high)):
            bad = np.flatnonzero(np.isnan(values))
            if bad.size:
                raise ProblemError(
                    f"The {side} bound of {kind} '{label(int(bad[0]))}' is NaN; give a number, "
                    "or infinity for no bound."
                )
        low[low <= -INFINITY_THRESHOLD] = -np.inf
        high[high >= INFINITY_THRESHOLD] = np.inf
        for side, values, wrong in (
            ("lower", low, low >= INFINITY_THRESHOLD),
            ("upper", high, high <= -INFINITY_THRESHOLD),
        ):
            if wrong.any():
                i = int(np.flatnonzero(wrong)[0])
                raise CrossedBoundsError(
                    f"The {side} bound of {kind} '{label(i)}' is {values[i]:g}, which no finite "
                    "value can meet; the model is infeasible as it stands."
                )
        crossed = np.flatnonzero(low > high)
        if not crossed.size:
            return
        size = np.maximum(1.0, np.maximum(np.abs(low[crossed]), np.abs(high[crossed])))
        beyond = crossed[low[crossed] - high[crossed] > CROSSING_TOLERANCE * size]
        if beyond.size:
            i = int(beyond[0])
            raise CrossedBoundsError(
                f"The lower bound {low[i]:.12g} of {kind} '{label(i)}' is above its upper bound "
                f"{high[i]:.12g}, so the model is infeasible; correct one of the two."
            )
        middle = 0.5 * (low[crossed] + high[crossed])
        low[crossed] = middle
        high[crossed] = middle


def side_sizes(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the larger finite side of each row or column, in magnitude; 0 without any."""
    if low.size > SMALL:
        from solvers.native.core_lp_answer import side_sizes as found_by_loop

        sizes: FloatArray = np.empty(low.size)
        found_by_loop(low, high, sizes, threads_for(STEPS_PER_LOOK * low.size))
        return sizes
    sizes = np.maximum(
        np.where(np.isfinite(low), np.abs(low), 0.0), np.where(np.isfinite(high), np.abs(high), 0.0)
    )
    return sizes


def _vector(values: npt.ArrayLike, size: int, field: str) -> FloatArray:
    try:
        if np.iscomplexobj(values):
            raise TypeError("some are complex")
        array = np.array(values, dtype=np.float64, ndmin=1)
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(f"'{field}' is not an array of numbers: {error}") from error
    if array.shape != (size,):
        raise ProblemError(f"'{field}' has shape {array.shape}; it must be ({size},).")
    return array


def _table(values: Any) -> Any:
    """Return what is no sparse matrix as an array of numbers."""
    try:
        if np.iscomplexobj(values):
            raise TypeError("some entries are complex")
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(f"The constraint matrix cannot be read: {error}.") from error


def _canonical_matrix(given: Any) -> sp.csr_array:
    """Return float64 rows with ascending columns, each entry once and none of them zero."""
    import scipy.sparse as sp

    try:
        A = sp.csr_array(given, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"The constraint matrix cannot be read: {error}") from error
    A.sum_duplicates()
    A.eliminate_zeros()
    if A.nnz <= np.iinfo(np.int32).max and A.indices.dtype != np.int32:
        A.indices = A.indices.astype(np.int32)
        A.indptr = A.indptr.astype(np.int32)
    return A


def _is_sparse(values: Any) -> bool:
    return isinstance(values, SparseRows) or type(values).__module__.startswith("scipy.sparse")


def _flags(values: npt.ArrayLike, size: int) -> BoolArray:
    array = np.array(values, ndmin=1)
    if array.shape != (size,):
        raise ProblemError(f"'integrality' has shape {array.shape}; it must be ({size},).")
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise ProblemError("'integrality' must hold True and False (or 1 and 0) only.")
    return array.astype(np.bool_)


def _spread(values: npt.ArrayLike | float, size: int) -> FloatArray:
    if np.ndim(values) > 0:
        return np.asarray(values)  # looked at by :class:`Problem`
    return np.full(size, _vector(values, 1, "a side or bound")[0])
