"""The coefficients of a problem, shared out over the devices of a group."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from solvers.core.problem import Problem
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.distributed.matrix import share_matrix
from solvers.pdlp.distributed.sides import sides_of
from solvers.pdlp.state import Coefficients
from solvers.sparse.slices import CPU_PLAN, Packed, Plan, pack


def share_out(
    problem: Problem,
    group: DeviceGroup,
    plan: Plan,
    pack_from: int,
    piece: int,
    threads: int = 0,
) -> Coefficients:
    """Share the matrix of a problem out by rows and by columns, and copy it to the devices.

    ``piece`` elements travel together at the most, and ``threads`` are those of the CPU; the other
    arguments are those of :func:`solvers.pdlp.layout.to_device`.
    """
    rows, columns = problem.entries, problem.columns
    on_cpu = group.members[0].kind == "cpu"
    plan = CPU_PLAN if on_cpu else plan
    packs = rows.nnz >= pack_from and not on_cpu
    packed = pack(rows.data, *rows.shape) if packs else Packed()
    shares = np.array(group.shares)
    own, other = sides_of(rows, columns, shares, plan, piece, threads)
    with ThreadPoolExecutor(1) as beside:
        by_column = beside.submit(share_matrix, group, columns, other, own, plan, packed)
        by_row = share_matrix(group, rows, own, other, plan, packed)
    return Coefficients(
        by_row=by_row,
        by_column=by_column.result(),
        row_order=own.order,
        column_order=other.order,
    )
