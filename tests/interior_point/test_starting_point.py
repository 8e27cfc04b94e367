"""Starts between the cold one and a known point, and their complementary products."""

from __future__ import annotations

import numpy as np
import pytest

from solvers import interior_point
from solvers.core.device import cpu
from solvers.core.lp_answer import Norms
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, Start
from solvers.core.progress import Progress
from solvers.interior_point import loop
from solvers.interior_point.analysis import smallest_system
from solvers.interior_point.on_host import OnHost
from solvers.interior_point.point import centrality, products
from solvers.interior_point.standard_form import standard_form
from solvers.interior_point.starting_point import Known, centred, starting_point, towards_known
from tests.interior_point.lps import of_every_kind

PROBLEM = of_every_kind(np.random.default_rng(11), rows=40, columns=60)


def near_the_optimum() -> Start:
    optimal = interior_point.solve(PROBLEM, EngineOptions(tolerance=1e-8), Progress())
    return Start(optimal.x, optimal.row_dual)


def test_products_of_a_centred_start_are_their_mean_and_differences_stay() -> None:
    form = standard_form(PROBLEM)
    system = smallest_system(form, OnHost).system(form, cpu())
    known = Known.of(form, PROBLEM, near_the_optimum(), Norms.of(PROBLEM))
    assert known is not None
    cold = starting_point(form, system)
    near = towards_known(form, cold, known)
    mu = centrality(form, near)
    point = centred(form, near, cold)
    found = products(form, point)
    np.testing.assert_allclose(found.xz[~form.free], mu, rtol=1e-9)
    np.testing.assert_allclose(found.tv, mu, rtol=1e-9)
    assert centrality(form, point) == pytest.approx(mu)
    np.testing.assert_array_equal(point.x[form.free], near.x[form.free])
    np.testing.assert_array_equal(point.y, near.y)
    kept = ~form.free
    unit = np.sqrt(cold.x[kept] / cold.z[kept])
    before, after = (p.x[kept] / unit - unit * p.z[kept] for p in (near, point))
    np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-9)
    bounds = np.sqrt(cold.t / cold.v)
    before, after = (p.t / bounds - bounds * p.v for p in (near, point))
    np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-9)


def test_a_short_first_step_is_taken_from_there_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    start = near_the_optimum()
    begun = []

    def counted(*given: object) -> object:
        begun.append(given)
        return centred(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "centred", counted)
    options = EngineOptions(tolerance=1e-10)
    plain = interior_point.solve(PROBLEM, options, Progress(), start)
    assert not begun
    monkeypatch.setattr(loop, "SHORT_START", 2.0)
    outcome = interior_point.solve(PROBLEM, options, Progress(), start)
    assert len(begun) == 1
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(plain.objective, rel=1e-8)
    cold = interior_point.solve(PROBLEM, options, Progress())
    assert len(begun) == 1, "a cold start is none"
    assert cold.solution_status is SolutionStatus.OPTIMAL
