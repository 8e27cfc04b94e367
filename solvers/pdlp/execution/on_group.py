"""Iteration blocks on the devices of a group: on each what it owns, and messages between.

What other devices read of a half of an iteration is computed first. It travels in a stream beside
that in which the rest is computed, and the next half begins when all has arrived. On GPUs a block
is one recorded graph for each, the messages among its launches, and the host reads about a block
while the next runs, as on one GPU.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from solvers.pdlp.bounds import Coded
from solvers.pdlp.distributed.communication import Message, RecordedGraphs
from solvers.pdlp.distributed.group import DeviceGroup, Replicated
from solvers.pdlp.distributed.matrix import SharedMatrix, bound, messages_of
from solvers.pdlp.distributed.sides import PARTS
from solvers.pdlp.distributed.vectors import SharedOut
from solvers.pdlp.execution.on_cpu import (
    Arguments,
    column_measure_arguments,
    decide_arguments,
    dual_arguments,
    primal_arguments,
    row_measure_arguments,
    settle_arguments,
)
from solvers.pdlp.execution.on_gpu import SHALLOW, pinned
from solvers.pdlp.kernels.decide import DECISIONS
from solvers.pdlp.kernels.measure import MEASURE, slots_of
from solvers.pdlp.kernels.step import KEEP_FIRST, KEEP_LAST, KEEP_NONE, STEP
from solvers.pdlp.state import Coefficients, Iterate, State
from solvers.pdlp.termination import Record

Pick = Callable[[SharedOut], Any]


class BlocksOnGroup:
    """Runs blocks on the devices of a group: at once on CPUs, queued on GPUs."""

    def __init__(self, state: State, group: DeviceGroup) -> None:
        self._state = state
        self._steps = GroupSteps(state, group)
        self._queue = None if group.kind == "cpu" else GroupQueue(state, group, self._steps)
        self.depth = 1 if self._queue is None else SHALLOW
        self._records: deque[Record] = deque()

    @property
    def pending(self) -> int:
        """Blocks submitted whose records have not been taken."""
        return len(self._records) if self._queue is None else self._queue.pending

    def submit(self, count: int) -> None:
        """Run, or queue, a block of so many iterations."""
        if self._queue is not None:
            self._queue.submit(count)
            return
        self._steps.run(count)
        self._records.append(Record(self._state.read_control()))

    def take(self) -> Record:
        """Return the record of the earliest block not taken; waits for it."""
        return self._records.popleft() if self._queue is None else self._queue.take()

    def drain(self) -> None:
        """Wait for all blocks submitted."""
        if self._queue is not None:
            self._queue.drain()


StepCall = Callable[[int, int], None]
"""A half of an iteration, by the iteration's number within the block and what it keeps."""


@dataclass(frozen=True, eq=False)
class Half:
    """One half of an iteration: launches on each device of what travels, and of the rest."""

    shared: tuple[StepCall, ...]
    messages: list[Message]
    rest: tuple[StepCall, ...]


