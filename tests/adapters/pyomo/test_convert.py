"""What becomes of every odd thing a Pyomo model can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
import pyomo.gdp as gdp
import pyomo.kernel as pmo
import pytest
from pyomo.core.base.matrix_constraint import MatrixConstraint
from pyomo.core.expr import EqualityExpression, RangedExpression

from gpu_bridge.adapters.pyomo.convert import convert
from gpu_bridge.adapters.pyomo.interface import IncompatibleModelError
from solvers.core.errors import CrossedBoundsError, ProblemError, UnsupportedModelError


def model_with(*relations: Any, **variables: Any) -> Any:
    """Return a model with variables x and y and the relations that the functions give."""
    m = pyo.ConcreteModel("test")
    m.x = pyo.Var(**variables)
    m.y = pyo.Var(bounds=(0, 10))
    m.c = pyo.ConstraintList()
    for relation in relations:
        m.c.add(relation(m))
    m.obj = pyo.Objective(expr=m.x + m.y)
    return m


def test_ranged_rows_stay_one_row() -> None:
    problem = convert(model_with(lambda m: (1, m.x - m.y, 5))).problem
    assert problem.matrix.toarray().tolist() == [[1, -1]]
    assert (problem.row_lower[0], problem.row_upper[0]) == (1, 5)


def test_infinite_sides_are_dropped_and_rows_without_sides_too() -> None:
    inf = float("inf")
    converted = convert(
        model_with(
            lambda m: (-inf, m.x, inf),
            lambda m: (-inf, m.x - m.y, 4),
            lambda m: RangedExpression((None, m.x + m.y, None), False),
            lambda m: m.x <= 1e20,
        )
    )
    assert [row.name for row in converted.rows] == ["c[2]", "c[4]"]
    assert converted.problem.row_lower.tolist() == [-np.inf, -np.inf]
    assert converted.problem.row_upper.tolist() == [4, np.inf]
    assert converted.constant_rows == {}


def test_fixed_variables_are_folded_wherever_they_stand() -> None:
    m = model_with(lambda m: 2 * m.x + 3 * m.y >= 12, lambda m: m.y * m.x + m.x <= 9)
    m.y.fix(4)
    converted = convert(m)
    assert [v.name for v in converted.columns] == ["x"]
    assert converted.problem.matrix.toarray().tolist() == [[2], [5]]
    assert converted.problem.row_lower.tolist() == [0, -np.inf]
    assert converted.problem.offset == 4


def test_product_with_a_fixed_member_of_an_indexed_variable() -> None:
    """Pyomo's own compiler calls this nonlinear once another member was seen before."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2, 3])
    m.x[3].fix(2)
    m.c = pyo.Constraint(expr=m.x[1] + m.x[2] <= 5)
    m.d = pyo.Constraint(expr=m.x[3] * m.x[1] >= 1)
    assert convert(m).problem.matrix.toarray().tolist() == [[1, 1], [2, 0]]


@pytest.mark.parametrize("relation", [lambda m: m.x + m.y >= 1, lambda m: m.x * m.y >= 1])
def test_fixed_without_a_value_is_named(relation: Any) -> None:
    m = model_with(relation)
    m.x.fixed = True
    with pytest.raises(ProblemError, match="'x'"):
        convert(m)


def test_parameters_are_read_at_each_conversion() -> None:
    m = pyo.ConcreteModel()
    m.p = pyo.Param(initialize=2.0, mutable=True)
    m.x = pyo.Var(bounds=(m.p, 10 * m.p))
    m.c = pyo.Constraint(expr=m.p * m.x >= m.p + 1)
    m.obj = pyo.Objective(expr=m.p * m.x + m.p)
    for p in (2.0, 3.0):
        m.p = p
        problem = convert(m).problem
        assert problem.matrix.toarray().tolist() == [[p]]
        assert problem.row_lower.tolist() == [p + 1]
        assert (problem.lower[0], problem.upper[0]) == (p, 10 * p)
        assert (problem.cost[0], problem.offset) == (p, p)


