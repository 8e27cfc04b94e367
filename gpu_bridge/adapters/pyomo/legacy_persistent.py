"""The solver that keeps its model between solves, behind Pyomo's old interface.

``pyomo.environ.SolverFactory('gpuheur_persistent')`` does what Pyomo's ``gurobi_persistent`` does
with the same calls. What belongs to the model is what the solver was told; values, bounds, fixed
variables and expressions are looked at before each solve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyomo.common.numeric_types import native_numeric_types
from pyomo.core.base.suffix import Suffix
from pyomo.solvers.plugins.solvers.persistent_solver import PersistentSolver

from gpu_bridge.adapters.pyomo.legacy import LegacyGpuHeur
from gpu_bridge.adapters.pyomo.persistent import InstanceKeeper, check_data
from solvers.core.errors import ProblemError

if TYPE_CHECKING:
    from gpu_bridge.adapters.pyomo.instance import Instance
    from gpu_bridge.adapters.pyomo.loader import GpuHeurSolutionLoader


class LegacyPersistentGpuHeur(LegacyGpuHeur, InstanceKeeper, PersistentSolver):  # type: ignore[misc]
    """Solve a model again and again through the old interface.

    >>> import gpu_bridge
    >>> import pyomo.environ as pyo
    >>> solver = pyo.SolverFactory("gpuheur_persistent")    # doctest: +SKIP
    >>> solver.set_instance(model)    # doctest: +SKIP
    >>> solver.solve(tee=True)    # doctest: +SKIP

    ``model=...`` at construction is the same as :meth:`set_instance`.
    """

    name = "gpuheur_persistent"

    _loader: GpuHeurSolutionLoader | None = None

    def __init__(self, model: Any = None, **kwargs: Any) -> None:
        kwargs.pop("type", None)
        super().__init__(**kwargs)
        if model is not None:
            self.set_instance(model)

    @property
    def _pyomo_model(self) -> Any:
        """The model of the instance, which frameworks look at."""
        return None if self._instance is None else self._instance.model

    def instance_of(self, model: Any, config: Any) -> Instance:
        """Return the instance as it was told."""
        return self._known_instance("solve")

    def solve(self, model: Any = None, *, save_results: bool = True, **kwds: Any) -> Any:
        """Solve the instance and return results of the old interface.

        Parameters
        ----------
        model : Block, optional
            The instance's own model, if given at all; without an instance it becomes one.
        save_results : bool
            Of solvers that would fill ``results.solution``; without ``load_solutions`` it is
            filled in any case.
        **kwds
            As :meth:`LegacyGpuHeur.solve` has them.

        Raises
        ------
        ProblemError
            There is no instance, or another model was given.
        OptionError
            Unknown argument or option.
        """
        if model is not None and self._instance is None:
            self.set_instance(model)
        own = self._known_instance("solve").model
        if model is not None and model is not own:
            raise ProblemError(
                f"The solver holds the model '{own.name}', and another one was given to solve(); "
                "call set_instance(model) first."
            )
        self._loader = None
        results = super().solve(own, **kwds)
        self._loader = results.solution_loader
        return results

    def reset(self) -> None:
        """Forget the last answer, so that the next solve starts from nothing; the model stays."""
        super().reset()
        self._loader = None
        if self._instance is not None:
            self._instance.forget_answer()

    def add_constraint(self, constraint: Any) -> None:
        """Add one constraint."""
        self.add_constraints([constraint])

    def remove_constraint(self, constraint: Any) -> None:
        """Remove one constraint of the instance."""
        self.remove_constraints([constraint])

    def add_sos_constraint(self, ordered_set: Any) -> None:
        """Add one special ordered set."""
        self.add_sos_constraints([ordered_set])

    def remove_sos_constraint(self, ordered_set: Any) -> None:
        """Remove one special ordered set of the instance."""
        self.remove_sos_constraints([ordered_set])

    def add_var(self, variable: Any) -> None:
        """Check a variable of the model; it takes part where a constraint or objective has it.

        Raises
        ------
        ProblemError
            It is indexed or belongs to another model.
        """
        check_data(variable)
        model = self._known_instance("add_var").model
        if variable.model() is not model.model():
            raise ProblemError(
                f"The variable '{variable.name}' does not belong to the solver's model "
                f"'{model.name}'; add it there first."
            )

    def update_var(self, variable: Any) -> None:
        """Check a variable as :meth:`add_var` does: its bounds, domain and whether it is fixed.

        They are looked at before each solve, so there is nothing to do.
        """
        self.add_var(variable)

    def remove_var(self, variable: Any) -> None:
        """Do nothing: a variable leaves with the last constraint that has it."""
        self._known_instance("remove_var")

    def add_column(
        self,
        model: Any,
        var: Any,
        obj_coef: Any,
        constraints: Sequence[Any],
        coefficients: Sequence[Any],
    ) -> None:
        """Add a variable with its coefficients to the objective and constraints of the model.

        Raises
        ------
        ProblemError
            The model is not the instance's, a constraint does not belong to it, or the lists
            differ in length.
        """
        instance = self._known_instance("add_column")
        if model is not instance.model:
            raise ProblemError(f"The solver holds the model '{instance.model.name}', not this one.")
        self.add_var(var)
        if len(constraints) != len(coefficients):
            raise ProblemError(
                f"{len(constraints)} constraints and {len(coefficients)} coefficients were given; "
                "each constraint needs one."
            )
        foreign = [row.name for row in constraints if id(row) not in instance.constraints]
        if foreign:
            raise ProblemError(
                f"The constraint '{foreign[0]}' does not belong to the solver's instance; call "
                "add_constraint() first."
            )
        if not (obj_coef.__class__ in native_numeric_types and obj_coef == 0):
            if instance.objective is None:
                raise ProblemError("The instance has no objective; call set_objective() first.")
            instance.objective.expr += obj_coef * var
        for constraint, coefficient in zip(constraints, coefficients, strict=True):
            lower, body, upper = constraint.to_bounded_expression()
            constraint.set_value((lower, body + coefficient * var, upper))

    def load_vars(self, vars_to_load: Sequence[Any] | None = None) -> None:
        """Give the variables the values of the last solution.

        Of those named the ones that took no part are columns of other solvers all the same: fixed
        ones keep their value, and others without one get that of their bounds nearest to zero.
        """
        loader = self._solution()
        if vars_to_load is None:
            loader.load_vars()
            return
        known = loader.get_vars()
        loader.load_vars([variable for variable in vars_to_load if variable in known])
        for variable in vars_to_load:
            if variable not in known and variable.value is None:
                lower, upper = variable.bounds
                nearest = max(0.0 if lower is None else lower, 0.0)
                variable.set_value(nearest if upper is None else min(nearest, upper), True)

    def load_duals(self, cons_to_load: Sequence[Any] | None = None) -> None:
        """Put the duals of constraints into the model's suffix ``dual``, made if need be."""
        self._load("dual", self.get_duals(cons_to_load))

    def load_rc(self, vars_to_load: Sequence[Any] | None = None) -> None:
        """Put reduced costs into the model's suffix ``rc``, made if need be."""
        self._load("rc", self.get_reduced_costs(vars_to_load))

    def load_slacks(self, cons_to_load: Sequence[Any] | None = None) -> None:
        """Put the slacks of constraints into the model's suffix ``slack``, made if need be."""
        self._load("slack", self.get_slacks(cons_to_load))

    def get_duals(self, cons_to_load: Sequence[Any] | None = None) -> Mapping[Any, float]:
        """Return d(objective)/d(side) of constraints."""
        return self._solution().get_duals(cons_to_load)

    def get_reduced_costs(self, vars_to_load: Sequence[Any] | None = None) -> Mapping[Any, float]:
        """Return d(objective)/d(bound) of variables."""
        found: Mapping[Any, float] = self._solution().get_reduced_costs(vars_to_load)
        return found

    def get_slacks(self, cons_to_load: Sequence[Any] | None = None) -> Mapping[Any, float]:
        """Return side - body of constraints."""
        return self._solution().get_slacks(cons_to_load)

    def _load(self, name: str, values: Mapping[Any, float]) -> None:
        if not hasattr(self._pyomo_model, name):
            setattr(self._pyomo_model, name, Suffix(direction=Suffix.IMPORT))
        suffix = getattr(self._pyomo_model, name)
        for component, value in values.items():
            suffix[component] = value

    def _solution(self) -> GpuHeurSolutionLoader:
        if self._loader is None:
            raise ProblemError("The instance was not solved yet; call solve() first.")
        return self._loader
