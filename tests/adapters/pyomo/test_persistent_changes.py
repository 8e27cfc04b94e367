"""After any sequence of changes a persistent solver answers as a fresh solve of the model does."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from pyomo.contrib.solver.common.factory import SolverFactory as NewFactory
from pyomo.contrib.solver.common.results import TerminationCondition as NewCondition
from pyomo.opt import TerminationCondition

import gpu_bridge  # noqa: F401 - registers the solver

SMALL = st.integers(-3, 3)
FACTORS = st.lists(SMALL, min_size=3, max_size=3)
PICK = st.integers(0, 10**6)
DOMAINS = (pyo.Reals, pyo.NonNegativeReals, pyo.Integers, pyo.Binary)
SETTLED = {
    TerminationCondition.optimal: "optimal",
    TerminationCondition.infeasible: "infeasible",
    TerminationCondition.unbounded: "unbounded",
    TerminationCondition.infeasibleOrUnbounded: "infeasible or unbounded",
}

NEW_SETTLED = {
    NewCondition.convergenceCriteriaSatisfied: "optimal",
    NewCondition.provenInfeasible: "infeasible",
    NewCondition.unbounded: "unbounded",
}


class Changes(RuleBasedStateMachine):
    """One model, changed at random; the solver of the old interface is told of what comes and goes.

    The solver of the new interface is told nothing, and has to find it.
    """

    @initialize(sense=st.sampled_from((pyo.minimize, pyo.maximize)), mixed=st.booleans())
    def begin(self, sense: Any, mixed: bool) -> None:
        self.model = m = pyo.ConcreteModel()
        m.p = pyo.Param([0, 1, 2], mutable=True, initialize=1.0)
        m.x = pyo.Var(pyo.Any, dense=False)
        m.free = pyo.Var(initialize=0)
        m.all = pyo.Constraint(expr=m.free == 0)
        m.rows = pyo.ConstraintList()
        m.parts = pyo.Block(pyo.Any)
        self.mixed = mixed
        self.made = 0
        self.variables: list[Any] = []
        self.constraints: list[Any] = []
        self.removed: list[Any] = []
        self.blocks: list[Any] = []
        for _ in range(3):
            self._new_variable(-3, 3, 0)
        m.named = pyo.Expression(expr=m.x[0] + m.p[0])
        m.total = pyo.Objective(expr=m.x[0] + m.p[0] * m.x[1] - m.x[2], sense=sense)
        self.objective = m.total
        self.told = pyo.SolverFactory("gpuheur_persistent", model=m)
        self.finds = NewFactory("gpuheur_persistent")

    def _new_variable(self, lower: Any, upper: Any, domain: int) -> Any:
        variable = self.model.x[self.made]
        self.made += 1
        variable.domain = DOMAINS[domain % (4 if self.mixed else 2)]
        variable.setlb(lower)
        variable.setub(upper)
        variable.set_value(0, skip_validation=True)
        self.variables.append(variable)
        # what is in no row gets no column, so its crossed bounds would not count
        self.model.all.set_value(sum(self.variables) == self.model.free)
        return variable

    def _sum(self, picks: list[int], factors: list[int], with_parameter: bool) -> Any:
        m = self.model
        total = m.named - m.named if with_parameter else 0
        for place, (pick, factor) in enumerate(zip(picks, factors, strict=True)):
            by = m.p[place] * factor if with_parameter else factor
            total += by * self.variables[pick % len(self.variables)]
        return total

    def _relation(self, body: Any, side: int, kind: int) -> Any:
        return (body <= side, body >= side, body == side, (side, body, side + 2))[kind]

    @rule(lower=st.none() | SMALL, upper=st.none() | SMALL, domain=PICK)
    def add_variable(self, lower: Any, upper: Any, domain: int) -> None:
        if len(self.variables) < 7:
            self.told.add_var(self._new_variable(lower, upper, domain))

    @rule(
        picks=st.lists(PICK, min_size=3, max_size=3),
        factors=FACTORS,
        with_parameter=st.booleans(),
        side=SMALL,
        kind=st.integers(0, 3),
    )
    def add_constraint(self, picks: Any, factors: Any, with_parameter: Any, **way: Any) -> None:
        body = self._sum(picks, factors, with_parameter) + self.variables[picks[0] % 3]
        constraint = self.model.rows.add(self._relation(body, **way))
        self.told.add_constraint(constraint)
        self.constraints.append(constraint)

    @rule(pick=PICK, factors=FACTORS, side=SMALL)
    def add_block(self, pick: int, factors: Any, side: int) -> None:
        block = self.model.parts[f"b{self.made}-{len(self.blocks)}"]
        block.w = pyo.Var(bounds=(0, 2))
        picks = [pick, pick + 1, pick + 2]
        block.cut = pyo.Constraint(expr=self._sum(picks, factors, False) + block.w <= side)
        block.rest = pyo.Constraint(expr=block.w >= self.model.p[1])
        self.told.add_block(block)
        self.blocks.append(block)

    @precondition(lambda self: self.blocks)
    @rule(pick=PICK)
    def remove_block(self, pick: int) -> None:
        block = self.blocks.pop(pick % len(self.blocks))
        self.told.remove_block(block)
        del self.model.parts[block.index()]

    @precondition(lambda self: self.constraints)
    @rule(pick=PICK)
    def remove_constraint(self, pick: int) -> None:
        constraint = self.constraints.pop(pick % len(self.constraints))
        self.told.remove_constraint(constraint)
        constraint.deactivate()
        self.removed.append(constraint)

    @precondition(lambda self: self.removed)
    @rule(pick=PICK)
    def bring_back(self, pick: int) -> None:
        constraint = self.removed.pop(pick % len(self.removed))
        constraint.activate()
        self.told.add_constraint(constraint)
        self.constraints.append(constraint)

    @precondition(lambda self: self.constraints)
    @rule(pick=PICK, factors=FACTORS, side=SMALL, kind=PICK)
    def change_constraint(self, pick: int, factors: Any, side: int, kind: int) -> None:
        body = self._sum([pick, pick + 1, pick + 2], factors, kind % 2 == 1) + self.variables[0]
        constraint = self.constraints[pick % len(self.constraints)]
        constraint.set_value(self._relation(body, side, kind % 4))

    @rule(pick=PICK, lower=st.none() | SMALL, upper=st.none() | SMALL)
    def change_bounds(self, pick: int, lower: Any, upper: Any) -> None:
        variable = self.variables[pick % len(self.variables)]
        variable.setlb(lower)
        variable.setub(upper)
        self.told.update_var(variable)

    @rule(pick=PICK, domain=PICK)
    def change_domain(self, pick: int, domain: int) -> None:
        variable = self.variables[pick % len(self.variables)]
        variable.domain = DOMAINS[domain % (4 if self.mixed else 2)]

    @rule(pick=PICK, value=SMALL)
    def fix(self, pick: int, value: int) -> None:
        self.variables[pick % len(self.variables)].fix(value, skip_validation=True)

    @rule(pick=PICK)
    def unfix(self, pick: int) -> None:
        self.variables[pick % len(self.variables)].unfix()

    @rule(place=st.integers(0, 2), value=SMALL)
    def change_parameter(self, place: int, value: int) -> None:
        self.model.p[place] = value

    @rule(pick=PICK, factor=SMALL)
    def change_named_expression(self, pick: int, factor: int) -> None:
        self.model.named.expr = factor * self.variables[pick % len(self.variables)]

    @rule(factors=FACTORS, pick=PICK, sense=st.sampled_from((1, -1)))
    def change_objective(self, factors: Any, pick: int, sense: int) -> None:
        self.objective.expr = self._sum([pick, pick + 1, pick + 2], factors, True) + factors[0]
        self.objective.sense = sense

    @rule(factors=FACTORS, pick=PICK)
    def replace_objective(self, factors: Any, pick: int) -> None:
        body = self._sum([pick, pick + 1, pick + 2], factors, False)
        self.model.del_component(self.objective)
        self.objective = pyo.Objective(expr=body, sense=pyo.maximize)
        self.model.add_component(f"total{self.made}_{pick}", self.objective)
        self.told.set_objective(self.objective)

    @precondition(lambda self: hasattr(self, "told"))
    @invariant()
    def answers_are_those_of_a_fresh_solve(self) -> None:
        wanted = pyo.SolverFactory("highs").solve(
            self.model, load_solutions=False, raise_exception_on_nonoptimal_result=False
        )
        state = SETTLED[wanted.solver.termination_condition]
        told = self.told.solve(load_solutions=False)
        found = self.finds.solve(
            self.model, load_solutions=False, raise_exception_on_nonoptimal_result=False
        )
        assert SETTLED[told.solver.termination_condition] in state
        assert NEW_SETTLED[found.termination_condition] in state
        if state == "optimal":
            objective = wanted.problem.upper_bound
            assert told.problem.upper_bound == pytest.approx(objective, abs=1e-6)
            assert found.incumbent_objective == pytest.approx(objective, abs=1e-6)
            told.solution_loader.load_vars()
            assert pyo.value(self.objective) == pytest.approx(objective, abs=1e-6)


Changes.TestCase.settings = settings(max_examples=12, stateful_step_count=15, deadline=None)
TestChanges = Changes.TestCase
