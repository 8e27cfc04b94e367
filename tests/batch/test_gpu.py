"""solve_many on a GPU: what pays goes there, and the answers are those of the CPU."""

from __future__ import annotations

import dataclasses
import importlib

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge.batch.simplex import simplex_data
from gpu_bridge.batch.verify import find_figures
from gpu_bridge.options import make_options
from solvers.core.progress import Progress
from solvers.simplex import batch as engine
from solvers.simplex.batch.kernels.check import FIGURES, INSIDE
from tests.batch.families import boxed_family, family, infeasible_and_unbounded

pytestmark = pytest.mark.gpu


def test_many_lps_go_to_the_gpu_by_themselves():
    batch = boxed_family(3, 500, 20, 40, ["cost", "coefficients"])
    found = gpu_bridge.solve_many(batch)
    assert {outcome.device for outcome in found} == {"cuda"}
    expected = gpu_bridge.solve_many(batch, method="highs")
    assert found.statuses == expected.statuses
    np.testing.assert_allclose(found.objectives, expected.objectives, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_every_kind_of_row_and_column(tolerance):
    batch = family(4, 300, 30, 45, ["cost", "row_upper", "upper"])
    found = gpu_bridge.solve_many(batch, method="pdlp", device="cuda", tolerance=tolerance)
    expected = gpu_bridge.solve_many(batch, method="highs")
    assert found.statuses == expected.statuses
    np.testing.assert_allclose(
        found.objectives, expected.objectives, rtol=100 * tolerance, atol=100 * tolerance
    )


@pytest.mark.parametrize("varying", [["cost"], ["row_upper", "coefficients", "offset", "lower"]])
def test_figures_from_the_gpu_are_those_of_the_cpu(varying):
    batch = boxed_family(5, 300, 20, 40, varying)
    data = simplex_data(batch)
    options = make_options(method="simplex", device="cuda")
    answer = engine.solve(data, options, Progress(), check=True)
    claimed = ~np.isnan(answer.figures[:, INSIDE])
    assert claimed.sum() > 290
    clipped = answer.row_dual.copy()
    expected = find_figures(data, answer.x, clipped, claimed)
    np.testing.assert_array_equal(clipped, answer.row_dual)
    for place, name in enumerate(FIGURES):
        ours, theirs = answer.figures[claimed, place], expected[claimed, place]
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("maximize", [False, True])
def test_vertices_from_the_gpu(maximize):
    batch = boxed_family(6, 400, 15, 25, ["cost", "row_upper"])
    if maximize:
        turned = dataclasses.replace(batch.problem, maximize=True)
        batch = dataclasses.replace(batch, problem=turned)
    there, here = (
        gpu_bridge.solve_many(batch, method="simplex", device=device) for device in ("cuda", "cpu")
    )
    assert {outcome.engine for outcome in there} == {"simplex"}
    for name in ("objectives", "bounds", "x", "row_dual", "row_activity", "reduced_cost"):
        ours, theirs = getattr(there, name), getattr(here, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8, err_msg=name)


def test_every_ending_from_the_gpu():
    found = gpu_bridge.solve_many(infeasible_and_unbounded(), method="simplex", device="cuda")
    names = [status.name for status in found.statuses]
    assert names == ["OPTIMAL", "INFEASIBLE", "UNBOUNDED", "INFEASIBLE"]
    assert {outcome.engine for outcome in found} == {"simplex"}


@pytest.mark.parametrize("together", [0, 2**23])
def test_data_that_comes_in_several_slices(monkeypatch, together):
    monkeypatch.setattr("solvers.simplex.batch.transfer.TOGETHER_BYTES", together)
    run = importlib.import_module("solvers.simplex.batch.run")
    monkeypatch.setattr(run, "SLICE_BYTES", 2**20)
    batch = boxed_family(7, 500, 20, 40, ["cost", "coefficients", "row_upper"])
    found = gpu_bridge.solve_many(batch, method="simplex", device="cuda")
    expected = gpu_bridge.solve_many(batch, method="simplex", device="cpu")
    assert {outcome.engine for outcome in found} == {"simplex"}
    np.testing.assert_allclose(found.objectives, expected.objectives, rtol=1e-9)
