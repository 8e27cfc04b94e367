"""Pyomo's generic tests of solvers through its old interface, with all three suffixes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from pyomo.solvers.tests.models.base import all_models

from tests.conformance.pyomo_baselines import FACTS
from tests.conformance.pyomo_upstream import OLD_CAPABILITIES, count_tests, old_interface_tests

_folder = tempfile.TemporaryDirectory(prefix="pyomo-baselines-")
CLASSES = old_interface_tests(Path(_folder.name), ["dual", "rc", "slack"])
globals().update(CLASSES)


def test_upstream_tests_are_all_there() -> None:
    """70 in Pyomo 6.10.1 for linear and integer models, and 8 with special ordered sets."""
    assert count_tests(CLASSES) >= 78


def test_every_solvable_model_has_its_expected_solution() -> None:
    wanted = {
        name
        for name, case in all_models().items()
        if case.capabilities <= OLD_CAPABILITIES
        and not name.endswith("_kernel")
        and not case().solve_should_fail
    }
    assert wanted <= set(FACTS)


@pytest.mark.parametrize("name", ["LP_simple", "MILP_simple", "LP_duals_maximize"])
def test_expected_solutions_refuse_other_answers(name: str) -> None:
    """A value off by a hundredth, or a dual of the wrong sign, is noticed."""
    case = all_models(name)()
    case.generate_model(["dual", "rc", "slack"])
    facts = FACTS[name]
    compared = {"suffixes": case.test_suffixes, "exclude_suffixes": {}}

    def verdict(error: float, sign: float) -> bool:
        model = case.model
        for known, value in facts.values.items():
            model.find_component(known).set_value(value + error, skip_validation=True)
            model.find_component(known).stale = False
        for known, dual in facts.duals.items():
            model.dual[model.find_component(known)] = sign * dual
        for known, cost in facts.reduced_costs.items():
            model.rc[model.find_component(known)] = cost
        for known, slack in facts.slacks.items():
            model.slack[model.find_component(known)] = slack
        return bool(case.validate_current_solution(**compared)[0])

    assert verdict(0.0, 1.0)
    assert not verdict(0.01, 1.0)
    assert verdict(0.0, -1.0) is not bool(facts.duals)
