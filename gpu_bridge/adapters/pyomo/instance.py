"""The model that a persistent solver holds: what belongs to it, how it was read, its last answer.

Membership is what the solver was told, or what the model holds. Everything else (expressions,
parameters, bounds, domains, which variables are fixed and which constraints are active) is looked
at before each solve, so nothing that somebody forgot to tell makes an answer wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from operator import attrgetter, is_
from typing import Any

from gpu_bridge.adapters.last_answer import Solved, start_after
from gpu_bridge.adapters.pyomo.components import (
    Parts,
    active_constraints,
    active_objective,
    active_sos,
    check_model,
)
from gpu_bridge.adapters.pyomo.convert import ComponentReader, ConvertedModel
from gpu_bridge.adapters.pyomo.rows import RowBatches
from gpu_bridge.outcome import Outcome
from solvers.core.errors import ProblemError
from solvers.core.outcome import Start


class Instance:
    """One model in a persistent solver.

    Attributes
    ----------
    constraints, sets : dict
        The constraints and special ordered sets that belong to it, by ``id``.
    objective : ObjectiveData, optional

    Raises
    ------
    IncompatiblePyomoModelError
        The model has a part without a linear form, or more than one active objective.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.constraints: dict[int, Any] = {}
        self.sets: dict[int, Any] = {}
        self.objective: Any | None = None
        self._last: Solved | None = None
        self._parts: Parts | None = None
        self._forget()
        self.follow_model()

    def follow_model(self, constraints: bool = True, objective: bool = True) -> None:
        """Let the instance be what the model holds now: constraints and sets, the objective."""
        if self._parts is not None and self._parts.are_those_of(self.model):
            return
        check_model(self.model)
        self._parts = Parts.of(self.model) if constraints and objective else None
        if constraints:
            self.constraints.clear()
            for members in active_constraints(self.model):
                self.add_constraints(members)
            self.sets = _by_id(active_sos(self.model))
        if objective:
            self.objective = active_objective(self.model)

    def add_constraints(self, constraints: Iterable[Any]) -> None:
        """Add constraint data; those that are there already stay where they are."""
        self.constraints.update(_by_id(constraints))

    def told(self) -> None:
        """Note that the members were changed by hand, so that they have to be looked at again."""
        self._parts = None

    def read(self) -> ConvertedModel:
        """Return the instance as it is now; only what has changed is converted.

        Raises
        ------
        ProblemError
            The objective that the solver was told is inactive, or what
            :class:`~gpu_bridge.adapters.pyomo.convert.ComponentReader` says.
        """
        try:
            self._update_rows()
            name = self.model.name or ""
            return self._reader.read(name, self.objective, self._active_sets())
        except BaseException:
            self._forget()  # what failed half-way is begun anew
            raise

    def remember(self, converted: ConvertedModel, outcome: Outcome) -> None:
        """Keep an answer to start from, if it is one."""
        solved = Solved(converted.problem, outcome, converted.columns, converted.rows)
        if solved.is_a_start:
            self._last = solved

    def forget_answer(self) -> None:
        """Let the next solve start from nothing."""
        self._last = None

    def start(self, converted: ConvertedModel) -> Start | None:
        """Return the last answer as a start for the instance as it was read now."""
        if self._last is None:
            return None
        return start_after(self._last, converted.problem, converted.columns, converted.rows, key=id)

    def _forget(self) -> None:
        self._rows = RowBatches()
        self._reader = ComponentReader(self._rows)
        self._read_constraints: list[Any] = []
        self._read_relations: list[Any] = []
        self._read_objective: tuple[Any, Any] = (None, None)

    def _active_sets(self) -> list[Any]:
        return [item for item in self.sets.values() if item.active]

    def _update_rows(self) -> None:
        """Bring the rows up to date with constraints, their expressions and the objective."""
        objective = self.objective, _expression(self.objective)
        if not all(map(is_, objective, self._read_objective)):
            self._rows.set_objective(self.objective)
            self._read_objective = objective
        constraints = list(self.constraints.values())
        active = list(map(attrgetter("_active"), constraints))
        if not all(active):
            constraints = list(compress(constraints, active))
        relations = [getattr(constraint, "_expr", None) for constraint in constraints]
        before, relations_before = self._read_constraints, self._read_relations
        if _begins_with(constraints, before) and _begins_with(relations, relations_before):
            self._rows.add(constraints[len(before) :])  # as with cuts, which come at the end
        else:
            now = dict(zip(map(id, constraints), relations, strict=True))
            known = dict(zip(map(id, before), relations_before, strict=True))
            missing = object()
            self._rows.remove({key for key in known if known[key] is not now.get(key, missing)})
            is_new = [now[key] is not known.get(key, missing) for key in now]
            self._rows.add(list(compress(constraints, is_new)))
        self._read_constraints, self._read_relations = constraints, relations


def _by_id(components: Iterable[Any]) -> dict[int, Any]:
    return {id(component): component for component in components}


def _begins_with(these: list[Any], those: list[Any]) -> bool:
    return len(these) >= len(those) and all(map(is_, these, those))


def _expression(objective: Any | None) -> Any:
    """Return what an objective says, to be compared by identity.

    Raises
    ------
    ProblemError
        The objective is inactive.
    """
    if objective is None:
        return None
    if not objective.active:
        raise ProblemError(
            f"The objective '{objective.name}' that the solver was told is inactive by now; tell "
            "it the new one with set_objective(), or activate this one."
        )
    return objective._args_[0]
