"""The solver that keeps its model between solves, in Pyomo's API version 2.

Pyomo's own persistent solvers hear from a change detector what is new in a model and pass it on to
a solver's model, one by one. Here the instance is compared with the model before each solve, in a
few passes over lists; so whether somebody tells of a change, or it is found, comes to the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyomo.core.base import Constraint, Objective, SOSConstraint

from gpu_bridge.adapters.pyomo.config import GpuHeurConfig
from gpu_bridge.adapters.pyomo.interface import AutoUpdateConfig, PersistentSolverBase
from gpu_bridge.adapters.pyomo.solver import GpuHeur
from solvers.core.errors import ProblemError

if TYPE_CHECKING:
    from gpu_bridge.adapters.pyomo.instance import Instance


class PersistentConfig(GpuHeurConfig):
    """The solver's settings, and which changes of the model it looks for itself."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.auto_updates: AutoUpdateConfig = self.declare("auto_updates", AutoUpdateConfig())


class InstanceKeeper(GpuHeur):
    """What both interfaces do with the one instance that a persistent solver holds."""

    _instance: Instance | None = None

    def set_instance(self, model: Any, **ignored: Any) -> None:
        """Take over a model as it is, in place of the one before.

        Names of rows and columns, which other solvers take here, are those of the model anyway.

        Raises
        ------
        IncompatibleModelError, UnsupportedModelError
            A part of the model has no linear form; the message names it.
        """
        from gpu_bridge.adapters.pyomo.instance import Instance

        self._instance = None
        self._instance = Instance(model)

    def has_instance(self) -> bool:
        """Whether a model was set."""
        return self._instance is not None

    def set_objective(self, objective: Any) -> None:
        """Let an active objective take the place of the one before.

        Raises
        ------
        ProblemError
            The objective is indexed, or inactive.
        """
        instance = self._changed("set_objective")
        check_data(objective)
        if not objective.active:
            raise ProblemError(
                f"The objective '{objective.name}' is inactive; activate it before it is set."
            )
        instance.objective = objective

    def add_constraints(self, constraints: Iterable[Any]) -> None:
        """Add constraints; inactive ones take part as soon as they are activated."""
        constraints = list(constraints)
        for constraint in constraints:
            check_data(constraint)
        self._changed("add_constraints").add_constraints(constraints)

    def remove_constraints(self, constraints: Iterable[Any]) -> None:
        """Remove constraints of the instance.

        Raises
        ------
        ProblemError
            One of them does not belong to it.
        """
        _remove(self._changed("remove_constraints").constraints, constraints)

    def add_sos_constraints(self, sets: Iterable[Any]) -> None:
        """Add special ordered sets."""
        instance = self._changed("add_sos_constraints")
        for item in sets:
            check_data(item)
            instance.sets[id(item)] = item

    def remove_sos_constraints(self, sets: Iterable[Any]) -> None:
        """Remove special ordered sets; raises as :meth:`remove_constraints` does."""
        _remove(self._changed("remove_sos_constraints").sets, sets)

    def add_block(self, block: Any) -> None:
        """Add what a block holds that is active: constraints, sets, and an objective if any."""
        check_data(block)
        self.add_constraints(_members(block, Constraint))
        self.add_sos_constraints(_members(block, SOSConstraint))
        for objective in _members(block, Objective):
            self.set_objective(objective)

    def remove_block(self, block: Any) -> None:
        """Remove the constraints, sets and objective of a block, as far as they are there.

        What was active when the block was added need not be so now.
        """
        instance = self._changed("remove_block")
        for kind, known in ((Constraint, instance.constraints), (SOSConstraint, instance.sets)):
            for item in block.component_data_objects(kind, descend_into=True):
                known.pop(id(item), None)
        if any(item is instance.objective for item in _members(block, Objective)):
            instance.objective = None

    def _known_instance(self, method: str) -> Instance:
        if self._instance is None:
            raise ProblemError(f"{method}() needs a model; call set_instance(model) first.")
        return self._instance

    def _changed(self, method: str) -> Instance:
        """Return the instance, about to be changed by a method."""
        instance = self._known_instance(method)
        instance.told()
        return instance


class PersistentGpuHeur(InstanceKeeper, PersistentSolverBase):  # type: ignore[misc]
    """Solve a model again and again with gpu-bridge; only what changed is converted.

    >>> import gpu_bridge
    >>> from pyomo.contrib.solver.common.factory import SolverFactory
    >>> results = SolverFactory("gpuheur_persistent").solve(model)    # doctest: +SKIP

    The first solve takes the model over, each later one brings what it holds up to date and starts
    from the last answer. With ``config.auto_updates.check_for_new_or_removed_constraints=False``
    or ``check_for_new_objective=False`` it does not look for those, and is told of them by
    :meth:`add_constraints` and its like. All else is looked at in any case, so the other switches
    of ``auto_updates`` change nothing.
    """

    CONFIG = PersistentConfig()

    def instance_of(self, model: Any, config: Any) -> Instance:
        """Return the instance, up to date as far as the solver looks for changes itself."""
        if self._instance is None or self._instance.model is not model:
            self.set_instance(model)
        assert self._instance is not None
        self._follow(config)
        return self._instance

    def update(self, **kwds: Any) -> None:
        """Look for changes of the model now, as the next solve would."""
        self._known_instance("update")
        self._follow(self.config(value=kwds, preserve_implicit=True))

    def update_variables(self, variables: Iterable[Any]) -> None:
        """Do nothing: bounds, domains and fixing are looked at before each solve."""

    def update_parameters(self, parameters: Iterable[Any] = ()) -> None:
        """Do nothing: parameters are looked at before each solve."""

    def _follow(self, config: Any) -> None:
        assert self._instance is not None
        wanted = config.auto_updates
        self._instance.follow_model(
            constraints=wanted.check_for_new_or_removed_constraints,
            objective=wanted.check_for_new_objective,
        )


def check_data(component: Any) -> None:
    """Raise ProblemError for an indexed component: persistent solvers take its members."""
    if not hasattr(component, "is_indexed"):
        raise ProblemError(f"{component!r} is no component of a Pyomo model.")
    if component.is_indexed():
        raise ProblemError(
            f"'{component.name}' is indexed; give its members one by one, as in "
            f"{component.local_name}.values()."
        )


def _members(block: Any, kind: Any) -> list[Any]:
    return list(block.component_data_objects(kind, active=True, descend_into=True))


def _remove(known: dict[int, Any], components: Iterable[Any]) -> None:
    for component in components:
        if known.pop(id(component), None) is None:
            raise ProblemError(
                f"'{component.name}' does not belong to the solver's instance, so it cannot be "
                "removed; was it added, or removed already?"
            )