def test_parameter_without_value_is_named() -> None:
    m = model_with(lambda m: m.x >= 1)
    m.p = pyo.Param(mutable=True)
    m.d = pyo.Constraint(expr=m.p * m.x + m.y <= 3)
    with pytest.raises(ProblemError, match="constraint 'd'"):
        convert(m)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_bad_coefficient_is_named(number: float) -> None:
    m = model_with(lambda m: m.y + m.x <= 3)
    m.p = pyo.Param(initialize=number, mutable=True)
    m.d = pyo.Constraint(expr=m.p * m.x + m.y <= 3)
    with pytest.raises(ProblemError, match=r"'x'.*'d'|'d'.*'x'"):
        convert(m)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_bad_cost_is_named(number: float) -> None:
    m = model_with(lambda m: m.x >= 1)
    m.obj.deactivate()
    m.p = pyo.Param(initialize=number, mutable=True)
    m.cost = pyo.Objective(expr=m.p * m.x + m.y)
    with pytest.raises(ProblemError, match="'x'"):
        convert(m)


def test_nan_side_and_nan_constant_are_named() -> None:
    m = model_with(lambda m: m.x >= 1)
    m.p = pyo.Param(initialize=float("nan"), mutable=True)
    m.d = pyo.Constraint(expr=m.x + m.y <= m.p)
    with pytest.raises(ProblemError, match="'d'"):
        convert(m)
    m.d.deactivate()
    m.e = pyo.Constraint(expr=RangedExpression((0, m.p, 1), False))
    with pytest.raises(ProblemError, match="'e'"):
        convert(m)


def test_unused_variables_get_no_column() -> None:
    m = model_with(lambda m: 0 * m.y + m.x >= 1)
    m.obj.deactivate()
    m.cost = pyo.Objective(expr=m.x + m.y - m.y)
    assert [v.name for v in convert(m).columns] == ["x"]


def test_constant_rows_that_hold_are_kept_aside_with_their_slack() -> None:
    m = model_with(
        lambda m: RangedExpression((0, 1, 3), False),
        lambda m: EqualityExpression((1, 1)),
        lambda m: m.x - m.x <= 2,
        lambda m: m.y <= 3 + 1e-7,
    )
    m.y.fix(3 + 2e-7)
    converted = convert(m)
    assert [v.name for v in converted.columns] == ["x"]
    slacks = {row.name: slack for row, slack in converted.constant_rows.items()}
    assert slacks == {"c[1]": 2, "c[2]": 0, "c[3]": 2, "c[4]": pytest.approx(-1e-7)}


def test_constant_row_that_fails_is_named_with_its_numbers() -> None:
    m = model_with(lambda m: m.x + m.y >= 7)
    m.x.fix(1)
    m.y.fix(2)
    with pytest.raises(CrossedBoundsError, match=r"'c\[1\]'.*body is 3.*at least 7"):
        convert(m)


def test_no_objective_is_a_feasibility_problem() -> None:
    m = model_with(lambda m: m.x >= 1)
    m.obj.deactivate()
    converted = convert(m)
    assert converted.objective is None
    assert converted.problem.cost.tolist() == [0]


def test_several_objectives_are_refused_by_name() -> None:
    m = model_with(lambda m: m.x >= 1)
    m.other = pyo.Objective(expr=m.y)
    with pytest.raises(IncompatibleModelError, match=r"'obj', 'other'"):
        convert(m)


def test_inactive_parts_are_left_out() -> None:
    m = model_with(lambda m: m.x >= 1, lambda m: m.x >= 2)
    m.c[2].deactivate()
    m.b = pyo.Block([1, 2])
    for k in (1, 2):
        m.b[k].z = pyo.Var()
        m.b[k].c = pyo.Constraint(expr=m.b[k].z >= k)
    m.b[1].deactivate()
    assert [row.name for row in convert(m).rows] == ["c[1]", "b[2].c"]


def test_a_block_is_solved_on_its_own_and_references_count_once() -> None:
    m = model_with(lambda m: m.x >= 1)
    m.b = pyo.Block()
    m.b.c = pyo.Constraint(expr=m.x + m.y <= 3)
    m.b.obj = pyo.Objective(expr=m.x)
    assert [row.name for row in convert(m.b).rows] == ["b.c"]
    m.b.obj.deactivate()
    m.again = pyo.Reference(m.c)
    assert [row.name for row in convert(m).rows] == ["c[1]", "b.c"]


