"""One HiGHS object with its model: every call checked, every callback safe.

HiGHS keeps one task scheduler per operating-system thread, made at the first run in that thread
with the number of threads asked for then; another number later is an error. Each session
therefore has to be opened, used and dropped within one short-lived thread (or a process of its
own), which also keeps two solves at once apart.

HiGHS holds the function that it calls back in a place where Python's garbage collector cannot look.
If that function held the session, neither would ever be freed, nor the model and its factors with
them: it only knows the session while somebody else holds it.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from highspy import _core

from solvers.core.errors import EngineError
from solvers.core.outcome import Basis, StopReason
from solvers.highs.callbacks import ASKING, Kind, handlers
from solvers.highs.task import Brief, ByteArray, Channel, FloatArray, IndexArray, Model, Setting

Status = _core.HighsModelStatus
CALL_OK = (_core.HighsStatus.kOk, _core.HighsStatus.kWarning)
ROWWISE = int(_core.MatrixFormat.kRowwise)
DROPPED_BY_DEFAULT = 1e-9
SMALLEST_KEPT = 1e-12
"""Entries up to the first are dropped by HiGHS unless told otherwise; below the second always."""

MOST_SINGLETONS = 3000
"""Columns that have their only entry in one row, from which on presolve does not compare them.

HiGHS 1.16 takes 0.07 s for 3,000 of them and 1.4 s for 10,000, by the square of their number.
"""

PARALLEL_LINES = 1 << 13
"""The bit of HiGHS's rule for parallel rows and columns."""


