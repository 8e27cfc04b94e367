"""A model that is solved again after a change has the answer that a new solver gives."""

from __future__ import annotations

import contextlib
import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.common.modeling import unique_component_name

import gpu_bridge  # noqa: F401  registers the solver
from gpu_bridge.adapters.pyomo.convert import (
    MOST_MODELS,
    ConvertedModel,
    ModelReader,
    convert,
    convert_again,
)

ARRAYS = ("cost", "row_lower", "row_upper", "lower", "upper", "integrality")
COUNT = 4
DOMAINS = (pyo.Reals, pyo.NonNegativeReals, pyo.UnitInterval, pyo.Integers, pyo.Binary)
VALUES = (-2.0, 0.0, 1.0, 3.0, float("inf"), None)


class AnySolver:
    """What remembers models: any object."""


def make_model() -> Any:
    """Return a model with each way in which a value or part can come in."""
    m = pyo.ConcreteModel()
    m.I = pyo.RangeSet(COUNT)
    m.p = pyo.Param(m.I, mutable=True, initialize=1.0, domain=pyo.Any)
    m.q = pyo.Param(mutable=True, initialize=2.0, domain=pyo.Any)
    m.S = pyo.Set(initialize=[0, 1, 2])
    m.x = pyo.Var(m.I, bounds=(0, 9))
    m.y = pyo.Var(bounds=(-1, m.q + 3))
    m.z = pyo.Var(domain=pyo.NonNegativeReals)
    m.e = pyo.Expression(m.I, rule=lambda m, i: m.x[i] + 1)
    m.total = pyo.Objective(expr=sum(m.p[i] * m.x[i] for i in m.I) + m.y + m.q)
    m.other = pyo.Objective(expr=m.e[1] + 2 * m.x[2], sense=pyo.maximize)
    m.other.deactivate()
    m.sides = pyo.Constraint(m.I, rule=lambda m, i: (m.p[i], m.x[i] + m.y, 7 + m.q))
    m.shares = pyo.Constraint(expr=m.q * m.x[1] + m.p[1] * m.x[2] >= m.x[3] - m.p[2])
    m.named = pyo.Constraint(m.I, rule=lambda m, i: m.e[i] + m.q * m.x[1] <= 20)
    m.product = pyo.Constraint(expr=m.x[1] * m.z + m.x[2] <= 30)
    m.z.fix(1.0)
    m.more = pyo.ConstraintList()
    m.more.add(m.x[1] + m.x[2] <= 12)
    m.b = pyo.Block([1, 2])
    for k in m.b:
        m.b[k].w = pyo.Var(bounds=(0, 5))
        m.b[k].c = pyo.Constraint(expr=m.b[k].w + m.x[k] >= m.q)
    return m


def set_param(m: Any, k: int, value: Any) -> None:
    m.p[k] = value


def set_other_param(m: Any, k: int, value: Any) -> None:
    m.q = value


def fix(m: Any, k: int, value: Any) -> None:
    m.x[k].fix(value) if value is not None else m.x[k].unfix()


def fix_in_product(m: Any, k: int, value: Any) -> None:
    m.z.fix(value) if k < COUNT else m.z.unfix()


def forget_value(m: Any, k: int, value: Any) -> None:
    m.x[k].set_value(None, skip_validation=True)


def set_lower(m: Any, k: int, value: Any) -> None:
    m.x[k].setlb(value)


def set_upper(m: Any, k: int, value: Any) -> None:
    m.x[k].setub(m.q + k if value is None else value)


def set_domain(m: Any, k: int, value: Any) -> None:
    m.x[k].domain = DOMAINS[VALUES.index(value) % len(DOMAINS)]


def set_domain_to_set(m: Any, k: int, value: Any) -> None:
    m.x[k].domain = m.S


def grow_domain(m: Any, k: int, value: Any) -> None:
    m.S.add(len(m.S))


def set_all_domains(m: Any, k: int, value: Any) -> None:
    m.x.domain = DOMAINS[k]


def switch_constraint(m: Any, k: int, value: Any) -> None:
    one = m.sides[k]
    one.deactivate() if one.active else one.activate()


def switch_constraints(m: Any, k: int, value: Any) -> None:
    one = (m.named, m.sides, m.product, m.shares)[k % 4]
    one.deactivate() if one.active else one.activate()


def switch_block(m: Any, k: int, value: Any) -> None:
    block = m.b[1 + k % 2]
    block.deactivate() if block.active else block.activate()


def switch_blocks(m: Any, k: int, value: Any) -> None:
    m.b.deactivate() if m.b.active else m.b.activate()


def switch_objective(m: Any, k: int, value: Any) -> None:
    on, off = (m.total, m.other) if m.other.active else (m.other, m.total)
    on.activate()
    if k > 1:  # else both are active, which is refused
        off.deactivate()


def turn_round(m: Any, k: int, value: Any) -> None:
    m.total.sense = pyo.maximize if k % 2 else pyo.minimize


def grow_objective(m: Any, k: int, value: Any) -> None:
    m.total.expr += m.p[k] * m.y