class GroupSteps:
    """The launches and messages of a block, in their order.

    What devices read of each other's vectors gets room for copies here.
    """

    def __init__(self, state: State, group: DeviceGroup) -> None:
        self._group = group
        x, y = state.x, state.y
        read = (state.reflected, *x.written, y.point, y.projection)
        for vector in read:
            vector.with_copies()
        columns, rows = (
            _matrix(state.problem.coefficients.by_column),
            _matrix(state.problem.coefficients.by_row),
        )
        self._primal = _half(_PartStates(state, group, columns), "primal_step", state.reflected)
        self._dual = _half(_PartStates(state, group, rows), "dual_step", y.point)
        self._before = messages_of(y.point)
        measured = (*x.written, y.projection)
        self._before_check = [message for vector in measured for message in messages_of(vector)]
        self._measure = [
            *_measures(_PartStates(state, group, rows), "measure_rows", row_measure_arguments),
            *_measures(
                _PartStates(state, group, columns), "measure_columns", column_measure_arguments
            ),
        ]
        self._sums = [
            *_messages_of_sums(group, state.row_partial, rows.slots),
            *_messages_of_sums(group, state.column_partial, columns.slots),
        ]
        self._wholes = [_own_state(state, group, device) for device in range(len(group.members))]

    def run(self, count: int) -> None:
        """Run, queue or record a block of so many iterations and its check."""
        self._exchange(self._before)
        for offset in range(count):
            keep = KEEP_FIRST if offset == 0 else KEEP_NONE
            keep |= KEEP_LAST if offset == count - 1 else KEEP_NONE
            self._advance(self._primal, offset, keep)
            self._advance(self._dual, offset, keep)
        self._exchange(self._before_check)
        for device, call in self._measure:
            self._call(device, call)
        self._exchange(self._sums)
        for device, local in enumerate(self._wholes):
            for name, arguments in (
                ("decide", decide_arguments(local, count)),
                ("settle", settle_arguments(local)),
            ):
                self._call(
                    device, bound(self._group, device, DECISIONS, name, arguments, local.threads)
                )

    def _advance(self, half: Half, offset: int, keep: int) -> None:
        """Compute one half of an iteration; the next may begin when its messages are there."""
        self._step(half.shared, offset, keep)
        self._group.links.fork()
        self._group.links.exchange(half.messages)
        self._step(half.rest, offset, keep)
        self._group.links.join()

    def _step(self, calls: Sequence[StepCall], offset: int, keep: int) -> None:
        for device, call in enumerate(calls):
            with self._group.on(device):
                call(offset, keep)

    def _exchange(self, messages: Sequence[Message]) -> None:
        links = self._group.links
        links.fork()
        links.exchange(messages)
        links.join()

    def _call(self, device: int, call: Callable[[], None]) -> None:
        with self._group.on(device):
            call()


def _matrix(matrix: Any) -> SharedMatrix:
    if not isinstance(matrix, SharedMatrix):
        raise TypeError("the matrix is not shared out over a group")
    return matrix


@dataclass(frozen=True, eq=False)
class _PartStates:
    """The states by which kernels see one part of what one device owns of a matrix's rows.

    Vectors of the rows are those of the part, and vectors of the columns all that the device has.
    """

    state: State
    group: DeviceGroup
    matrix: SharedMatrix

    def __call__(self, device: int, part: int) -> State:
        """Return the state of a part."""
        side, parts = self.matrix.own, self.matrix.slices[device]
        coefficients = Coefficients(parts[part], parts[part])

        def pick(vector: SharedOut) -> Any:
            return vector.part(device, part) if vector.side is side else vector.arrays[device]

        first = device * self.matrix.slots + sum(map(slots_of, parts[:part]))
        sums = slice(first, first + slots_of(parts[part]))
        return _local_state(self.state, self.group, device, pick, coefficients, sums)


def _own_state(state: State, group: DeviceGroup, device: int) -> State:
    """Return the state of all that a device owns, and of all sums."""
    coefficients = state.problem.coefficients
    return _local_state(
        state, group, device, lambda vector: vector.own(device), coefficients, slice(None)
    )


def _local_state(
    state: State,
    group: DeviceGroup,
    device: int,
    pick: Pick,
    coefficients: Coefficients,
    sums: slice,
) -> State:
    """Return a state on one device, of what ``pick`` takes of each vector."""
    whole = state.problem

    def coded(bounds: Coded) -> Coded:
        return Coded(pick(bounds.codes), bounds.pairs.arrays[device], bounds.bytes)

    vectors = ("cost", "lower", "upper", "row_lower", "row_upper", "column_metric", "row_metric")
    problem = dataclasses.replace(
        whole,
        device=group.members[device],
        coefficients=coefficients,
        **{name: pick(getattr(whole, name)) for name in vectors},
        bounds=coded(whole.bounds),
        sides=coded(whole.sides),
    )

    def side(iterate: Iterate) -> Iterate:
        fields = dataclasses.fields(iterate)
        return Iterate(*(pick(getattr(iterate, field.name)) for field in fields))

    return dataclasses.replace(
        state,
        problem=problem,
        x=side(state.x),
        y=side(state.y),
        feasible_x=pick(state.feasible_x),
        reflected=pick(state.reflected),
        control=state.control.arrays[device],
        row_partial=state.row_partial.arrays[device][sums],
        column_partial=state.column_partial.arrays[device][sums],
    )


