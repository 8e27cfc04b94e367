"""The simplex core whose basis, inverse, point and prices stay on the device.

What runs where: a batch of iterations is a chain of small kernels on the device
(``kernels/row.py`` to ``kernels/primal.py``); between batches the host folds the delayed pivots
into the inverse with one matrix product, measures how far the point has drifted from [A -I] x = 0,
and factorises anew when that or a pivot element says so, and before any claim. On a CPU the same
algorithm runs through the kernels' twins.

Dual pivots are priced by steepest edge, or by Devex if that were dear, with bound flips; primal
ones by Devex.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from solvers.core.device import Device, find_device
from solvers.core.errors import DeviceError
from solvers.core.problem import FloatArray
from solvers.simplex.dense_gpu import control as word
from solvers.simplex.dense_gpu.basis import DeviceBasis, solve_basis, solve_transposed
from solvers.simplex.dense_gpu.loop import Loop
from solvers.simplex.state import BASIC, PivotStatus, SimplexState, SlackForm, nonbasic_values


class DeviceContext:
    """A device and, on a GPU, a stream of its own; entered again and again."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._stream: Any = None

    @contextmanager
    def here(self) -> Iterator[None]:
        """Make device and stream the current ones; turn exhausted memory into a DeviceError."""
        try:
            if self.device.kind == "cpu":
                yield
                return
            cupy = self.device.xp
            with cupy.cuda.Device(self.device.index):
                if self._stream is None:
                    self._stream = cupy.cuda.Stream(non_blocking=True)
                with self._stream:
                    yield
                    self._stream.synchronize()
        except Exception as error:
            if self.device.is_out_of_memory(error):
                raise DeviceError(
                    f"The simplex core ran out of memory on '{self.device.name}': {error}; use "
                    "device='cpu'."
                ) from error
            raise


Method = TypeVar("Method", bound=Callable[..., Any])


def _on_device(method: Method) -> Method:
    """Run a method with the core's device and stream as the current ones."""

    @wraps(method)
    def run(self: DenseGpuCore, *values: Any) -> Any:
        with self._context.here():
            return method(self, *values)

    return cast("Method", run)


class DenseGpuCore:
    """Pivots on one basis, on a device; ``load`` copies a ``SimplexState`` in, ``store`` out.

    The driver decides on phases, perturbation, scaling and when an answer may be believed; the core
    knows only the working cost and bounds that it is given, and makes pivots until it has a reason
    to stop.

    Parameters
    ----------
    device : Device or str
        The device, or what ``find_device`` is to look for.

    Raises
    ------
    DeviceError
        From here, ``load`` and the pivots: the inverse of a basis does not fit the device.
    """

    def __init__(self, form: SlackForm, device: Device | str) -> None:
        self._context = DeviceContext(find_device(device) if isinstance(device, str) else device)
        with self._context.here():
            self._basis = DeviceBasis(form, self._context.device)
            self._loop = Loop(self._basis)

    @_on_device
    def load(self, state: SimplexState) -> None:
        """Take over a state; factorise its basis unless it is the one at hand.

        Basic values and reduced costs are computed for it. A singular basis is repaired by slacks;
        ``store`` then shows it.
        """
        basis, a = self._basis, self._basis.arrays
        basis.fold()
        new = not np.array_equal(basis.nucleus.basic, state.basic)
        a.write(a.status, state.status)
        a.write(a.basic, state.basic)
        for array, values in (
            (a.x, nonbasic_values(state.status, state.lower, state.upper)),
            (a.cost, state.cost), (a.lower, state.lower), (a.upper, state.upper),
            (a.weights, state.edge_weight if a.steepest else np.ones(a.rows)),
            (a.reference, state.status == BASIC), (a.price_weights, np.ones(a.variables)),
        ):  # fmt: skip
            a.write(array, values)
        self._loop.set_tolerance(state.tolerance)
        self._loop.iterations = state.iterations
        basis.steer({word.ITERATIONS: state.iterations})
        if new:
            basis.factorise(np.asarray(state.basic, dtype=np.int64))
        basis.recompute(repair=False)

    @_on_device
    def dual(self, most: int, should_stop: Callable[[], bool]) -> PivotStatus:
        """Run at most ``most`` dual pivots.

        Reduced costs of the wrong sign are first met by flips or shifts. ``DONE`` and ``NO_PIVOT``
        are said only of a fresh factorisation.
        """
        self._basis.recompute(repair=True)
        return self._loop.run("dual", most, should_stop)

    @_on_device
    def primal(self, most: int, should_stop: Callable[[], bool]) -> PivotStatus:
        """Run at most ``most`` primal pivots from a feasible point."""
        a = self._basis.arrays
        self._basis.recompute(repair=False)
        a.write(a.price_weights, np.ones(a.variables))
        a.write(a.weights, np.ones(a.rows))  # pivots of the primal leave them behind
        return self._loop.run("primal", most, should_stop)

    @_on_device
    def store(self, state: SimplexState) -> None:
        """Copy everything back, with duals and basic values as of a fresh computation."""
        a = self._basis.arrays
        self._basis.recompute(repair=False)
        state.basic[:] = a.host(a.basic)
        state.status[:] = a.host(a.status)
        for values, array in (
            (state.x, a.x), (state.reduced_cost, a.reduced_cost), (state.cost, a.cost),
            (state.lower, a.lower), (state.upper, a.upper), (state.edge_weight, a.weights),
        ):  # fmt: skip
            values[:] = a.host(array)
        state.iterations = self.iterations

    @_on_device
    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """Return y (m,) by row with B'y = right, (m,) by position."""
        return self._solve(solve_transposed, right)

    @_on_device
    def solve_basis(self, right: FloatArray) -> FloatArray:
        """Return v (m,) by position with B v = right, (m,) by row."""
        return self._solve(solve_basis, right)

    @property
    def pivot_row(self) -> int:
        """Position at which the dual found no ratio, for the Farkas certificate; -1 if none."""
        return self._loop.pivot_row

    @property
    def pivot_column(self) -> int:
        """Variable for which the primal found no ratio, for the ray; -1 if none."""
        return self._loop.pivot_column

    @property
    def iterations(self) -> int:
        """Pivots and flips since the last ``load``, as of the last batch."""
        return self._loop.iterations

    @property
    def refactorisations(self) -> int:
        """Factorisations so far."""
        return self._basis.refactorisations

    @property
    def bound_flips(self) -> int:
        """Bound flips so far."""
        return int(self._basis.control[word.ALL_FLIPS])

    @property
    def stored_columns(self) -> int:
        """Columns of the inverse that are no unit columns, as of the last fold."""
        return self._basis.nucleus.slots

    @property
    def delayed_pivots(self) -> int:
        """Pivots that wait at most before they are multiplied into the inverse."""
        return self._basis.arrays.most

    @property
    def steepest(self) -> bool:
        """Whether dual pricing is steepest edge, not Devex."""
        return bool(self._basis.arrays.steepest)

    def _solve(self, solve: Callable[..., None], right: FloatArray) -> FloatArray:
        a = self._basis.arrays
        self._basis.fold()
        result = a.numbers(a.rows)
        solve(a, self._basis.nucleus, a.device.to_device(right), result)
        return a.host(result)
