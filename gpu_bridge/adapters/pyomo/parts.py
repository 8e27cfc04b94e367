"""What a model is made of, compared by identity, to see whether anything but values has changed.

Expressions of Pyomo never change: another sum is another object. So where a model has the very
components, members and expressions that it had, only parameters, fixed variables, bounds and named
expressions can have other values, and whoever reads it looks at these by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import chain
from operator import attrgetter, is_
from typing import Any

from pyomo.core.base import Constraint, Objective, SOSConstraint
from pyomo.core.base.matrix_constraint import MatrixConstraint

from gpu_bridge.adapters.pyomo.components import HARMLESS


@dataclass(frozen=True, eq=False)
class Parts:
    """The active components of a model, the members of those that are read, and their expressions.

    An expression is that of a constraint, or the argument of an objective.
    """

    components: list[Any]
    constraints: list[Any]
    relations: list[Any]
    objectives: list[Any]
    sums: list[Any]
    active: list[bool]

    @classmethod
    def of(cls, model: Any) -> Parts | None:
        """Return the parts of a model, or None where identity does not say all about them."""
        components = list(model.component_objects(active=True, descend_into=True))
        containers: dict[type, list[Any]] = {Constraint: [], Objective: []}
        for component in components:
            kind = component.ctype
            if kind in containers:
                if component.is_reference() or isinstance(component, MatrixConstraint):
                    return None
                containers[kind].append(component._data.values())
            elif kind is SOSConstraint or kind not in HARMLESS:
                return None
        constraints = list(chain.from_iterable(containers[Constraint]))
        objectives = list(chain.from_iterable(containers[Objective]))
        try:
            return cls(
                components,
                constraints,
                list(map(attrgetter("_expr"), constraints)),
                objectives,
                [objective._args_[0] for objective in objectives],
                list(map(attrgetter("_active"), chain(constraints, objectives))),
            )
        except AttributeError:  # constraints or objectives of another make
            return None

    def are_those_of(self, model: Any) -> bool:
        """Whether a model has the very same parts."""
        others = Parts.of(model)
        if others is None:
            return False
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(others, field.name)
            if len(mine) != len(theirs) or not all(map(is_, mine, theirs)):
                return False
        return True
