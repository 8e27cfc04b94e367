"""Everything the iteration touches, as arrays of the device, and whether an inverse fits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.errors import DeviceError
from solvers.core.linear_algebra import SparseRows
from solvers.simplex.dense_gpu.control import (
    CONTROL_WORDS,
    GATHER_BELOW,
    MOST_DELAYED,
    MOST_FLIPS,
    SCALAR_WORDS,
    SPARSE_BELOW,
    row_groups,
)
from solvers.simplex.dense_gpu.kernels.row import segment_blocks, segments
from solvers.simplex.state import SlackForm

MOST_LANES = 32

MOST_ENTRIES = 2**31 - 2**10
"""Entries of a matrix that 32-bit indices can number, with those that pricing looks ahead."""

STEEPEST_UP_TO = 2500
"""Rows up to which dual steepest edge pays for sparse columns: the inverse stays in
the L2 cache."""

MOST_STORED_COLUMNS = 40_000
"""Columns of the inverse beyond which it is not attempted: more than a
second for each factorisation."""

NUMBER_BYTES = 8


def prices_by_steepest_edge(rows: int, structurals: int, entries: int) -> bool:
    """Whether dual pricing is by steepest edge, not by Devex.

    Its additional system is solved in the pass over the inverse that dense columns need anyway;
    only for sparse columns of a large basis is that pass made for its sake.
    """
    return rows <= STEEPEST_UP_TO or SPARSE_BELOW * entries >= rows * structurals


@dataclass(eq=False)
class Matrix:
    """A compressed matrix on the device.

    ``lanes`` threads share out one of its owners; ``full`` is 1 if it has no zeros.
    """

    starts: Any
    indices: Any
    values: Any
    lanes: int
    full: int


class Arrays:
    """The state of the iteration on the device; m rows, n structurals, K delayed pivots.

    ``rows``, ``structurals``, ``most`` and ``steepest`` are m, n, K and whether dual pricing is
    steepest edge (1) or Devex (0). Index arrays are int32, the others float64.

    Of variables (n + m,): ``status``, ``reference``, ``x``, ``cost``, ``reduced_cost``, ``lower``,
    ``upper``, ``price_weights`` (of primal pricing). By position (m,): ``basic``, ``x_basic``,
    ``lower_basic``, ``upper_basic``, ``weights`` (of dual pricing), ``alpha``, ``beta``, ``tau``.
    By row (m,): ``column``, ``flip_column``, ``dual``, ``residual``. Of delayed pivots: ``etas``
    (m, K), ``eta_rows`` (K, m), ``alpha_rows`` (K, n + m), ``pivot_log`` (K, 3). ``words`` is
    ``control`` and the log, which the host reads together. What is stored of the inverse is in
    ``Nucleus``.
    """

    def __init__(self, form: SlackForm, device: Device) -> None:
        entries = form.columns.nnz
        if entries > MOST_ENTRIES:
            raise DeviceError(
                f"A matrix of {entries:,} entries is too large for the simplex method on "
                f"'{device.name}', which takes {MOST_ENTRIES:,}; use another method."
            )
        self.device = device
        self.rows, self.structurals = form.num_rows, form.num_structurals
        self.variables = self.rows + self.structurals
        self.most = MOST_DELAYED
        self.steepest = int(prices_by_steepest_edge(self.rows, self.structurals, entries))
        self.columns = _matrix(form.columns, self.rows, device)
        self.by_rows = _matrix(form.rows, self.structurals, device)
        m, n_m, k = self.rows, self.variables, self.most
        self.status, self.reference = self.integers(n_m), self.integers(n_m)
        self.x, self.cost, self.reduced_cost = (self.numbers(n_m) for _ in range(3))
        self.lower, self.upper, self.price_weights = (self.numbers(n_m) for _ in range(3))
        self.basic = self.integers(m)
        self.x_basic, self.lower_basic, self.upper_basic = (self.numbers(m) for _ in range(3))
        self.weights, self.alpha, self.beta, self.tau = (self.numbers(m) for _ in range(4))
        self.column, self.flip_column = self.numbers(m), self.numbers(m)
        self.dual, self.residual, self.by_position = (self.numbers(m) for _ in range(3))
        self.etas, self.eta_rows = self.numbers(m, k), self.numbers(k, m)
        self.alpha_rows = self.numbers(k, n_m)
        self.column_dots, self.flip_dots = self.numbers(k), self.numbers(k)
        self.dots = self.numbers(k + 1)
        blocks = sum(segment_blocks(m, self.structurals, self.columns.lanes))
        many = segments(m, self.structurals, self.columns.lanes)
        self.squares, self.ratios = self.numbers(blocks), self.numbers(n_m)
        self.least, self.counts = self.numbers(many), self.integers(many)
        self.flips, self.flip_steps = self.integers(MOST_FLIPS), self.numbers(MOST_FLIPS)
        few = m // min(SPARSE_BELOW, GATHER_BELOW) + 1
        self.places, self.amounts = self.integers(few), self.numbers(few)
        self.row_groups, self.variable_groups = row_groups(m), row_groups(n_m)
        self.row_value, self.row_index = self._partials(self.row_groups)
        self.variable_value, self.variable_index = self._partials(self.variable_groups)
        self.words, self.scalars = self.integers(CONTROL_WORDS + 3 * k), self.numbers(SCALAR_WORDS)
        self.control = self.words[:CONTROL_WORDS]
        self.pivot_log = self.words[CONTROL_WORDS:].reshape(k, 3)

    def numbers(self, *shape: int) -> Any:
        """Return zeros."""
        return self.device.xp.zeros(shape)

    def integers(self, *shape: int) -> Any:
        """Return integer zeros."""
        return self.device.xp.zeros(shape, dtype=np.int32)

    def write(self, array: Any, values: npt.NDArray[Any]) -> None:
        """Copy host values into an array of the device, after what its stream has to do before."""
        ready = np.ascontiguousarray(values, dtype=array.dtype)
        if self.device.kind == "cpu":
            array[...] = ready
        else:
            array.set(ready, stream=self.device.xp.cuda.get_current_stream())

    def product(self, left: Any, right: Any) -> Any:
        """Return a matrix product, contiguous by rows."""
        return self.device.xp.ascontiguousarray(left @ right) if left.size else left

    def host(self, array: Any) -> npt.NDArray[Any]:
        """Return a host copy."""
        return self.device.to_host(array)

    def clear(self, *arrays: Any) -> None:
        """Set arrays to zero."""
        for array in arrays:
            if self.device.kind == "cpu":
                array.fill(0)
            elif array.nbytes:
                array.data.memset_async(0, array.nbytes)

    def _partials(self, groups: int) -> tuple[Any, Any]:
        return self.numbers(groups), self.integers(groups)


def _matrix(matrix: SparseRows, width: int, device: Device) -> Matrix:
    owners, entries = matrix.shape[0], matrix.nnz
    lanes = 1
    while lanes < MOST_LANES and 2 * lanes * max(1, owners) <= entries:
        lanes *= 2
    return Matrix(
        device.to_device(matrix.indptr.astype(np.int32)),
        device.to_device(matrix.indices.astype(np.int32, copy=False)),
        device.to_device(matrix.data),
        lanes,
        int(entries == owners * width),
    )


def bytes_needed(rows: int, slots: int) -> int:
    """Return the bytes of an inverse with so many stored columns, and of its factorisation.

    The basis as dense columns and the inverse's columns, m x k each; the nucleus and its inverse, k
    x k each, and as much for the factorisation to work with.
    """
    return NUMBER_BYTES * slots * (2 * rows + 3 * slots)


def check_fits(arrays: Arrays, slots: int) -> None:
    """Raise a DeviceError if so many stored columns have no room on the device."""
    device = arrays.device
    if slots > MOST_STORED_COLUMNS:
        raise DeviceError(
            f"The basis has {slots:,} columns that are no slacks, more than the "
            f"{MOST_STORED_COLUMNS:,} of which the simplex core on '{device.name}' keeps an "
            "inverse; use another method."
        )
    if device.kind == "cpu":
        return
    needed = bytes_needed(arrays.rows, slots)
    free = int(device.xp.cuda.runtime.memGetInfo()[0])
    free += int(device.xp.get_default_memory_pool().free_bytes())
    if needed > free:
        raise DeviceError(
            f"The inverse of a basis with {slots:,} structural columns needs "
            f"{needed / 2**30:.1f} GiB, and '{device.name}' has {free / 2**30:.1f} GiB free; use "
            "device='cpu'."
        )