def test_domains_and_integer_bounds() -> None:
    m = pyo.ConcreteModel()
    m.b = pyo.Var(domain=pyo.Binary, bounds=(0.5, None))
    m.i = pyo.Var(domain=pyo.Integers, bounds=(-1.5, 2.999999999))
    m.n = pyo.Var(domain=pyo.NonNegativeIntegers)
    m.r = pyo.Var(domain=pyo.RangeSet(2, 6), bounds=(3, 9))
    m.u = pyo.Var(domain=pyo.UnitInterval)
    m.obj = pyo.Objective(expr=m.b + m.i + m.n + m.r + m.u)
    problem = convert(m).problem
    assert problem.integrality.tolist() == [True, True, True, True, False]
    assert problem.lower.tolist() == [1, -1, 0, 3, 0]
    assert problem.upper.tolist() == [1, 3, np.inf, 6, 1]


@pytest.mark.parametrize("domain", [pyo.Set(initialize=[0, 2, 4]), pyo.Set(initialize=[1.5, 2.5])])
def test_odd_domains_are_refused(domain: Any) -> None:
    m = pyo.ConcreteModel()
    m.s = domain
    m.x = pyo.Var(domain=m.s)
    m.obj = pyo.Objective(expr=m.x)
    with pytest.raises(IncompatibleModelError, match="'x' has the domain"):
        convert(m)


def test_no_integer_between_the_bounds() -> None:
    m = model_with(lambda m: m.x >= 0, domain=pyo.Integers, bounds=(0.2, 0.8))
    with pytest.raises(CrossedBoundsError, match="no integer between"):
        convert(m)


def test_matrix_constraint() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1, 2])
    m.A = MatrixConstraint(
        [1.0, -1.0, 2.0], [0, 1, 2], [0, 2, 3], [None, 1.0], [0.0, 4.0], list(m.x.values())
    )
    m.obj = pyo.Objective(expr=m.x[0])
    problem = convert(m).problem
    assert problem.matrix.toarray().tolist() == [[1, -1, 0], [0, 0, 2]]
    assert problem.row_lower.tolist() == [-np.inf, 1]


@pytest.mark.parametrize(
    ("relation", "name"),
    [
        (lambda m: m.x**2 + m.y <= 4, r"c\[1\]"),
        (lambda m: m.x * m.y >= 1, r"c\[1\]"),
        (lambda m: pyo.exp(m.x) <= 2, r"c\[1\]"),
        (lambda m: (m.y, m.x, m.y + 1), r"c\[1\]"),
    ],
)
def test_nonlinear_rows_are_named(relation: Any, name: str) -> None:
    for base in (IncompatibleModelError, UnsupportedModelError):
        with pytest.raises(base, match=f"Constraint '{name}'"):
            convert(model_with(relation))


def test_nonlinear_objective_is_named() -> None:
    m = model_with(lambda m: m.x >= 1)
    m.obj.deactivate()
    m.risk = pyo.Objective(expr=m.x**2)
    with pytest.raises(IncompatibleModelError, match="Objective 'risk'"):
        convert(m)


def test_disjunctions_need_a_transformation_first() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 10))
    m.d = gdp.Disjunction(expr=[m.x <= 2, m.x >= 8])
    m.obj = pyo.Objective(expr=-m.x)
    with pytest.raises(IncompatibleModelError, match=r"Disjunction \('d'\).*gdp\.bigm"):
        convert(m)
    pyo.TransformationFactory("gdp.bigm").apply_to(m)
    assert convert(m).problem.integrality.sum() == 2


def test_foreign_models_are_refused() -> None:
    with pytest.raises(IncompatibleModelError, match="block of pyomo"):
        convert(pmo.block())
    abstract = pyo.AbstractModel()
    abstract.x = pyo.Var()
    with pytest.raises(IncompatibleModelError, match="create_instance"):
        convert(abstract)


def test_shared_sums_are_cut_where_they_end() -> None:
    """Sums share their list of terms; a shorter one must not see a longer one's."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2, 3])
    short = m.x[1] + m.x[2]
    long = short + m.x[3]
    m.c = pyo.Constraint(expr=short <= 1)
    m.d = pyo.Constraint(expr=long <= 2)
    assert convert(m).problem.matrix.toarray().tolist() == [[1, 1, 0], [1, 1, 1]]


def test_empty_model() -> None:
    converted = convert(pyo.ConcreteModel())
    assert converted.problem.num_rows == converted.problem.num_columns == 0
