"""A matrix by its rows, and both of a problem, shared out over the devices of a group."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from solvers.core.cores import usable_cores
from solvers.core.problem import FloatArray, Problem
from solvers.core.rows import SparseRows
from solvers.kernels.family import Family
from solvers.pdlp.distributed.communication import Message
from solvers.pdlp.distributed.group import DeviceGroup, Replicated
from solvers.pdlp.distributed.sides import Side, sides_of
from solvers.pdlp.distributed.vectors import SharedOut
from solvers.pdlp.kernels.measure import slots_of
from solvers.pdlp.layout import ON_DEVICE_FROM, laid_out
from solvers.pdlp.state import Coefficients
from solvers.sparse.shape import CPU_PLAN, IndexArray, Plan
from solvers.sparse.slices import Packed, Slices, in_slices, pack, without_entries

Call = Callable[[], None]


@dataclass(frozen=True, eq=False)
class SharedMatrix:
    """A matrix by rows: of each device, the slices of each of its parts.

    Parameters
    ----------
    group : DeviceGroup
    own : Side
        Its rows.
    other : Side
        Its columns, of which devices read copies.
    slices : tuple of tuples of Slices
    """

    group: DeviceGroup
    own: Side
    other: Side
    slices: tuple[tuple[Slices, ...], ...]

    @property
    def rows(self) -> int:
        """Rows in all."""
        return self.own.size

    @property
    def columns(self) -> int:
        """Columns in all."""
        return self.other.size

    @property
    def nonzeros(self) -> int:
        """Coefficients in all."""
        return sum(part.nonzeros for parts in self.slices for part in parts)

    @property
    def bytes(self) -> int:
        """Bytes that one product has to read of the matrix, on all devices together."""
        return sum(part.bytes for parts in self.slices for part in parts)

    @property
    def units(self) -> int:
        """Teams of threads that one product keeps busy, on all devices together."""
        return sum(part.units for parts in self.slices for part in parts)

    @property
    def devices(self) -> int:
        """Number of devices."""
        return len(self.slices)

    @property
    def slots(self) -> int:
        """Partial sums of a check for which each device needs room."""
        return max(sum(map(slots_of, parts)) for parts in self.slices)

    def of_rows(self, values: FloatArray) -> SharedOut:
        """Share figures of the rows (rows,), in the side's order, out."""
        return SharedOut.of(self.group, self.own, values)

    def prepared(self, family: Family, name: str, values: Sequence[Any], threads: int) -> Call:
        """Return a kernel of all parts with its arguments, to be run again and again.

        Vectors of the other side are brought up to date on all devices before; they have to have
        room for that (``SharedOut.with_copies``).
        """
        gathered = [value for value in values if is_on(value, self.other)]
        messages = [message for vector in gathered for message in messages_of(vector)]
        calls = []
        for device, parts in enumerate(self.slices):
            for part, slices in enumerate(parts):
                there = [self._local(value, device, part) for value in values]
                arguments = (*slices.arguments, *there)
                calls.append((device, bound(self.group, device, family, name, arguments, threads)))

        def run() -> None:
            self.group.links.fork()
            self.group.links.exchange(messages)
            self.group.links.join()
            for device, call in calls:
                with self.group.on(device):
                    call()

        return run

    def _local(self, value: Any, device: int, part: int) -> Any:
        if is_on(value, self.own):
            return value.part(device, part)
        return value.arrays[device] if isinstance(value, (SharedOut, Replicated)) else value


def is_on(value: Any, side: Side) -> bool:
    """Whether a kernel's argument is a vector of a side."""
    return isinstance(value, SharedOut) and value.side is side


def bound(
    group: DeviceGroup, device: int, family: Family, name: str, values: Sequence[Any], threads: int
) -> Call:
    """Return a kernel with its arguments on one device of a group."""
    if group.kind == "cpu":
        return functools.partial(family[name], *values, threads=threads)
    with group.on(device):
        return family.bind(name, *values)


