"""Device code against its twins on the same input, and whole solves on a GPU."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from solvers.core.device import Device, cpu, find_device
from solvers.linalg import cg as cg_module
from solvers.linalg import (
    conjugate_gradients,
    jacobi,
    normal_equations,
    prepare,
    run,
    symmetric,
)
from solvers.linalg.kernels.iteration import launch_rows, launch_vector
from solvers.linalg.least_squares import least_squares_duals, project_on_rows
from tests.linalg.kernel_cases import MATRICES, cases
from tests.linalg.systems import SYSTEMS, laplacian, scaled

pytestmark = pytest.mark.gpu

CPU = cpu()


@pytest.fixture(scope="module")
def gpu() -> Device:
    return find_device("cuda")


def as_on_device(kernel, named, gpu):
    """Copy arguments, with as many slots for sums as the launch has blocks."""
    values = {k: gpu.to_device(v) if isinstance(v, np.ndarray) else v for k, v in named.items()}
    if "slots" in values:
        by_rows = "lanes" in values
        launch = launch_rows if by_rows else launch_vector
        values["slots"] = max(1, launch(named).grid)
        values["partial"] = gpu.xp.zeros(3 * values["slots"])
    return values


@pytest.mark.parametrize("name", sorted(MATRICES))
def test_kernels_equal_their_twins(name, gpu):
    for family, which, arguments in cases(MATRICES[name], 1):
        kernel = family.kernels[which]
        here = dict(kernel.by_name(arguments))
        there = as_on_device(kernel, here, gpu)
        family[which](*here.values())
        family[which](*there.values())
        gpu.synchronize()
        for argument in kernel.arguments:
            if argument.direction == "in" or argument.name == "partial":
                continue
            expected, found = here[argument.name], gpu.to_host(there[argument.name])
            size = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
            np.testing.assert_allclose(
                found, expected, rtol=1e-9, atol=1e-10 * size, err_msg=f"{which} {argument.name}"
            )


def test_ticket_is_ready_for_the_next_launch(gpu):
    for family, which, arguments in cases(MATRICES["large"], 1):
        kernel = family.kernels[which]
        there = as_on_device(kernel, dict(kernel.by_name(arguments)), gpu)
        if "ticket" not in there:
            continue
        before = {k: v.copy() if hasattr(v, "copy") else v for k, v in there.items()}
        family[which](*there.values())
        assert int(there["ticket"][0]) == 0
        for _ in range(3):
            again = {k: v.copy() if hasattr(v, "copy") else v for k, v in before.items()}
            family[which](*again.values())
            for name, value in again.items():
                if hasattr(value, "dtype"):
                    assert np.array_equal(gpu.to_host(value), gpu.to_host(there[name]))


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_solutions_equal_those_of_the_cpu(name, gpu):
    matrix = SYSTEMS[name]
    b = np.random.default_rng(1).standard_normal(matrix.shape[0])
    with gpu.activate():
        here, there = symmetric(matrix, CPU), symmetric(matrix, gpu)
        one = conjugate_gradients(here, b, jacobi(here), tolerance=1e-9)
        other = conjugate_gradients(there, b, jacobi(there), tolerance=1e-9)
        x = gpu.to_host(other.x)
    assert other.converged
    assert np.linalg.norm(b - matrix @ x) <= 1.001e-9 * np.linalg.norm(b)
    # Rounding steers long runs apart, not by much.
    assert abs(one.iterations - other.iterations) <= 5 + one.iterations // 4


def test_normal_equations_on_the_gpu(gpu):
    generator = np.random.default_rng(4)
    A = sp.random_array((300, 700), density=0.03, rng=generator, format="csr")
    weight = generator.integers(0, 2, 700).astype(float)
    M = A @ sp.diags_array(weight) @ A.T
    b = M @ generator.standard_normal(300)
    with gpu.activate():
        operator = normal_equations(A, gpu, weight)
        solution = conjugate_gradients(operator, b, jacobi(operator))
        x = gpu.to_host(solution.x)
    assert solution.converged
    np.testing.assert_allclose(M @ x, b, atol=1e-8 * np.linalg.norm(b))


def test_recorded_graph_changes_nothing(gpu):
    """On the default stream nothing is recorded; the bits are the same."""
    matrix = scaled(laplacian(40), 0.5, 7)
    b = np.random.default_rng(2).standard_normal(1600)
    operator = symmetric(matrix, gpu)
    plain = conjugate_gradients(operator, b, jacobi(operator))
    with gpu.activate():
        operator = symmetric(matrix, gpu)
        space = prepare(operator, jacobi(operator))
        recorded = run(space, b)
        assert space.graph is not None
        again = run(space, b)
        assert np.array_equal(gpu.to_host(recorded.x), gpu.to_host(again.x))
        assert np.array_equal(gpu.to_host(recorded.x), gpu.to_host(plain.x))
    assert recorded.iterations == plain.iterations


def test_one_look_in_a_batch(gpu, monkeypatch):
    """The host reads the scalars once in BATCH iterations."""
    matrix = laplacian(60)
    b = np.random.default_rng(2).standard_normal(3600)
    batches = []
    real = cg_module._run_batch
    monkeypatch.setattr(cg_module, "_run_batch", lambda space: (batches.append(1), real(space))[1])
    with gpu.activate():
        solution = conjugate_gradients(symmetric(matrix, gpu), b)
    most = solution.iterations // cg_module.BATCH + 2 + cg_module.RESTARTS
    assert len(batches) <= most


def test_corrections_on_the_gpu(gpu):
    generator = np.random.default_rng(3)
    A = sp.random_array((120, 400), density=0.05, rng=generator, format="csr")
    x = generator.uniform(0.5, 2.0, 400)
    b = A @ x
    start = np.maximum(0.0, x + 1e-3 * generator.standard_normal(400))
    bounds = (np.zeros(400), np.full(400, np.inf), b, b)
    here = project_on_rows(A, start, *bounds)
    there = project_on_rows(A, start, *bounds, device=gpu)
    np.testing.assert_allclose(there.values, here.values, atol=1e-7)
    cost = generator.standard_normal(400)
    here = least_squares_duals(A, cost, x, *bounds, iterations=200)
    there = least_squares_duals(A, cost, x, *bounds, iterations=200, device=gpu)
    assert there.after == pytest.approx(here.after, rel=1e-6)
