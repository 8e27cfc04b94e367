"""Expected solutions of Pyomo's own legacy test models.

The wheel carries these tests but not their expected solutions (``*.json``). The table below
states, model by model, what follows from the model's few lines by hand: values, duals and
reduced costs at the optimum. Values of constraints and objectives are then evaluated by Pyomo
from the values of the variables. Nothing here is computed by the solver under test. The twelve
of upstream's files that could be compared agree, but for one constant row of
``LP_trivial_constraints``, whose model has changed since.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyomo.core import Constraint, Objective, Var

DEFAULTS = {name: [0.0, None] for name in ("dual", "rc", "slack")}


@dataclass(frozen=True)
class Facts:
    """Values of the variables that take part, multipliers, and values that must stay."""

    values: dict[str, float]
    duals: dict[str, float] = field(default_factory=dict)
    reduced_costs: dict[str, float] = field(default_factory=dict)
    slacks: dict[str, float] = field(default_factory=dict)
    untouched: dict[str, float] = field(default_factory=dict)


def _numbered(name: str, numbers: dict[int, float]) -> dict[str, float]:
    return {f"{name}[{k}]": float(number) for k, number in numbers.items()}


# x[1] and x[2] end at their bounds, the others where their constraint holds them
_DUALS_X = _numbered(
    "x", {1: -1, 2: 1, 3: -1, 4: 1, 5: -1, 6: -1, 7: 1, 8: 1, 9: -1, 10: -1, 11: 1, 12: 1}
)
_UNUSED = {
    name: -1.0
    for name in (
        *("x_unused", "x_unused_initially_stale", "X_unused[1]", "X_unused[2]"),
        *("X_unused_initially_stale[1]", "X_unused_initially_stale[2]"),
    )
}
_USED = {"x": 1.0, "x_initially_stale": 1.0, "X[1]": 0.0, "X[2]": 1.0}
_USED |= {"X_initially_stale[1]": 0.0, "X_initially_stale[2]": 1.0}

FACTS = {
    # min x + 3y with y >= 1, x - y >= 2
    "LP_block": Facts(
        {"b.x": 3.0, "B[1].x": 1.0},
        {"B[2].c": -4.0, "B[3].c": 1.0},
        {"b.x": 0.0, "B[1].x": 0.0},
        {"B[2].c": 0.0, "B[3].c": 8.0},
    ),
    "LP_compiled": Facts(_DUALS_X, untouched={"fixed_var": 1.0}),
    "LP_constant_objective1": Facts({"x": 1.0}, {"con": 0.0}, {"x": 0.0}, {"con": 0.0}),
    "LP_constant_objective2": Facts({"x": 1.0}, {"con": 0.0}, {"x": 0.0}, {"con": 0.0}),
    # each variable appears with coefficient +1 (odd) or -1 (even), and in one row at most
    "LP_duals_minimize": Facts(
        _DUALS_X,
        _numbered("c", {k: 1 if k % 2 else -1 for k in range(3, 13)}),
        _numbered("x", {1: 1, 2: -1}),
        _numbered("c", dict.fromkeys(range(3, 13), 0)),
    ),
    "LP_duals_maximize": Facts(
        _DUALS_X,
        _numbered("c", {k: -1 if k % 2 else 1 for k in range(3, 13)}),
        _numbered("x", {1: -1, 2: 1}),
        _numbered("c", dict.fromkeys(range(3, 13), 0)),
    ),
    # min -x + y + z with x <= 2, y >= -2, z >= 1
    "LP_inactive_index": Facts(
        {"x": 2.0, "y": -2.0, "z": 1.0},
        {"c1[2]": 0.0, "c1[3]": 0.0, "c2[1]": 1.0, "c2[2]": -1.0, "B[2].c": 1.0},
        {"x": 0.0, "y": 0.0, "z": 0.0},
        {"c1[2]": -3.0, "c1[3]": 3.0, "c2[1]": 0.0, "c2[2]": 0.0, "B[2].c": 0.0},
    ),
    # min y above the lines 1 + (x + 1) (-1/2) and 1/2 + x/2
    "LP_piecewise": Facts(
        {"x": 0.0, "y": 0.5},
        {
            "p.simplified_piecewise_constraint[1]": -0.5,
            "p.simplified_piecewise_constraint[2]": -0.5,
        },
        {"x": 0.0, "y": 0.0},
    ),
    # min 1 + x + 3y + z1 - z2 with y >= 1, x - y >= 2, z1 + 1 >= 0, z2 + 1 <= 0
    "LP_simple": Facts(
        {"x": 3.0, "y": 1.0, "z1": -1.0, "z2": -1.0},
        {"c1": -4.0, "c2": 1.0, "c3": 1.0, "c4": -1.0},
        {"x": 0.0, "y": 0.0, "z1": 0.0, "z2": 0.0},
        {"c1": 0.0, "c2": 8.0, "c3": 10.0, "c4": -10.0},
    ),
    # min x - y with x >= -2, y <= 3, and rows of constants
    "LP_trivial_constraints": Facts(
        {"x": -2.0, "y": 3.0},
        {"c[1]": 1.0, "c[2]": -1.0, **_numbered("c", dict.fromkeys(range(3, 8), 0))},
        {"x": 0.0, "y": 0.0},
        _numbered("c", {1: 0, 2: 0, 3: 2, 4: -2, 5: 1, 6: 1, 7: 0}),
    ),
    # 1 is optimal for x1..x4: the four rows with dual 1 price out all seven columns
    "LP_unique_duals": Facts(
        _numbered("x", {1: 1, 2: 1, 3: 1, 4: 1, 5: 0, 6: 0, 7: 0}),
        _numbered("primalcon", {1: 1, 2: 1, 3: 1, 4: 0, 5: 1, 6: 0, 7: 0}),
        _numbered("x", {1: 0, 2: 0, 3: 0, 4: 0, 5: 0.5, 6: 0.5, 7: 0.5}),
    ),
    "LP_unused_vars": Facts(_USED, untouched=_UNUSED),
    "MILP_discrete_var_bounds": Facts(
        {"w2": 0.0, "x2": 1.0, "yb": 1.0, "zb": 0.0, "yi": -1.0, "zi": 1.0}
    ),
    "MILP_simple": Facts({"x": 3.0, "y": 1.0}),
    "MILP_unused_vars": Facts(_USED, untouched=_UNUSED),
    # min x + y1 + 2 y2 with y2 >= 0.1, x >= 2, y1 + y2 = 1, one of y1 and y2
    "SOS1_simple": Facts(
        {"x": 2.0, "y[1]": 0.0, "y[2]": 1.0}, slacks={"c1": -0.9, "c2": 8.0, "c4": 0.0}
    ),
    # x = 2.75 lies between the second and the third point
    "SOS2_simple": Facts(
        {"f": 0.5, "p": 0.0, "n": 0.0, **_numbered("lmbda", {1: 0, 2: 0.25, 3: 0.75})},
        untouched={"x": 2.75},
    ),
}
FACTS["LP_piecewise_nosuffixes"] = FACTS["LP_piecewise"]


def write_baselines(folder: Path, model_classes: dict[str, Any]) -> None:
    """Write ``<description>.json`` for every model in the table, in upstream's format."""
    for name, facts in FACTS.items():
        if name not in model_classes:  # upstream's list leaves out one of its own models
            continue
        case = model_classes[name]()
        path = folder / Path(case.results_file).name
        if not path.exists():
            path.write_text(json.dumps(_baseline(case, facts), indent=1, sort_keys=True))


def _baseline(case: Any, facts: Facts) -> dict[str, Any]:
    case.generate_model()
    model = case.model
    expected: dict[str, Any] = {"suffix defaults": DEFAULTS}
    known = facts.values | facts.untouched
    named = {variable.name: variable for variable in model.component_data_objects(Var)}
    assert set(known) <= set(named), set(known) - set(named)
    for name, variable in named.items():
        variable.set_value(known.get(name), skip_validation=True)
        expected[name] = {"value": known.get(name), "stale": name not in facts.values}
        if name in facts.reduced_costs:
            expected[name]["rc"] = facts.reduced_costs[name]
    for block in model.block_data_objects(active=None):
        expected[block.name] = {}
    for constraint in model.component_data_objects(Constraint):
        entry = expected[constraint.name] = {"value": constraint(exception=False)}
        for suffix, numbers in (("dual", facts.duals), ("slack", facts.slacks)):
            if constraint.name in numbers:
                entry[suffix] = numbers[constraint.name]
    for objective in model.component_data_objects(Objective):
        expected[objective.name] = {"value": objective(exception=False)}
    return expected