def messages_of(vector: SharedOut) -> list[Message]:
    """Return what brings copies of a vector's elements up to date."""
    found = []
    for transfer in vector.side.transfers:
        source, target, places = transfer.source, transfer.target, transfer.places
        end = transfer.begin + transfer.count
        received = vector.arrays[target][transfer.begin : end]
        if received.size != transfer.count:
            raise ValueError("the vector has no room for copies")
        sent = vector.own(source)
        if isinstance(places, slice):
            found.append(Message(source, target, sent[places], received))
            continue
        with vector.group.on(source):
            there = vector.group.members[source].to_device(places)
            packed = vector.group.xp.empty(transfer.count)
        found.append(Message(source, target, sent, received, there, packed))
    return found


def share_matrix(
    group: DeviceGroup,
    matrix: SparseRows,
    own: Side,
    other: Side,
    plan: Plan,
    packed: Packed,
    threads: int = 0,
) -> SharedMatrix:
    """Lay a matrix out by its rows as they are shared out, in the memory of the devices."""
    at_a_time = max(1, (threads or usable_cores()) // len(group.members))

    def lay_out(device: int) -> tuple[Slices, ...]:
        member, position = group.members[device], other.positions(device)
        order, bounds = own.order[own.range_of(device)], own.bounds[device]
        parts = [order[begin:end] for begin, end in pairwise(bounds)]
        with group.on(device):
            if plan.height == 1:
                found = [_as_rows(matrix, part, position).to_device(member) for part in parts]
            elif matrix.nnz < ON_DEVICE_FROM:
                found = [
                    in_slices(matrix, plan, part, position, packed).to_device(member)
                    for part in parts
                ]
            else:
                lengths = matrix.lengths
                slices = [
                    without_entries(matrix, plan, part, lengths[part], position, packed, at_a_time)
                    for part in parts
                ]
                places = np.full(own.size, -1, dtype=np.int32)
                places[order] = np.arange(order.size, dtype=np.int32)
                there = member.to_device(places), member.to_device(position)
                found = laid_out(slices, matrix, there[0], there[1], member)
            member.synchronize()  # other streams than this thread's are going to read it
        return tuple(found)

    with ThreadPoolExecutor(len(group.members)) as each:  # the loops run without Python's lock
        slices = tuple(each.map(lay_out, range(len(group.members))))
    return SharedMatrix(group, own, other, slices)


def _as_rows(matrix: SparseRows, rows: IndexArray, position: IndexArray) -> Slices:
    """Describe some rows of a matrix as a CPU, which stands for a GPU in tests, holds them."""
    lengths = matrix.lengths[rows]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(matrix.indptr.dtype)
    entries = np.arange(starts[-1]) + np.repeat(matrix.indptr[rows] - starts[:-1], lengths)
    indices = position[matrix.indices[entries]]
    own = SparseRows(matrix.data[entries], indices, starts, (rows.size, matrix.shape[1]))
    return in_slices(own, CPU_PLAN, rows, position, Packed())


def share_out(
    problem: Problem,
    group: DeviceGroup,
    plan: Plan,
    pack_from: int,
    threads: int = 0,
) -> Coefficients:
    """Share the matrix of a problem out by rows and by columns, and copy it to the devices.

    The arguments are those of :func:`solvers.pdlp.layout.to_device`.
    """
    rows, columns = problem.entries, problem.by_column(threads)
    on_cpu = group.members[0].kind == "cpu"
    plan = CPU_PLAN if on_cpu else plan
    packs = rows.nnz >= pack_from and not on_cpu
    packed = pack(rows.data, *rows.shape, threads) if packs else Packed()
    shares = np.array(group.shares)
    own, other = sides_of(rows, columns, shares, plan, threads)
    with ThreadPoolExecutor(1) as beside:
        by_column = beside.submit(share_matrix, group, columns, other, own, plan, packed, threads)
        by_row = share_matrix(group, rows, own, other, plan, packed, threads)
    group.release_memory()  # what the threads' own streams took for a while, others cannot use
    return Coefficients(
        by_row=by_row,
        by_column=by_column.result(),
        row_order=own.order,
        column_order=other.order,
    )