class Session:
    """A HiGHS object holding one model.

    Parameters
    ----------
    settings : mapping
        HiGHS options by name.
    channel : Channel
        Whom to ask and tell while it runs.

    Raises
    ------
    EngineError
        HiGHS refuses an option or the model; the message carries its own words.
    """

    def __init__(self, model: Model, settings: Mapping[str, Setting], channel: Channel) -> None:
        self.model = model
        self.channel = channel
        self.complaints: list[str] = []
        self._failure: BaseException | None = None
        self.highs: Any = _core._Highs()  # its stub file misses some methods and has wrong types
        self._threads = int(settings.get("threads", 0))
        for name, value in settings.items():
            self.set(name, value)
        self._keep_tiny_entries()
        self._spare_parallel_columns()
        self._subscribe()
        self._pass(model)

    def set(self, name: str, value: Setting) -> None:
        """Set one HiGHS option."""
        if self.highs.setOptionValue(name, value) != _core.HighsStatus.kOk:
            raise EngineError(f"The reference engine refuses its option {name} = {value!r}.")

    def run(self) -> Any:
        """Solve what is loaded within the time left and return HiGHS's model status."""
        self._set_limit()
        if self._unasked and self.channel.stop() is not None:
            self.halt()  # whoever told it to stop may have done so before the limit was set
        self.highs.run()  # says "error" where simplex breaks down; the model status says it better
        self._raise_failure()
        return self.highs.getModelStatus()

    def _set_limit(self) -> None:
        """Set the time left as a limit on HiGHS's clock, which goes on from run to run."""
        limit = self.highs.getRunTime() + self.channel.time_left()
        self.set("time_limit", min(limit, 1e9))

    def halt(self) -> None:
        """Stop simplex within an iteration, from any thread: it reads its limit every time.

        Branch and bound reads it at every node. Interior point reads it once and has to ask.
        """
        self.highs.setOptionValue("time_limit", 0.0)

    def ask(self) -> None:
        """Let a branch and bound that does not ask by itself ask and tell once, from any thread."""
        if self.model.is_mip:
            for kind in ASKING:
                self.highs.startCallback(kind)

    def speak(self) -> None:
        """Let HiGHS write its log from now on, from any thread."""
        self.highs.setOptionValue("output_flag", True)

    def crossover(self, x: FloatArray, reduced_cost: FloatArray, row_dual: FloatArray) -> None:
        """Push a complementary point on to a basis; :meth:`basis` then tells whether it worked.

        HiGHS's return code says little: an imprecise point is a warning like any other.
        """
        self.start_scheduler()
        self._set_limit()
        self.highs.crossover(self._as_solution(x, reduced_cost, row_dual))
        self._raise_failure()

    def _as_solution(self, x: FloatArray, reduced_cost: FloatArray, row_dual: FloatArray) -> Any:
        solution = _core.HighsSolution()
        solution.col_value = x.tolist()
        solution.row_value = self.model.activity(x).tolist()
        solution.col_dual, solution.row_dual = reduced_cost.tolist(), row_dual.tolist()
        solution.value_valid = solution.dual_valid = True
        return solution

    def _keep_tiny_entries(self) -> None:
        """Lower the size from which HiGHS drops matrix entries, for a model that has such.

        Not for others: the same option steers HiGHS's simplex, which with 1e-12 no longer proves
        some small models infeasible that it otherwise settles at once.
        """
        smallest = float(np.abs(self.model.value).min(initial=np.inf))
        if smallest <= DROPPED_BY_DEFAULT:
            self.set("small_matrix_value", SMALLEST_KEPT)

    def _spare_parallel_columns(self) -> None:
        """Leave out presolve's search for parallel columns where one row has very many.

        Columns whose only entry is in the same row are parallel to each other, and HiGHS 1.16
        compares all pairs without a look at the clock.
        """
        model = self.model
        if model.value.size <= MOST_SINGLETONS:
            return
        long_rows = np.flatnonzero(np.diff(model.start) > MOST_SINGLETONS)
        if not long_rows.size:
            return
        lengths = np.bincount(model.index, minlength=model.num_columns)
        for row in long_rows:
            columns = model.index[model.start[row] : model.start[row + 1]]
            if np.count_nonzero(lengths[columns] == 1) > MOST_SINGLETONS:
                self.set("presolve_rule_off", PARALLEL_LINES)
                return

    def start_scheduler(self) -> None:
        """Make this thread's scheduler, which ``run`` does and ``crossover`` needs.

        Without it crossover crashes the process at its first parallel loop.
        """
        empty = _core._Highs()
        empty.setOptionValue("output_flag", False)
        empty.setOptionValue("threads", self._threads)
        empty.run()

    def check(self, status: Any, doing: str) -> None:
        """Raise what a callback raised, or an error if HiGHS reports one."""
        self._raise_failure()
        if status not in CALL_OK:
            raise EngineError(f"The reference engine cannot {doing}{self.reasons()}")

    def change(self, model: Model) -> bool:
        """Hand over what differs in costs, bounds, sides and offset, and what has come at the end.

        The basis stays, with new columns nonbasic and new rows basic. False where another session
        is needed: for other coefficients in the rows at hand, and where HiGHS refuses.
        """
        if model.is_mip or not _begins_with(model, self.model):
            return False
        if self._has_smaller_entries(model):
            return False
        taken = self._append(model)
        old, highs, m, n = self.model, self.highs, self.model.num_rows, self.model.num_columns
        places = _different(old.cost, model.cost[:n])
        if places.size:
            taken.append(highs.changeColsCost(places.size, places, model.cost[places]))
        places = _different(old.lower, model.lower[:n], old.upper, model.upper[:n])
        if places.size:
            bounds = model.lower[places], model.upper[places]
            taken.append(highs.changeColsBounds(places.size, places, *bounds))
        row_lower, row_upper = model.row_lower[:m], model.row_upper[:m]
        places = _different(old.row_lower, row_lower, old.row_upper, row_upper)
        if places.size:
            bounds = model.row_lower[places], model.row_upper[places]
            taken.append(highs.changeRowsBounds(places.size, places, *bounds))
        if old.offset != model.offset:
            taken.append(highs.changeObjectiveOffset(model.offset))
        self.model = model
        return all(status in CALL_OK for status in taken)

    def _has_smaller_entries(self, model: Model) -> bool:
        """Whether new rows have entries so small that HiGHS would have to be told of them."""
        new = np.abs(model.value[self.model.value.size :])
        return bool(np.min(new, initial=np.inf) <= DROPPED_BY_DEFAULT)

    def _append(self, model: Model) -> list[Any]:
        """Add the columns and rows that a model has more, and return what HiGHS says to that."""
        m, n, k = self.model.num_rows, self.model.num_columns, self.model.value.size
        taken = []
        columns, rows = model.num_columns - n, model.num_rows - m
        if columns:
            vectors = model.cost[n:], model.lower[n:], model.upper[n:]
            nothing = np.zeros(columns, dtype=np.int32), model.index[:0], model.value[:0]
            taken.append(self.highs.addCols(columns, *vectors, 0, *nothing))
        if rows:
            sides = model.row_lower[m:], model.row_upper[m:]
            entries = model.start[m:-1] - k, model.index[k:], model.value[k:]
            taken.append(self.highs.addRows(rows, *sides, model.value.size - k, *entries))
        return taken

    def _raise_failure(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def reasons(self) -> str:
        """Return HiGHS's own words on what is wrong, to end a sentence with."""
        return f": {' '.join(self.complaints)}" if self.complaints else "."

    def stop_reason(self, default: StopReason) -> StopReason:
        """Return why the channel wants to stop, or ``default`` if it does not."""
        stop = self.channel.stop()
        return default if stop is None else stop

    def set_basis(self, basis: Basis) -> bool:
        """Hand a basis over; HiGHS repairs one with a wrong number of basics."""
        own = highs_basis(basis)
        own.alien = True
        return bool(self.highs.setBasis(own) in CALL_OK)

    def basis(self) -> Basis | None:
        """Return the basis, or None without a valid one."""
        basis = self.highs.getBasis()
        if not basis.valid:
            return None
        return HeldBasis(basis, self.model.num_columns, self.model.num_rows)

    def set_point(self, x: FloatArray, row_dual: FloatArray | None) -> None:
        """Hand a point over, with zero duals where there are none."""
        y = np.zeros(self.model.num_rows) if row_dual is None else row_dual
        self.check(
            self.highs.setSolution(self._as_solution(x, self.model.reduced_cost(y), y)),
            "take the starting point",
        )

    def solution(self) -> tuple[FloatArray | None, FloatArray | None]:
        """Return column values (n,) and row duals (m,), None where HiGHS has none."""
        found = self.highs.getSolution()
        x = np.array(found.col_value, dtype=np.float64) if found.value_valid else None
        y = np.array(found.row_dual, dtype=np.float64) if found.dual_valid else None
        return x, y

    def dual_ray(self) -> FloatArray | None:
        """Return a direction (m,) in which the duals improve for ever, of either sign."""
        if not self.model.num_rows:
            return None
        _, exists, ray = self.highs.getDualRay()
        return np.array(ray, dtype=np.float64) if exists else None

    def _pass(self, model: Model) -> None:
        self.check(
            self.highs.passModel(
                model.num_columns,
                model.num_rows,
                model.value.size,
                ROWWISE,
                int(_core.ObjSense.kMinimize),
                model.offset,
                model.cost,
                model.lower,
                model.upper,
                model.row_lower,
                model.row_upper,
                model.start,
                model.index,
                model.value,
                model.integer.astype(np.int32),
            ),
            "take the model",
        )
        if self.highs.getNumNz() != model.value.size:
            raise EngineError(f"The reference engine drops coefficients{self.reasons()}")

    def _subscribe(self) -> None:
        self._unasked = False
        if isinstance(self.channel, Brief):
            return

        session: Session = weakref.proxy(self)
        table = handlers(session)
        self._unasked = self.channel.takes(weakref.ref(self))
        if self._unasked:
            del table[int(Kind.kCallbackSimplexInterrupt)]
        once = {int(kind): kind for kind in ASKING} if self._unasked else {}

        def on_callback(kind: int, message: str, out: Any, into: Any, user: Any) -> None:
            try:
                if kind in once:
                    session.highs.stopCallback(once[kind])
                table[int(kind)](message, out, into)
            except BaseException as failure:  # must not unwind through HiGHS's own frames
                session._failure = failure
                if into is not None:
                    into.user_interrupt = True

        self.check(self.highs.setCallback(on_callback, None), "take callbacks")
        for kind in table.keys() - once.keys():
            self.check(self.highs.startCallback(Kind(kind)), "start a callback")


class HeldBasis(Basis):
    """A basis of HiGHS's, whose statuses become arrays when somebody looks at them.

    HiGHS's interface makes an object of each, a twentieth of a small solve, and few callers
    want a basis.
    """

    _held: Any
    _shapes: tuple[tuple[int, ...], tuple[int, ...]]

    def __init__(self, held: Any, columns: int, rows: int) -> None:
        self.__dict__.update(_held=held, _shapes=((columns,), (rows,)))

    @cached_property
    def column_status(self) -> ByteArray:
        """Statuses of the columns (n,)."""
        return _numbers(self._held.col_status)

    @cached_property
    def row_status(self) -> ByteArray:
        """Statuses of the rows (m,)."""
        return _numbers(self._held.row_status)

    @property
    def shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes of both."""
        return self._shapes

    def __reduce__(self) -> tuple[type[Basis], tuple[ByteArray, ByteArray]]:
        return Basis, (self.column_status, self.row_status)


def _numbers(statuses: list[Any]) -> ByteArray:
    return np.array([status.value for status in statuses], dtype=np.int8)


def highs_basis(given: Basis) -> Any:
    """Return a basis as HiGHS holds one."""
    basis = _core.HighsBasis()
    kinds = [_core.HighsBasisStatus(k) for k in range(5)]
    basis.col_status = [kinds[k] for k in given.column_status]
    basis.row_status = [kinds[k] for k in given.row_status]
    basis.valid = True
    return basis


def _begins_with(model: Model, old: Model) -> bool:
    """Whether the rows and columns of an older model are the first ones of a model."""
    m, k = old.num_rows, old.value.size
    return (
        model.num_rows >= m
        and model.num_columns >= old.num_columns
        and _are_same(old.start, model.start if m == model.num_rows else model.start[: m + 1])
        and _are_same(old.index, model.index if k == model.index.size else model.index[:k])
        and _are_same(old.value, model.value if k == model.value.size else model.value[:k])
    )


def _are_same(one: npt.NDArray[np.generic], other: npt.NDArray[np.generic]) -> bool:
    return one is other or np.array_equal(one, other)


def _different(*pairs: FloatArray) -> IndexArray:
    """Return where one of several pairs of vectors differs, which come one after the other."""
    differs = pairs[0] != pairs[1]
    for k in range(2, len(pairs), 2):
        differs |= pairs[k] != pairs[k + 1]
    return np.flatnonzero(differs).astype(np.int32)
