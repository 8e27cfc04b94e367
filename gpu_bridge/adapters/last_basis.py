"""The basis of a solver's last answer, for a warm start of the same model.

A model that is solved again after its data have changed starts from the basis it ended with, if the
caller wants a warm start. It is remembered beside the solver and not in it, so that solvers can be
copied and written to files, and for the last model only.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from solvers.core.process_state import Slot

if TYPE_CHECKING:
    from solvers.core.outcome import Basis
    from solvers.core.problem import Problem

_last: Slot[weakref.WeakKeyDictionary[Any, tuple[weakref.ref[Any], Basis]]] = Slot(
    "each solver's last model and its basis", weakref.WeakKeyDictionary
)


def remember_basis(solver: Any, model: Any, basis: Basis | None) -> None:
    """Keep the basis of an answer, or forget the one before if there is none."""
    if basis is None:
        _last.value.pop(solver, None)
    else:
        _last.value[solver] = (weakref.ref(model), basis)


def recall_basis(solver: Any, model: Any, problem: Problem) -> Basis | None:
    """Return the basis that this solver ended with on this very model, if it still fits."""
    reference, basis = _last.value.get(solver, (None, None))
    if reference is None or basis is None or reference() is not model or problem.is_mip:
        return None
    fits = (
        basis.column_status.size == problem.num_columns
        and basis.row_status.size == problem.num_rows
    )
    return basis if fits else None
