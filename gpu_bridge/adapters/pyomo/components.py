"""Which components of a Pyomo model take part in a solve, and which forbid it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import chain
from operator import attrgetter, is_
from typing import Any

from pyomo.common.collections import ComponentSet
from pyomo.core.base import (
    Block,
    Constraint,
    Expression,
    ExternalFunction,
    Objective,
    Param,
    RangeSet,
    Set,
    SortComponents,
    SOSConstraint,
    Suffix,
    Var,
)
from pyomo.core.base.matrix_constraint import MatrixConstraint
from pyomo.network import Port
from pyomo.repn.util import categorize_valid_components

from gpu_bridge.adapters.pyomo.interface import BlockData, IncompatiblePyomoModelError

# Sets, functions and ports say that they are active whatever they are; none of them is a demand.
HARMLESS = frozenset({Block, Constraint, Expression, ExternalFunction, Param, Port, RangeSet})
HARMLESS |= frozenset({Set, SOSConstraint, Suffix, Objective, Var})

ADVICE = {
    "Disjunction": "apply TransformationFactory('gdp.bigm').apply_to(model) first",
    "Disjunct": "apply TransformationFactory('gdp.bigm').apply_to(model) first",
    "LogicalConstraint": "apply TransformationFactory('core.logical_to_linear') first",
    "Complementarity": "apply the transformations 'mpec.simple_disjunction' and 'gdp.bigm' first",
    "Arc": "apply TransformationFactory('network.expand_arcs').apply_to(model) first",
}


def check_model(model: Any) -> None:
    """Refuse what is not a constructed Pyomo model, or holds components without a linear form.

    Raises
    ------
    IncompatiblePyomoModelError
        Names the components and, where there is one, the transformation that helps.
    """
    if not isinstance(model, BlockData):
        raise IncompatiblePyomoModelError(
            f"gpuheur solves pyomo.environ models and blocks, not a {type(model).__name__} "
            f"of {type(model).__module__}."
        )
    if not model.is_constructed():
        raise IncompatiblePyomoModelError(
            f"The model '{model.name}' is not constructed; call create_instance() on it first."
        )
    _, foreign = categorize_valid_components(
        model, active=True, sort=SortComponents.ORDERED_INDICES, valid=HARMLESS
    )
    if foreign:
        raise IncompatiblePyomoModelError(" ".join(map(_refusal, foreign, foreign.values())))


def _refusal(component_type: type, found: list[Any]) -> str:
    kind = component_type.__name__
    names = ", ".join(f"'{item.name}'" for item in found[:3]) + (", ..." if len(found) > 3 else "")
    advice = ADVICE.get(kind, "replace it by linear constraints, or deactivate it")
    return f"The model holds active components of type {kind} ({names}): {advice}."


def active_constraints(model: Any) -> Iterator[Iterable[Any]]:
    """Yield, container by container, iterables over constraint data that may be active.

    The members' own ``active`` flags are left to the caller, who looks at each of them anyway.
    """
    components = list(
        model.component_objects(
            Constraint, active=True, descend_into=True, sort=SortComponents.ORDERED_INDICES
        )
    )
    if not any(component.is_reference() for component in components):
        yield from map(_members, components)
        return
    seen: set[int] = set()  # a reference shows constraints of other components once more
    for component in components:
        new = [member for member in _members(component) if id(member) not in seen]
        seen.update(map(id, new))
        yield new


def _members(component: Any) -> Iterable[Any]:
    if not component.is_indexed():
        return component._data.values()  # type: ignore[no-any-return]  # empty for a skipped one
    if isinstance(component, MatrixConstraint):
        return [component[i] for i in component]  # its values() takes no order
    return component.values(SortComponents.ORDERED_INDICES)  # type: ignore[no-any-return]


def active_objective(model: Any) -> Any | None:
    """Return the one active objective, or None for a feasibility problem.

    Raises
    ------
    IncompatiblePyomoModelError
        More than one objective is active.
    """
    found = list(model.component_data_objects(Objective, active=True, descend_into=True))
    if len(found) > 1:
        names = ", ".join(f"'{item.name}'" for item in found[:4])
        raise IncompatiblePyomoModelError(
            f"The model has {len(found)} active objectives ({names}{', ...' * (len(found) > 4)}); "
            "deactivate all but one of them."
        )
    return found[0] if found else None


def active_sos(model: Any) -> list[Any]:
    """Return the active special ordered sets, each once."""
    return list(
        ComponentSet(model.component_data_objects(SOSConstraint, active=True, descend_into=True))
    )


# What a model is made of, compared by identity, to see whether anything but values has changed.
#
# Expressions of Pyomo never change: another sum is another object. So where a model has the very
# components, members and expressions that it had, only parameters, fixed variables, bounds and
# named expressions can have other values, and whoever reads it looks at these by itself.


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
