"""The formulas of ``benchmarks/cg_costs.py`` against what the kernels declare and compute."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import cg_costs as costs
from solvers.core.device import cpu
from solvers.kernels.family import Family
from solvers.linalg import cg, jacobi, normal_equations, prepare, symmetric
from solvers.linalg.kernels.iteration import ITERATION
from tests.linalg.systems import random_spd

CPU = cpu()
MATRIX_KERNELS = ("columns_step", "product")


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
    return {
        "columns_step": 4 * entries + rows,
        "product": (4 if values.get("direct") else 2) * entries + 4 * rows,
        "update": 10 * rows,
    }[name]


def operators():
    A = sp.random_array((45, 60), density=0.2, rng=np.random.default_rng(3), format="csr")
    return {"symmetric": symmetric(random_spd(45, 2), CPU), "normal": normal_equations(A, CPU)}


@pytest.mark.parametrize("kind", ["symmetric", "normal"])
def test_iteration_costs_what_the_formula_says(kind, monkeypatch):
    operator = operators()[kind]
    space = prepare(operator, jacobi(operator))
    recorder = Recorder(ITERATION)
    monkeypatch.setattr(cg, "ITERATION", recorder)
    cg._launch_batch(space, 1)
    cost = costs.iteration_cost(operator)
    assert sum(moved for _, moved, _ in recorder.calls) == cost.bytes
    assert sum(computed for _, _, computed in recorder.calls) == cost.flops
    assert len(recorder.calls) == cost.launches
    assert sum(name in MATRIX_KERNELS for name, *_ in recorder.calls) == cost.products


def test_fused_iterations_are_two_launches_or_three():
    shape = costs.Shape(100, 100, 500)
    assert costs.fused_iteration(shape).launches == 2
    assert costs.fused_iteration(shape, normal=True).launches == 3
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
    assert costs.fused_iteration(shape).bytes < costs.textbook_pcg(shape).bytes


def test_costs_add_up():
    one = costs.Cost(1, 2, 3, 4)
    assert one + one == one * 2 == costs.Cost(2, 4, 6, 8)
    assert costs.NOTHING.intensity == 0.0
