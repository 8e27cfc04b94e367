"""The formulas of ``benchmarks/cg_costs.py`` against what the kernels declare and compute."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import cg_costs as costs
from solvers.core.device import cpu
from solvers.kernels.family import Family
from solvers.linalg import (
    block_jacobi,
    chebyshev,
    jacobi,
    neumann,
    normal_equations,
    prepare,
    symmetric,
    workspace,
)
from solvers.linalg.kernels.iteration import ITERATION
from tests.linalg.systems import laplacian, random_spd

CPU = cpu()
MATRIX_KERNELS = ("columns_step", "product_single", "product_classic", "polynomial_step")


class Recorder:
    """Stands in for a family: notes what each call moves and computes, and runs it."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.calls: list[tuple[str, int, int]] = []

    def __getitem__(self, name):
        kernel = self.family.kernels[name]

        def call(*values, threads=0):
            named = kernel.by_name(values)
            self.calls.append((name, kernel.bytes_moved(named), operations(name, named)))
            self.family[name](*values, threads=threads)

        return call


def operations(name, values):
    """Return the floating point operations that the loop of a kernel carries out."""
    rows = int(values["rows"])
    entries = values["values"].size if "values" in values else 0
    size = int(values.get("block_size", 0))
    of_blocks = sum(2 * min(size, rows - i // size * size) for i in range(rows)) if size else 0
    return {
        "columns_step": (4 if values.get("with_p") else 2) * entries + rows,
        "product_single": 2 * entries + 6 * rows,
        "update_single": 8 * rows + of_blocks,
        "product_classic": (4 if values.get("direct") else 2) * entries + 4 * rows,
        "update_classic": 8 * rows + of_blocks,
        "precondition": of_blocks,
        "polynomial_step": 2 * entries + 6 * rows,
    }[name]


def operators():
    A = sp.random_array((45, 60), density=0.2, rng=np.random.default_rng(3), format="csr")
    return {"symmetric": symmetric(random_spd(45, 2), CPU), "normal": normal_equations(A, CPU)}


CASES = [
    ("single", "jacobi", jacobi),
    ("classic", "jacobi", jacobi),
    ("single", "block", lambda operator: block_jacobi(operator, 8)),
    ("classic", "block", lambda operator: block_jacobi(operator, 8)),
    ("single", "neumann 1", lambda operator: neumann(operator, 1)),
    ("single", "chebyshev 4", lambda operator: chebyshev(operator, 4)),
]
case = pytest.mark.parametrize(
    ("variant", "make"), [(v, m) for v, _, m in CASES], ids=[f"{v}-{n}" for v, n, _ in CASES]
)
kinds = pytest.mark.parametrize("kind", ["symmetric", "normal"])


@kinds
@case
def test_iteration_costs_what_the_formula_says(kind, variant, make, monkeypatch):
    operator = operators()[kind]
    preconditioner = make(operator)
    space = prepare(operator, preconditioner, variant=variant)
    recorder = Recorder(ITERATION)
    monkeypatch.setattr(workspace, "ITERATION", recorder)
    workspace.launch_batch(space, 1)
    cost = costs.iteration_cost(operator, preconditioner, variant)
    assert sum(moved for _, moved, _ in recorder.calls) == cost.bytes
    assert sum(computed for _, _, computed in recorder.calls) == cost.flops
    assert len(recorder.calls) == cost.launches
    assert sum(name in MATRIX_KERNELS for name, *_ in recorder.calls) == cost.products


@pytest.mark.parametrize("degree", [1, 2, 3, 8])
def test_polynomial_of_degree_k_takes_k_products_more(degree):
    operator = symmetric(laplacian(6), CPU)
    for made in (chebyshev(operator, degree), neumann(operator, degree)):
        assert costs.iteration_cost(operator, made, "single").products == degree + 1
    normal = normal_equations(laplacian(6), CPU)
    made = chebyshev(normal, degree)
    assert costs.iteration_cost(normal, made, "single").products == 2 * (degree + 1)


def test_fused_iterations_are_two_launches_or_three():
    shape = costs.Shape(100, 100, 500)
    for variant in ("single", "classic"):
        assert costs.fused_iteration(shape, variant).launches == 2
        assert costs.fused_iteration(shape, variant, normal=True).launches == 3
    assert costs.textbook_cg(shape).launches == 6
    assert costs.textbook_pcg(shape).launches == 8


def test_textbook_counts():
    """2 nnz + 10 n operations without, 2 nnz + 13 n with Jacobi."""
    shape = costs.Shape(1000, 1000, 5000)
    assert costs.textbook_cg(shape).flops == 2 * 5000 + 10 * 1000
    assert costs.textbook_pcg(shape).flops == 2 * 5000 + 13 * 1000
    assert costs.spmv(shape).bytes == 12 * 5000 + 4 * 1001 + 16 * 1000
    assert costs.textbook_cg(shape).bytes == costs.spmv(shape).bytes + (16 + 72 + 8) * 1000
    assert costs.textbook_pcg(shape).bytes == costs.textbook_cg(shape).bytes + (24 + 16) * 1000


def test_tutorial_intensity_tends_to_a_sixth():
    """I = 1 / (6 + 10 / z + 4 / z) flop per byte with z entries in a row."""
    for per_row in (1, 5, 50, 5000):
        shape = costs.Shape(1000, 1000, 1000 * per_row)
        expected = 1 / (6 + 10 / per_row + 4 / per_row)
        assert costs.tutorial_spmv(shape).intensity == pytest.approx(expected)
    assert costs.tutorial_spmv(shape).intensity == pytest.approx(1 / 6, rel=1e-3)


def test_fused_moves_less_than_the_textbook():
    shape = costs.Shape(10_000, 10_000, 50_000)
    for variant in ("single", "classic"):
        assert costs.fused_iteration(shape, variant).bytes < costs.textbook_pcg(shape).bytes


def test_costs_add_up():
    one = costs.Cost(1, 2, 3, 4)
    assert one + one == one * 2 == costs.Cost(2, 4, 6, 8)
    assert costs.NOTHING.intensity == 0.0
