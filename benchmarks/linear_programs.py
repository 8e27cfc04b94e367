"""Linear programs in memory, as every solver of a benchmark gets them: from a file or made up.

Files are read with HiGHS; integrality is dropped, so that a mixed-integer model becomes its
linear relaxation, and a maximisation is turned round. Nothing of the project is used here, so
that a mistake of ours in reading a model cannot hide in the comparison. HiGHS is loaded only when
a file is read: other solvers bring a library of the same name, which has no place beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

FloatArray = npt.NDArray[np.float64]

INFINITE = 1e20
"""Bounds of at least this size mean "no bound", as solvers take them."""

ROW_LENGTH = 8
"""Entries per row of the made-up programs."""


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """min cost'x + offset, row_lower <= A x <= row_upper, lower <= x <= upper.

    ``cost``, ``lower`` and ``upper`` are (n,), ``row_lower`` and ``row_upper`` (m,), and
    ``matrix`` is an (m, n) CSR matrix. ``sense`` is -1 where the file maximises: the objective
    in the file's sense is ``sense`` times the minimised one.
    """

    name: str
    cost: FloatArray
    matrix: sp.csr_matrix
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray
    offset: float = 0.0
    sense: float = 1.0

    @property
    def nonzeros(self) -> int:
        """Entries of the matrix."""
        return int(self.matrix.nnz)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        matrix = (self.matrix.data, self.matrix.indices, self.matrix.indptr)
        vectors = (self.cost, self.lower, self.upper, self.row_lower, self.row_upper)
        return sum(array.nbytes for array in (*matrix, *vectors))


def read(path: Path, presolved: bool = False) -> LinearProgram:
    """Read an MPS or LP file as a linear program, reduced by HiGHS's presolve if asked for.

    Raises
    ------
    ValueError
        HiGHS cannot read the file, the model is more than linear, or presolve leaves nothing.
    """
    highspy = import_module("highspy")
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    if highs.readModel(str(path)) == highspy.HighsStatus.kError:
        raise ValueError(f"HiGHS cannot read {path}.")
    if highs.getModel().hessian_.dim_ > 0:
        raise ValueError(f"{path} has a quadratic objective; linear programs only.")
    name = path.name.partition(".")[0]
    if not presolved:
        return from_highs(highs.getLp(), name)
    _relax(highs)
    highs.presolve()
    if highs.getPresolvedLp().num_row_ == 0:
        raise ValueError(f"HiGHS's presolve leaves nothing of {path}.")
    return from_highs(highs.getPresolvedLp(), name)


def from_highs(lp: Any, name: str) -> LinearProgram:
    """Turn HiGHS's form into ours."""
    highspy = import_module("highspy")
    shape = (lp.num_row_, lp.num_col_)
    parts = tuple(np.array(part) for part in (lp.a_matrix_.value_, lp.a_matrix_.index_))
    starts = np.array(lp.a_matrix_.start_)
    by_row = lp.a_matrix_.format_ == highspy.MatrixFormat.kRowwise
    matrix = (sp.csr_matrix if by_row else sp.csc_matrix)((*parts, starts), shape=shape).tocsr()
    matrix.sort_indices()
    sense = -1.0 if lp.sense_ == highspy.ObjSense.kMaximize else 1.0
    return LinearProgram(
        name=name,
        cost=sense * _floats(lp.col_cost_) + 0.0,
        matrix=matrix,
        row_lower=_bounds(lp.row_lower_),
        row_upper=_bounds(lp.row_upper_),
        lower=_bounds(lp.col_lower_),
        upper=_bounds(lp.col_upper_),
        offset=sense * float(lp.offset_),
        sense=sense,
    )


def random_columns(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return a square program whose rows have entries in random columns, all values distinct.

    No vector element is read twice by neighbours and no value repeats: the worst case for
    caches and for compression.
    """
    generator = np.random.default_rng(seed)
    size = max(ROW_LENGTH, nonzeros // ROW_LENGTH)
    columns = generator.integers(0, size, (size, ROW_LENGTH))
    values = generator.uniform(0.5, 1.5, (size, ROW_LENGTH))
    return _around_a_point("random", columns, values, generator)


def banded(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return a square program with entries near the diagonal and few distinct values.

    That is what models written by people look like: neighbours in time and space, coefficients
    that are plus or minus one or one of a few efficiencies.
    """
    generator = np.random.default_rng(seed)
    size = max(ROW_LENGTH, nonzeros // ROW_LENGTH)
    reach = 4 * ROW_LENGTH
    near = generator.integers(-reach, reach, (size, ROW_LENGTH))
    columns = (np.arange(size)[:, None] + near) % size
    values = generator.choice([1.0, -1.0, 0.95, -0.9, 2.5], (size, ROW_LENGTH))
    return _around_a_point("banded", columns, values, generator)


SHAPES = {"random": random_columns, "banded": banded}
"""Makers of programs by name, called with the number of nonzeros and a seed."""


def _around_a_point(
    shape: str,
    columns: npt.NDArray[np.int64],
    values: FloatArray,
    generator: np.random.Generator,
) -> LinearProgram:
    """Put sides round the activity of a random point, so that there is an optimum."""
    size = len(columns)
    rows = np.repeat(np.arange(size), columns.shape[1])
    matrix = sp.csr_matrix((values.ravel(), (rows, columns.ravel())), shape=(size, size))
    activity = matrix @ generator.uniform(0.2, 0.8, size)
    equal = generator.random(size) < 0.3
    return LinearProgram(
        name=f"{shape}-{rows.size}",
        cost=generator.standard_normal(size),
        matrix=matrix,
        row_lower=np.where(equal, activity, -np.inf),
        row_upper=np.where(equal, activity, activity + generator.uniform(0.0, 0.5, size)),
        lower=np.zeros(size),
        upper=np.ones(size),
    )


def small_example() -> LinearProgram:
    """Return a program that any solver does at once, to load what it needs."""
    return replace(banded(4096), name="warm-up")


def _relax(highs: Any) -> None:
    """Make all columns continuous."""
    highspy = import_module("highspy")
    columns = np.arange(highs.getNumCol(), dtype=np.int32)
    kinds = np.full(len(columns), int(highspy.HighsVarType.kContinuous), dtype=np.uint8)
    highs.changeColsIntegrality(len(columns), columns, kinds)


def _floats(values: object) -> FloatArray:
    return np.array(values, dtype=np.float64)


def _bounds(values: object) -> FloatArray:
    bounds = _floats(values)
    bounds[bounds >= INFINITE] = np.inf
    bounds[bounds <= -INFINITE] = -np.inf
    return bounds
