"""The angiogenesis example: orders, conservation, and agreement of its solvers."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from solvers.core.device import cpu, find_device
from tests.locations import ROOT

CPU = cpu()
PATH = ROOT / "examples" / "papers" / "angiogenesis_imex.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("angiogenesis_imex", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


imex = load()
PARAMETERS = imex.Parameters()


@pytest.mark.parametrize("points", [3, 4, 17])
def test_linear_part_is_the_matrix(points):
    U = np.random.default_rng(points).uniform(size=(4, points))
    by_matrix = imex.linear_operator(points, PARAMETERS) @ U.ravel()
    T = imex.attractant(imex.grid(points), PARAMETERS)
    by_differences = imex.linear_part(np, U, T, PARAMETERS)
    np.testing.assert_allclose(by_differences.ravel(), by_matrix, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("points", [3, 50])
def test_diffusion_and_fluxes_conserve(points):
    generator = np.random.default_rng(points)
    carried, towards = generator.uniform(size=(2, points))
    weights = imex.cell_weights(points)
    scale = points**2
    assert abs(weights @ imex.laplacian(points)).max() <= 1e-14 * scale
    moved = imex.minus_divergence(np, carried, towards, False)
    assert abs(weights @ moved) <= 1e-14 * scale
    by_rule = imex.minus_divergence(np, carried, towards, True)
    assert abs(weights @ by_rule) > 1e-6 * scale


@pytest.mark.parametrize("product_rule", [False, True])
def test_divergence_is_of_second_order(product_rule):
    """-(c v_x)_x for c = 1 + x^2, v = cos(pi x), at the same points of two grids."""
    errors = []
    for every, points in ((1, 41), (2, 81)):
        x = imex.grid(points)
        c, v = 1.0 + x**2, np.cos(np.pi * x)
        slope, bend = -np.pi * np.sin(np.pi * x), -(np.pi**2) * np.cos(np.pi * x)
        exact = -(2.0 * x * slope + c * bend)
        found = imex.minus_divergence(np, c, v, product_rule)
        errors.append(np.abs(found - exact)[::every][4:-4].max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_diffusion_alone_follows_its_exact_solution():
    """cos(pi x) decays at the rate of the discrete Laplacian, by the trapezoidal factor."""
    points, steps, end = 33, 40, 1.0
    p = replace(
        PARAMETERS, a_i=0.0, a_f=0.0, a_t=0.0, k_1=0.0, k_2=0.0, k_3=0.0, k_4=0.0, k_5=0.0, k_6=0.0
    )
    wave = np.cos(np.pi * imex.grid(points))
    start = np.stack([2.0 + wave, 2.0 + wave, 2.0 - wave, np.ones(points)])
    run = imex.simulate(start, end, steps, p, CPU)
    h = 1.0 / (points - 1)
    rate = -2.0 * (1.0 - np.cos(np.pi * h)) / h**2
    for which, d, sign in ((0, p.d_c, 1.0), (1, p.d_p, 1.0), (2, p.d_i, -1.0)):
        half = 0.5 * end / steps * d * rate
        factor = ((1.0 + half) / (1.0 - half)) ** steps
        np.testing.assert_allclose(run.states[-1, which], 2.0 + sign * factor * wave, rtol=1e-12)
    np.testing.assert_array_equal(run.states[-1, 3], 1.0)


def test_orders():
    plain, extrapolated = imex.Scheme(), imex.Scheme(extrapolated=True)
    assert imex.order_in_time(21, 20, PARAMETERS, CPU, plain) == pytest.approx(1.0, abs=0.15)
    assert imex.order_in_time(21, 20, PARAMETERS, CPU, extrapolated) == pytest.approx(2.0, abs=0.2)
    assert imex.order_in_space(41, 25, PARAMETERS, CPU, plain) == pytest.approx(2.0, abs=0.2)


def test_cells_are_conserved_and_solvers_agree_over_a_hundred_steps():
    start = imex.initial_state(30)
    run = imex.simulate(start, 1.0, 100, PARAMETERS, CPU)
    assert run.clipped == 0
    assert run.mass_defect < 1e-13
    assert run.states.shape == (101, 4, 30)
    masses = run.states[:, 0] @ imex.cell_weights(30)
    assert masses[-1] > masses[0]
    still = imex.simulate(start, 1.0, 100, replace(PARAMETERS, k_1=0.0), CPU)
    kept = still.states[:, 0] @ imex.cell_weights(30)
    np.testing.assert_allclose(kept, kept[0], rtol=1e-13)
    for solver in (imex.by_sparse_lu, lambda matrix: lambda side: np.linalg.solve(matrix, side)):
        other = imex.simulate(start, 1.0, 100, PARAMETERS, CPU, solver=solver)
        assert imex.difference(other.states[-1], run.states[-1]) < imex.DIGITS


def test_negative_values_are_counted_and_removed():
    start = imex.initial_state(12)
    start[2] = 40.0  # binds more protease in a step than there is
    start[1] = 0.01
    run = imex.simulate(start, 1.0, 4, PARAMETERS, CPU)
    assert run.clipped > 0
    assert run.states.min() == 0.0


@pytest.mark.gpu
def test_cpu_and_gpu_agree_over_a_hundred_steps():
    gpu = find_device("cuda")
    start = imex.initial_state(400)
    with gpu.activate():
        there = imex.simulate(start, 1.0, 100, PARAMETERS, gpu)
    here = imex.simulate(start, 1.0, 100, PARAMETERS, CPU)
    assert max(map(imex.difference, there.states, here.states)) < imex.DIGITS
    assert there.mass_defect < 1e-13