def set_objective(m: Any, k: int, value: Any) -> None:
    m.total.set_value(m.x[k] + 2 * m.y)


def set_named(m: Any, k: int, value: Any) -> None:
    m.e[k].set_value(m.x[k] + (0 if value is None else value) + m.q * m.y)


def grow_named(m: Any, k: int, value: Any) -> None:
    m.e[k].expr += 1


def make_named_nonlinear(m: Any, k: int, value: Any) -> None:
    m.e[k].set_value(m.x[k] ** 2 if value == 3.0 else m.x[k])


def set_constraint(m: Any, k: int, value: Any) -> None:
    m.shares.set_value(m.x[k] + m.q * m.y <= 9)


def grow_constraint(m: Any, k: int, value: Any) -> None:
    body = m.sides[k].body
    body += m.x[1]
    m.sides[k].set_value((None, body, 9))


def grow_body_elsewhere(m: Any, k: int, value: Any) -> None:
    body = m.sides[k].body
    body += m.x[1]  # another sum, which shares its list of terms with that of the constraint


def add_constraint(m: Any, k: int, value: Any) -> None:
    m.more.add(m.x[k] - m.y <= 8)


def delete_constraint(m: Any, k: int, value: Any) -> None:
    if k in m.sides:
        del m.sides[k]


def replace_constraint(m: Any, k: int, value: Any) -> None:
    m.del_component("shares")
    m.shares = pyo.Constraint(expr=m.x[k] + m.x[1] >= m.p[k])


def add_variable(m: Any, k: int, value: Any) -> None:
    name = unique_component_name(m, "v")
    m.add_component(name, pyo.Var(bounds=(0, k)))
    m.more.add(m.component(name) + m.x[k] <= 6)


def add_block(m: Any, k: int, value: Any) -> None:
    name = unique_component_name(m, "block")
    m.add_component(name, pyo.Block())
    m.component(name).c = pyo.Constraint(expr=m.x[k] <= m.q + 4)


def add_sos(m: Any, k: int, value: Any) -> None:
    name = unique_component_name(m, "sos")
    last = m.x[k] if k > 1 else m.y
    m.add_component(name, pyo.SOSConstraint(rule=lambda m: ([m.x[1], last], [1, 2]), sos=1))


def switch_sos(m: Any, k: int, value: Any) -> None:
    for one in m.component_objects(pyo.SOSConstraint):
        one.deactivate() if one.active else one.activate()


def refer(m: Any, k: int, value: Any) -> None:
    name = unique_component_name(m, "reference")
    m.add_component(name, pyo.Reference(m.b[:].c))


def add_foreign(m: Any, k: int, value: Any) -> None:
    if m.component("logic") is None:
        m.flag = pyo.BooleanVar(m.I)
        m.logic = pyo.LogicalConstraint(m.I, rule=lambda m, i: m.flag[i])
        for one in m.logic.values():
            one.deactivate()  # the container stays active
    one = m.logic[k]
    one.deactivate() if one.active else one.activate()


def rename(m: Any, k: int, value: Any) -> None:
    m.name = f"model {k}"


def nothing(m: Any, k: int, value: Any) -> None:
    pass


CHANGES: list[Callable[[Any, int, Any], None]] = [
    set_param,
    set_other_param,
    fix,
    fix_in_product,
    forget_value,
    set_lower,
    set_upper,
    set_domain,
    set_domain_to_set,
    grow_domain,
    set_all_domains,
    switch_constraint,
    switch_constraints,
    switch_block,
    switch_blocks,
    switch_objective,
    turn_round,
    grow_objective,
    set_objective,
    set_named,
    grow_named,
    make_named_nonlinear,
    set_constraint,
    grow_constraint,
    grow_body_elsewhere,
    add_constraint,
    delete_constraint,
    replace_constraint,
    add_variable,
    add_block,
    add_sos,
    switch_sos,
    refer,
    add_foreign,
    rename,
    nothing,
]
VALUE_CHANGES = [set_param, set_other_param, fix, fix_in_product, set_lower, set_upper, set_named]
STEPS = st.tuples(
    st.one_of(st.sampled_from(VALUE_CHANGES), st.sampled_from(CHANGES)),
    st.integers(1, COUNT),
    st.sampled_from(VALUES),
)


def apply(m: Any, step: tuple[Callable[[Any, int, Any], None], int, Any]) -> None:
    """Change a model; what Pyomo itself refuses is no change."""
    change, k, value = step
    with contextlib.suppress(KeyError, ValueError, TypeError):
        change(m, k, value)


def read(convert: Callable[..., ConvertedModel], *given: Any) -> ConvertedModel | str:
    """Return a conversion, or what it is refused with."""
    try:
        return convert(*given)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def assert_same(found: ConvertedModel | str, wanted: ConvertedModel | str) -> None:
    if isinstance(found, str) or isinstance(wanted, str):
        assert found == wanted
        return
    a, b = found.problem, wanted.problem
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), name)
    for name in ("data", "indices", "indptr", "shape"):
        np.testing.assert_array_equal(getattr(a.entries, name), getattr(b.entries, name), name)
    assert (a.offset, a.maximize, a.name) == (b.offset, b.maximize, b.name)
    assert list(a.column_names or ()) == list(b.column_names or ())
    assert list(a.row_names or ()) == list(b.row_names or ())
    assert list(map(id, found.columns)) == list(map(id, wanted.columns))
    assert list(map(id, found.rows)) == list(map(id, wanted.rows))
    assert found.objective is wanted.objective
    assert found.constant_rows == wanted.constant_rows


