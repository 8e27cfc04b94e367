"""Everything that a solve works on: the problem on the device, and where the iteration stands.

The coefficients are A and A' in slices, with entries packed. On a GPU rows and columns are permuted
so that those of one length stand together; everything on the device is in that order, and
:class:`Coefficients` knows the way back. On a CPU both stay where they are, and nothing is copied.
A matrix may also be shared out over several GPUs (``distributed``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import FloatArray, Problem
from solvers.pdlp.bounds import Coded
from solvers.pdlp.control import Control
from solvers.pdlp.kernels.matrix import MATRIX
from solvers.pdlp.kernels.measure import SUMS, slots_of
from solvers.pdlp.settings import Settings
from solvers.sparse.slices import Slices, ordered

if TYPE_CHECKING:
    from solvers.pdlp.distributed.matrix import SharedMatrix

Matrix: TypeAlias = "Slices | SharedMatrix"
"""A matrix by its rows, as a solve holds it."""


def partial_sums(matrix: Matrix, device: Device) -> Any:
    """Return memory (slots, 7) for the sums of a check over a matrix's rows, on the device."""
    if isinstance(matrix, Slices):
        return device.xp.zeros((slots_of(matrix), SUMS))
    return matrix.group.to_device(np.zeros((matrix.devices * matrix.slots, SUMS)))


def prepared(name: str, matrix: Matrix, *values: Any, threads: int = 0) -> Callable[[], None]:
    """Return a kernel of a matrix with its other arguments, to be run again and again.

    On a GPU preparing a launch costs five times as much as the launch.
    """
    if not isinstance(matrix, Slices):
        return matrix.prepared(MATRIX, name, values, threads)
    if any(isinstance(value, np.ndarray) for value in values):
        return functools.partial(MATRIX[name], *matrix.arguments, *values, threads=threads)
    return MATRIX.bind(name, *matrix.arguments, *values)


def of_rows(matrix: Matrix, values: FloatArray, device: Device) -> Any:
    """Bring figures of a matrix's rows (rows,), in their order there, to where the matrix is."""
    return device.to_device(values) if isinstance(matrix, Slices) else matrix.of_rows(values)


def squares(matrix: Matrix, values: Any) -> Any:
    """Return the squares of figures of a matrix's rows (rows,), where these are."""
    found = values.copy()
    each(matrix, "square", values, found)
    return found


def each(matrix: Matrix, name: str, *values: Any, threads: int = 0) -> None:
    """Run a kernel on figures of a matrix's rows (rows,), where these are, and on numbers."""
    for own in own_parts(matrix, values):
        MATRIX[name](own[-1].size, *own, threads=threads)


def own_parts(matrix: Matrix, values: Sequence[Any]) -> Iterator[list[Any]]:
    """Give figures of a matrix's rows (rows,) device by device, each the current one then."""
    if isinstance(matrix, Slices):
        yield list(values)
        return
    for device in range(matrix.devices):
        with matrix.group.on(device):
            yield [one if isinstance(one, float) else one.own(device) for one in values]


def gathered(matrix: Matrix, values: FloatArray, device: Device) -> Any:
    """Do the same for a vector that products of the transpose are going to read."""
    vector = of_rows(matrix, values, device)
    return vector if isinstance(matrix, Slices) else vector.with_copies()


def zeros(matrix: Matrix, device: Device) -> Any:
    """Return such a vector of zeros, which need not travel."""
    return device.xp.zeros(matrix.rows) if isinstance(matrix, Slices) else matrix.zeros()


def ones(matrix: Matrix, device: Device) -> Any:
    """Return a vector of ones that products of the transpose are going to read."""
    found = zeros(matrix, device)
    for (own,) in own_parts(matrix, (found,)):
        MATRIX["fill"](own.size, 1.0, own)
    return found


@dataclass(frozen=True, eq=False)
class Coefficients:
    """A (``by_row``) and A' (``by_column``), and the orders of rows (m,) and columns (n,).

    ``row_order[i]`` is the original number of the device's row i, an array on the host; None
    stands for no change.
    """

    by_row: Matrix
    by_column: Matrix
    row_order: Any = None
    column_order: Any = None

    def rows_in_order(self, values: FloatArray) -> FloatArray:
        """Return figures of rows (m,) on the host in the device's order."""
        return _ordered(values, self.row_order)

    def rows_to_device(self, values: FloatArray, device: Device) -> Any:
        """Bring figures of rows (m,) to the device and into its order."""
        return of_rows(self.by_row, self.rows_in_order(values), device)

    def columns_to_device(self, values: FloatArray, device: Device) -> Any:
        """Bring figures of columns (n,) to the device and into its order."""
        return of_rows(self.by_column, _ordered(values, self.column_order), device)


def _ordered(values: FloatArray, order: Any) -> FloatArray:
    return values if order is None else ordered(values, order)


@dataclass(frozen=True, eq=False)
class Scaling:
    """Row scale R (m,) and column scale C (n,), all positive, on the device."""

    row: Any
    column: Any