def _half(states: _PartStates, name: str, written: SharedOut) -> Half:
    """Return a half of an iteration, which writes a vector that other devices read."""
    arguments = primal_arguments if name == "primal_step" else dual_arguments

    def steps(part: int) -> tuple[StepCall, ...]:
        return tuple(
            _step(states.group, device, name, arguments(states(device, part)), states.state)
            for device in range(states.matrix.devices)
        )

    return Half(steps(0), messages_of(written), steps(1))


def _step(
    group: DeviceGroup, device: int, name: str, arguments: Arguments, state: State
) -> StepCall:
    if group.kind == "cpu":
        return lambda offset, keep: STEP[name](*arguments, offset, keep, threads=state.threads)
    with group.on(device):
        launch = STEP.bind(name, *arguments, 0, 0)
    return lambda offset, keep: launch.ending(offset, keep)()


def _measures(
    states: _PartStates, name: str, arguments: Callable[[State], Arguments]
) -> list[tuple[int, Callable[[], None]]]:
    """Return the launches that make the sums of a check over a matrix's rows."""
    group, threads = states.group, states.state.threads
    return [
        (device, bound(group, device, MEASURE, name, arguments(states(device, part)), threads))
        for device in range(states.matrix.devices)
        for part in range(PARTS)
    ]


def _messages_of_sums(group: DeviceGroup, sums: Replicated, slots: int) -> list[Message]:
    """Return what brings each device's sums of a check to all others."""
    devices = range(len(group.members))

    def block(device: int, source: int) -> Any:
        return sums.arrays[device][source * slots : (source + 1) * slots].reshape(-1)

    return [
        Message(source, target, block(source, source), block(target, source))
        for source in devices
        for target in devices
        if source != target
    ]


class GroupQueue:
    """Queues blocks on the current streams of a group's GPUs."""

    def __init__(self, state: State, group: DeviceGroup, steps: GroupSteps) -> None:
        self._state = state
        self._group = group
        self._steps = steps
        self._cupy = group.xp
        self._indices = [member.index for member in group.members]
        self._streams = [self._cupy.cuda.get_current_stream(index) for index in self._indices]
        self._slots = pinned(self._cupy, SHALLOW + 1)
        self._under_way: deque[tuple[int, list[Any]]] = deque()
        self._submitted = 0
        self._recorded = RecordedGraphs([])
        group.links.watch(self._recorded)

    @property
    def pending(self) -> int:
        """Blocks submitted whose records have not been taken."""
        return len(self._under_way)

    def submit(self, count: int) -> None:
        """Queue a block of so many iterations, and the copy of its record."""
        if count == self._state.settings.restart.check_interval:
            if not self._recorded.graphs:
                self._recorded.graphs = self._record(count)
            with self._group.together():
                for device, stream in enumerate(self._streams):
                    with self._group.on(device):
                        self._recorded.launch(device, stream)
        else:
            with self._group.together():
                self._steps.run(count)
        slot = self._submitted % len(self._slots)
        with self._group.on(0):
            control = self._state.control.arrays[0]
            control.get(stream=self._streams[0], out=self._slots[slot], blocking=False)
        self._under_way.append((slot, self._group.mark()))
        self._submitted += 1

    def take(self) -> Record:
        """Return the record of the earliest block not taken; waits for it."""
        slot, events = self._under_way.popleft()
        self._group.wait_for(events)
        return Record(self._slots[slot].copy())

    def drain(self) -> None:
        """Wait for all blocks submitted."""
        self._group.synchronize()

    def _record(self, count: int) -> list[Any]:
        """Return a full block as a CUDA graph for each GPU."""
        graphs: list[Any] = []
        with ExitStack() as recording:
            for device, stream in enumerate(self._streams):
                with self._group.on(device):
                    stream.begin_capture()
                recording.callback(self._end_recording, device, graphs)
            self._steps.run(count)
        return graphs[::-1]

    def _end_recording(self, device: int, graphs: list[Any]) -> None:
        with self._group.on(device):
            graphs.append(self._streams[device].end_capture())