@settings(deadline=None, max_examples=100)
@given(st.lists(STEPS, min_size=1, max_size=8))
def test_reading_again_gives_what_reading_anew_gives(steps: list[Any]) -> None:
    m, solver = make_model(), AnySolver()
    assert_same(read(convert_again, solver, m), read(convert, m))
    kept: list[tuple[Any, dict[str, Any]]] = []
    for step in steps:
        apply(m, step)
        found = read(convert_again, solver, m)
        assert_same(found, read(convert, m))
        if isinstance(found, ConvertedModel):
            problem = found.problem
            kept.append((problem, {name: getattr(problem, name).copy() for name in ARRAYS}))
    for problem, arrays in kept:  # what was handed out stays as it was
        for name, array in arrays.items():
            np.testing.assert_array_equal(getattr(problem, name), array)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_each_change_alone_is_seen(change: Any) -> None:
    for k in (1, 2, COUNT):  # where changes take another way
        for value in VALUES:
            m, solver = make_model(), AnySolver()
            convert_again(solver, m)
            for _ in range(2):  # some only switch, so that the second is the way back
                apply(m, (change, k, value))
                assert_same(read(convert_again, solver, m), read(convert, m))


@settings(deadline=None, max_examples=12)
@given(st.lists(STEPS, min_size=1, max_size=4))
def test_solving_again_gives_what_a_new_solver_gives(steps: list[Any]) -> None:
    m, solver = make_model(), pyo.SolverFactory("gpuheur")
    answer(solver, m)
    for step in steps:
        apply(m, step)
        assert answer(solver, m) == pytest.approx(answer(pyo.SolverFactory("gpuheur"), m))


def answer(solver: Any, m: Any) -> Any:
    """Return status and objective, or what the model is refused with."""
    values = {id(v): v.value for v in m.component_data_objects(pyo.Var)}
    try:
        results = solver.solve(m, load_solutions=False)
    except Exception as error:
        return hash(f"{type(error).__name__}: {error}")
    assert values == {id(v): v.value for v in m.component_data_objects(pyo.Var)}
    status = results.solver.termination_condition
    objective = results.solution_loader.outcome.objective
    return {str(status): objective if status == "optimal" else 0.0}


def test_values_are_read_without_a_new_look_at_expressions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    m, solver = make_model(), AnySolver()
    convert_again(solver, m)
    made: list[Any] = []
    honest = ModelReader.__init__

    def counted(self: Any, model: Any, *more: Any) -> None:
        made.append(model)
        honest(self, model, *more)

    monkeypatch.setattr(ModelReader, "__init__", counted)
    for change in (set_param, set_other_param, fix, set_lower, set_upper, set_named, set_domain):
        change(m, 2, 1.0)
        convert_again(solver, m)
    assert not made
    set_objective(m, 2, 1.0)
    convert_again(solver, m)
    assert made == [m]


def test_a_matrix_is_shared_as_long_as_its_coefficients_stay() -> None:
    m, solver = make_model(), AnySolver()
    for index in (m.named, m.product, m.total):
        index.deactivate()
    before = convert_again(solver, m).problem
    m.p[3] = 5.0  # a side
    again = convert_again(solver, m).problem
    assert again.entries.data is before.entries.data
    m.q = 5.0  # a coefficient
    assert convert_again(solver, m).problem.entries.data is not before.entries.data


def test_a_matrix_is_shared_where_costs_alone_change() -> None:
    m, solver = make_model(), AnySolver()
    for index in (m.named, m.product, m.total):
        index.deactivate()
    m.price = pyo.Param(mutable=True, initialize=2.0)
    m.costs = pyo.Objective(expr=m.price * sum(m.x.values()))
    before = convert_again(solver, m).problem
    m.price = 3.0
    again = convert_again(solver, m)
    assert again.problem.entries.data is before.entries.data
    assert_same(again, convert(m))
    m.price = 0.0
    assert_same(convert_again(solver, m), convert(m))
    m.price = 1.0
    assert_same(convert_again(solver, m), convert(m))


def test_models_by_turns_are_all_known() -> None:
    solver, models = AnySolver(), [make_model() for _ in range(MOST_MODELS)]
    for _ in range(3):
        for k, m in enumerate(models):
            m.q = float(k)
            assert_same(convert_again(solver, m), convert(m))


def test_a_model_is_not_kept_alive() -> None:
    m, solver = make_model(), AnySolver()
    convert_again(solver, m)
    dead, row = weakref.ref(m), weakref.ref(m.shares)
    del m
    gc.collect()
    gc.collect()  # what was known of the model goes with it
    assert dead() is None
    assert row() is None
    del solver