@dataclass(frozen=True, eq=False)
class DeviceProblem:
    """The problem on the device, in the device's order of rows and columns, all float64.

    ``cost``, ``lower`` and ``upper`` are (n,), ``row_lower`` and ``row_upper`` (m,), in the units
    of the original. The scaling enters as ``column_metric`` C^2 (n,) and ``row_metric`` R^2 (m,)
    only, and is kept as these: the root of a square is exactly what was squared. ``bounds`` and
    ``sides`` say once more what the columns' and the rows' are. The norms are
    those of the original problem.
    """

    original: Problem
    device: Device
    coefficients: Coefficients
    cost: Any
    lower: Any
    upper: Any
    row_lower: Any
    row_upper: Any
    column_metric: Any
    row_metric: Any
    bounds: Coded
    sides: Coded
    side_norm: float
    cost_norm: float

    def column_scale(self) -> FloatArray:
        """Return the scale C (n,) of the columns, on the host and in the original order."""
        scale = self.columns_to_host(self.column_metric)
        return np.sqrt(scale, out=scale)

    def row_scale(self) -> FloatArray:
        """Return the scale R (m,) of the rows, on the host and in the original order."""
        scale = self.rows_to_host(self.row_metric)
        return np.sqrt(scale, out=scale)

    def columns_to_host(self, values: Any) -> FloatArray:
        """Bring figures of columns (n,) to the host and into the original order."""
        return self._to_host(values, self.coefficients.column_order)

    def rows_to_host(self, values: Any) -> FloatArray:
        """Bring figures of rows (m,) to the host and into the original order."""
        return self._to_host(values, self.coefficients.row_order)

    def columns_to_device(self, values: FloatArray) -> Any:
        """Bring figures of columns (n,) to the device and into its order."""
        return self.coefficients.columns_to_device(values, self.device)

    def rows_to_device(self, values: FloatArray) -> Any:
        """Bring figures of rows (m,) to the device and into its order."""
        return self.coefficients.rows_to_device(values, self.device)

    def overwrite_columns(self, target: Any, values: FloatArray) -> None:
        """Overwrite figures of columns on the device with those of the host (n,)."""
        self.device.overwrite(target, _ordered(values, self.coefficients.column_order))

    def overwrite_rows(self, target: Any, values: FloatArray) -> None:
        """Overwrite figures of rows on the device with those of the host (m,)."""
        self.device.overwrite(target, _ordered(values, self.coefficients.row_order))

    def _to_host(self, values: Any, order: Any) -> FloatArray:
        if order is None:
            return cast("FloatArray", self.device.to_host(values))
        found = np.empty(order.size)
        self.device.fetch(values, found, order)
        return found


@dataclass(eq=False)
class Iterate:
    """One side of the iteration, primal (n,) or dual (m,), on the device.

    ``point`` is the Halpern average. The last iteration of a block writes ``projection``, the
    answer, and ``difference``, reflected minus current point; the first one
    ``first_difference``. ``best`` is the projection with the least error so far.
    """

    point: Any
    anchor: Any
    projection: Any
    difference: Any
    first_difference: Any
    best: Any

    @property
    def written(self) -> tuple[Any, ...]:
        """What a block leaves behind, in the kernels' order."""
        return (self.projection, self.difference, self.first_difference)

    @property
    def measured(self) -> tuple[Any, ...]:
        """What a check reads of its own side, in the kernels' order."""
        return (*self.written, self.anchor)

    @classmethod
    def starting_at(cls, point: Any) -> Iterate:
        """Return the state of a side before the first iteration."""
        step, first_step = point.copy(), point.copy()
        for vector in (step, first_step):
            vector.fill(0.0)
        return cls(point, point.copy(), point.copy(), step, first_step, point.copy())


@dataclass(eq=False)
class State:
    """A prepared solve: what :func:`solvers.pdlp.loop` continues from.

    ``norm`` is what was found of the spectral norm of the scaled matrix.
    """

    problem: DeviceProblem
    settings: Settings
    x: Iterate
    y: Iterate
    """Primal (n,) and dual (m,) side."""
    feasible_x: Any
    """(n,) on the device: the feasible point of least objective so far, if there was one."""
    reflected: Any
    """(n,) on the device: the reflected primal point, which the dual step reads."""
    control: Any
    """What steers the iteration; see :class:`solvers.pdlp.control.Control`."""
    row_partial: Any
    column_partial: Any
    """(slots, 7) each, on the device: partial sums of a check."""
    threads: int = 0
    """CPU threads at most; 0 for all."""
    norm: float = 1.0

    @property
    def column_matrix(self) -> tuple[Any, ...]:
        """The arguments by which kernels take A', on one device."""
        return cast("Slices", self.problem.coefficients.by_column).arguments

    @property
    def row_matrix(self) -> tuple[Any, ...]:
        """The arguments by which kernels take A, on one device."""
        return cast("Slices", self.problem.coefficients.by_row).arguments

    @property
    def column_data(self) -> tuple[Any, ...]:
        """Cost, bounds and metric of the columns."""
        there = self.problem
        return (there.cost, there.lower, there.upper, there.column_metric)

    @property
    def column_side(self) -> tuple[Any, ...]:
        """What an iteration reads of the columns: their data, and their bounds as codes."""
        return (*self.column_data, self.problem.bounds.codes, self.problem.bounds.pairs)

    @property
    def row_side(self) -> tuple[Any, ...]:
        """What an iteration reads of the rows: their data, and their sides as codes."""
        return (*self.row_data, self.problem.sides.codes, self.problem.sides.pairs)

    @property
    def row_data(self) -> tuple[Any, ...]:
        """Sides and metric of the rows."""
        return (self.problem.row_lower, self.problem.row_upper, self.problem.row_metric)

    def read_control(self) -> FloatArray:
        """Bring the control array to the host; waits for the device."""
        return self.problem.device.to_host(self.control)

    def write_control(self, **values: float) -> None:
        """Put figures into the control array by name, between blocks."""
        control = self.read_control()
        for name, value in values.items():
            control[Control[name.upper()]] = value
        self.problem.device.overwrite(self.control, control)
