"""A problem's matrix shared out over the devices of a group, by rows and by columns."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from solvers.core.linear_algebra import SparseRows
from solvers.core.machine import usable_cores
from solvers.core.problem import Problem
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.distributed.matrix import SharedMatrix
from solvers.pdlp.distributed.sides import Side, sides_of
from solvers.pdlp.layout import ON_DEVICE_FROM, laid_out
from solvers.pdlp.state import Coefficients
from solvers.sparse.shape import CPU_PLAN, IndexArray, Plan
from solvers.sparse.slices import Packed, Slices, in_slices, pack, without_entries


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
        member, position = group.members[device], other.positions(device, threads=at_a_time)
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
                places = own.positions(device, copies=False, threads=at_a_time)
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
    with group.on(0):
        own, other = sides_of(rows, columns, shares, plan, threads, group.members[0])
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
