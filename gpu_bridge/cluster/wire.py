"""Models and starts as plain data, for the way to a worker.

Names of columns and rows stay behind, as a worker has no use for them, and so does whatever a
problem keeps of itself.
"""

from __future__ import annotations

from typing import Any

from solvers.core.outcome import Basis, Start
from solvers.core.problem import Problem
from solvers.core.rows import SparseRows

VECTORS = ("cost", "row_lower", "row_upper", "lower", "upper", "integrality")

Packed = dict[str, Any]


def pack(problem: Problem) -> Packed:
    """Return a problem as plain data, on the same arrays."""
    entries = problem.entries
    packed: Packed = {name: getattr(problem, name) for name in VECTORS}
    packed["entries"] = (entries.data, entries.indices, entries.indptr)
    return packed | {
        "offset": problem.offset,
        "maximize": problem.maximize,
        "name": str(problem.name),
    }


def unpack(packed: Packed) -> Problem:
    """Return the problem; its matrix stays where Ray has put the arrays."""
    own = {name: packed[name].copy() for name in VECTORS}
    data, indices, indptr = packed["entries"]
    shape = own["row_lower"].size, own["cost"].size
    return Problem.from_canonical(
        **own,
        matrix=SparseRows(data, indices, indptr, shape),
        offset=packed["offset"],
        maximize=packed["maximize"],
        name=packed["name"],
    )


def pack_start(start: Start | None) -> tuple[Any, ...] | None:
    """Return a start as plain data."""
    if start is None:
        return None
    basis = start.basis
    statuses = None if basis is None else (basis.column_status, basis.row_status)
    return start.x, start.row_dual, statuses


def unpack_start(packed: tuple[Any, ...] | None) -> Start | None:
    """Return the start."""
    if packed is None:
        return None
    x, row_dual, statuses = packed
    return Start(x, row_dual, None if statuses is None else Basis(*statuses))
