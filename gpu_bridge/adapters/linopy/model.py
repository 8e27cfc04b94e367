"""A linopy model as arrays, which linopy changes in place where a solver is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gpu_bridge.adapters.arrays import IndexArray, fits, places_of
from gpu_bridge.adapters.sos import OrderedSet, add_ordered_sets
from gpu_bridge.lazy import MadeSequence
from gpu_bridge.outcome import Outcome
from solvers.core.outcome import Basis
from solvers.core.problem import BoolArray, FloatArray, Problem


@dataclass(eq=False)
class SolverModel:
    """What stands in ``model.solver_model``: the numbers that are solved, and the answer."""

    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    """(n,) each."""
    integrality: BoolArray
    """(n,) of bool."""
    matrix: Any
    """(m, n) sparse by rows; None where there are no rows."""
    row_lower: FloatArray
    row_upper: FloatArray
    """(m,) each."""
    maximize: bool
    column_names: Sequence[str]
    row_names: Sequence[str]
    """Each is made when somebody reads it."""
    sets: Sequence[OrderedSet] = ()
    outcome: Outcome | None = None
    """The verified answer of the last solve."""

    def problem(self) -> Problem:
        """Return the problem; what the sets need stands behind the columns and rows."""
        arrays = {
            name: value for name, value in vars(self).items() if name not in ("sets", "outcome")
        }
        return add_ordered_sets(Problem.from_arrays(**arrays), self.sets)

    @property
    def last_basis(self) -> Basis | None:
        """The basis of the last answer; None without one, or where a variable is integer."""
        basis = None if self.outcome is None else self.outcome.basis
        usable = fits(basis, self.row_lower.size, self.cost.size) and not self.integrality.any()
        return basis if usable else None

    def set_coefficients(self, rows: IndexArray, columns: IndexArray, values: FloatArray) -> None:
        """Change coefficients (k,) that the matrix has.

        Raises
        ------
        KeyError
            It lacks one of them.
        """
        A = self.matrix
        A.sum_duplicates()
        places, found = places_of(A, np.asarray(rows, dtype=np.int64), columns)
        if not found.all():
            k = int(np.flatnonzero(~found)[0])
            raise KeyError(
                f"'{self.column_names[int(columns[k])]}' has no coefficient in "
                f"'{self.row_names[int(rows[k])]}'"
            )
        A.data[places] = values


def _label_names(labels: IndexArray, position: Callable[[int], Any]) -> Sequence[str]:
    """Return names such as ``Generator-p[2015-01-01, gas]``, found by linopy's labels (n,).

    ``position`` returns the name and the coordinates that belong to a label.
    """
    return MadeSequence(len(labels), partial(_label_name, labels, position))


def _label_name(labels: IndexArray, position: Callable[[int], Any], place: int) -> str:
    name, coordinates = position(int(labels[place]))
    return f"{name}[{', '.join(map(str, coordinates.values()))}]" if coordinates else str(name)


def read_model(model: Any) -> SolverModel:
    """Return a linopy model's numbers."""
    M = model.matrices
    if not len(model.constraints):  # older matrices cannot be asked then
        sense, sides, labels = np.zeros(0, dtype="U1"), np.zeros(0), np.zeros(0, dtype=np.int64)
    else:
        sense, sides, labels = M.sense, M.b, M.clabels
    return SolverModel(
        cost=M.c,
        lower=M.lb,
        upper=M.ub,
        integrality=np.isin(M.vtypes, ("B", "I")),
        matrix=M.A,
        row_lower=np.where(sense != "<", sides, -np.inf),
        row_upper=np.where(sense != ">", sides, np.inf),
        maximize=model.objective.sense == "max",
        column_names=_label_names(M.vlabels, model.variables.get_label_position),
        row_names=_label_names(labels, model.constraints.get_label_position),
        sets=list(_ordered_sets(model, M.vlabels)),
    )


def has_ordered_sets(model: Any) -> bool:
    """Whether a linopy model has special ordered sets, which the oldest linopy does not know."""
    return len(getattr(model.variables, "sos", ())) > 0


def _ordered_sets(model: Any, labels: IndexArray) -> Iterator[OrderedSet]:
    """Yield the special ordered sets; a variable has one along a dimension for each place else."""
    if not has_ordered_sets(model):
        return
    variables = model.variables.sos
    column = {label: j for j, label in enumerate(labels.tolist())}
    for name in variables:
        variable = variables[name]
        along = str(variable.attrs["sos_dim"])
        members = variable.labels.transpose(along, ...).values
        for k, chain in enumerate(members.reshape(members.shape[0], -1).T.tolist()):
            there = tuple(column[label] for label in chain if label != -1)
            yield OrderedSet(f"{name}.sos[{k}]", int(variable.attrs["sos_type"]), there)
