"""Solving a linopy model over a table, against building the model for each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

linopy = pytest.importorskip("linopy")
import pandas as pd  # noqa: E402
import xarray as xr  # noqa: E402

from gpu_bridge import ProblemError, SolutionStatus, solve_table  # noqa: E402
from solvers.core.errors import UnsupportedModelError  # noqa: E402
from tests.adapters.test_linopy import DEMAND, HOURS, or_zero  # noqa: E402
from tests.cases import through  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
YEARS = pd.Index([2030, 2040, 2050], name="year")
CPU = {"device": "cpu"}


def dispatch(
    demand: Any = DEMAND, most: Any = 40.0, cost: Any = 10.0, yields: Any = 15.0, sense: str = "min"
) -> linopy.Model:
    """Return two plants that meet a demand in each hour, one of them absent in an hour."""
    model = linopy.Model()
    sign = -1 if sense == "max" else 1
    cheap = model.add_variables(0, most, coords=[HOURS], name="cheap")
    dear = model.add_variables(0, 100, coords=[HOURS], name="dear", mask=DEMAND > 28)
    units = model.add_variables(0, 9, coords=[HOURS], name="units")
    model.add_constraints(cheap + or_zero(dear) >= demand, name="balance")
    model.add_constraints(yields * units - cheap >= 0, name="capacity")
    model.add_objective(sign * (cost * cheap + 30 * or_zero(dear) + 7 * units).sum(), sense=sense)
    return model


def by_year(*values: float) -> xr.DataArray:
    return xr.DataArray(list(values), coords=[YEARS])


GROWTH = by_year(1.0, 0.9, 0.6)


@pytest.mark.parametrize("sense", ["min", "max"])
def test_each_row_has_the_answer_of_its_own_model(sense: str) -> None:
    sign = -1 if sense == "max" else 1
    demand, cost = xr.DataArray(DEMAND) * GROWTH, by_year(10.0, 35.0, 12.0)
    most = xr.DataArray([40.0, 38.0, 36.0, 40.0], coords=[HOURS]) + 0 * GROWTH
    table = {
        "balance.rhs": demand,
        "cheap.cost": sign * cost,
        "cheap.upper": most.transpose(),
        ("capacity", "units"): by_year(15.0, 14.0, 20.0),
    }
    results = solve_table(dispatch(sense=sense), table, **CPU)
    for k, year in enumerate(YEARS):
        alone = dispatch(
            demand.sel(year=year, drop=True),
            most.sel(year=year, drop=True),
            float(cost[k]),
            (15.0, 14.0, 20.0)[k],
            sense,
        )
        assert alone.solve("gpuheur") == ("ok", "optimal")
        assert results.status[k] is SolutionStatus.OPTIMAL
        assert results.objective[k] == pytest.approx(alone.objective.value)
        for name in alone.variables:
            value = results.value(name).sel(year=year)
            np.testing.assert_allclose(value, alone.variables[name].solution, atol=1e-7)
        for name in alone.constraints:
            dual = results.dual(name).sel(year=year)
            np.testing.assert_allclose(dual, alone.constraints[name].dual, atol=1e-7)


def test_what_is_masked_has_no_values() -> None:
    results = solve_table(dispatch(), {"balance.rhs": [[30.0, 40.0, 50.0, 20.0]]}, **CPU)
    dear = results.value("dear")
    assert dear.dims == ("row", "hour")
    np.testing.assert_array_equal(np.isnan(dear[0]), DEMAND <= 28)
    assert not np.isnan(results.reduced_cost("cheap")).any()


def test_numbers_without_dimensions_hold_everywhere() -> None:
    forms: list[Any] = [
        {"cheap.upper": [40.0, 28.0]},
        [{"cheap.upper": 40.0}, {"cheap.upper": 28.0}],
        pd.DataFrame({"cheap.upper": [40.0, 28.0]}),
        {"cheap.upper": np.array([[40.0] * 4, [28.0] * 4])},
        {"cheap.upper": pd.DataFrame([[40.0] * 4, [28.0] * 4], YEARS[:2], HOURS)},
    ]
    expected = [dispatch(most=most) for most in (40.0, 28.0)]
    for model in expected:
        model.solve("gpuheur")
    for form in forms:
        results = solve_table(dispatch(), form, **CPU)
        np.testing.assert_allclose(results.objective, [m.objective.value for m in expected])
        np.testing.assert_allclose(results.value("cheap").max("hour"), [40.0, 28.0])


def test_columns_are_aligned_by_their_labels() -> None:
    reversed_demand = (xr.DataArray(DEMAND) * GROWTH)[::-1]
    results = solve_table(dispatch(), {"balance.rhs": reversed_demand}, **CPU)
    expected = solve_table(dispatch(), {"balance.rhs": xr.DataArray(DEMAND) * GROWTH}, **CPU)
    np.testing.assert_allclose(results.objective, expected.objective)


def test_loading_a_row_gives_the_model_its_values() -> None:
    model = dispatch()
    results = solve_table(model, {"cheap.upper": [40.0, 10.0], "dear.upper": [100.0, 1.0]}, **CPU)
    assert results.status == [SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE]
    results.load(0)
    assert (model.status, model.termination_condition) == ("ok", "optimal")
    assert model.objective.value == pytest.approx(results.objective[0])
    np.testing.assert_allclose(model.variables["cheap"].solution, results.value("cheap")[0])
    np.testing.assert_allclose(model.constraints["balance"].dual, results.dual("balance")[0])
    with pytest.raises(ProblemError, match="Row 1 of the table has no point"):
        results.load(1)


def test_a_table_without_rows_has_no_answers() -> None:
    results = solve_table(dispatch(), {"cheap.upper": []}, **CPU)
    assert (len(results), results.value("cheap").shape) == (0, (0, 4))


def test_a_coefficient_that_stands_twice_is_refused() -> None:
    model = dispatch()
    units = model.variables["units"]
    model.add_constraints(units - 0.5 * units.shift(hour=1) >= -9, name="ramp")
    with pytest.raises(ProblemError, match="more than once in a row"):
        solve_table(model, {("ramp", "units"): [1.0]})


@through(
    ("table", "said"),
    [
        ({}, "no columns"),
        ({"balance": [1.0]}, "does not say what of the model it holds"),
        ({"balances.rhs": [1.0]}, "no constraint 'balances'; there are: balance, capacity"),
        ({"cheaper.cost": [1.0]}, "no variable 'cheaper'"),
        ({("balance", "units"): [1.0]}, r"'balance\[units\]', but the model has no coefficient"),
        ({"cheap.upper": [1.0], "cheap.cost": [1.0, 2.0]}, "differ in length"),
        ({"cheap.upper": [[1.0, 2.0]]}, r"the shape \(2,\) in each row of the table; it must be"),
        ({"cheap.upper": xr.DataArray(DEMAND)}, r"needs one for the rows of the table"),
        (
            {"cheap.cost": GROWTH, "cheap.upper": GROWTH.rename(year="age")},
            "'age' for the rows of the table, an earlier one 'year'",
        ),
        ({"balance.rhs": xr.DataArray(DEMAND)[:2] * GROWTH}, "no number for 'balance.rhs'"),
    ],
)
def test_what_does_not_fit_is_named(table: dict[Any, Any], said: str) -> None:
    with pytest.raises(ProblemError, match=said):
        solve_table(dispatch(), table)


def test_scaling_by_linopy_is_refused() -> None:
    model = linopy.Model()
    try:
        x = model.add_variables(0, 1, name="x", scaling=2.0)
    except TypeError:
        pytest.skip("about factors that came with linopy 0.10")
    model.add_constraints(x >= 0.5, name="least")
    model.add_objective(1 * x)
    with pytest.raises(ProblemError, match="'x' is scaled by linopy"):
        solve_table(model, {"least.rhs": [0.5]})


@pytest.mark.parametrize("what", ["quadratic", "semi-continuous", "ordered sets", "indicator"])
def test_models_that_are_not_linear_are_refused(what: str) -> None:
    model = dispatch()
    if what == "quadratic":
        x = model.add_variables(0, 4, name="x")
        model.add_objective(x * x, overwrite=True)
    elif what == "semi-continuous":
        try:
            model.add_variables(2, 4, name="x", semi_continuous=True)
        except TypeError:
            pytest.skip(f"linopy {linopy.__version__} has no {what}")
    elif what == "ordered sets":
        if not hasattr(model, "add_sos_constraints"):
            pytest.skip(f"linopy {linopy.__version__} has no {what}")
        x = model.add_variables(0, 4, coords=[YEARS], name="x")
        model.add_sos_constraints(x, sos_type=1, sos_dim="year")
    else:
        if not hasattr(model, "add_indicator_constraints"):
            pytest.skip(f"linopy {linopy.__version__} has no {what}")
        x = model.add_variables(0, 4, name="x")
        on = model.add_variables(binary=True, name="on")
        model.add_indicator_constraints(on, 1, x, ">=", 3, name="if on")
    with pytest.raises(UnsupportedModelError, match=what):
        solve_table(model, {"demand.rhs": [1.0, 2.0]})
