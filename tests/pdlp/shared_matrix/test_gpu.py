"""Kernels for several problems against their twins, and whole solves on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu, find_device
from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from solvers.pdlp.execution.on_cpu import dual_arguments, primal_arguments
from solvers.pdlp.shared_matrix import SharedMatrix
from solvers.pdlp.shared_matrix.kernels.check import CHECK
from solvers.pdlp.shared_matrix.kernels.step import KEEP_FIRST, KEEP_LAST, KEEP_NONE, STEP
from solvers.pdlp.shared_matrix.state import WIDTHS, check_arguments
from tests.matrices import MATRICES
from tests.pdlp.lps import random_lp
from tests.pdlp.shared_matrix.cases import arrays_of, make_state, stacked, variants
from tests.pdlp.shared_matrix.test_shared_matrix import assert_solves

pytestmark = pytest.mark.gpu

NAMES = sorted(name for name, matrix in MATRICES.items() if 0 not in matrix.shape)


def states(name, width, stopped=(1, 5)):
    seed = len(name) + width
    return [
        make_state(MATRICES[name], width, seed, stopped, device)
        for device in (cpu(), find_device("cuda"))
    ]


def run_block(state, count=3):
    for offset in range(count):
        keep = KEEP_FIRST if offset == 0 else KEEP_NONE
        keep |= KEEP_LAST if offset == count - 1 else KEEP_NONE
        STEP["primal_step"](*primal_arguments(state), offset, keep)
        STEP["dual_step"](*dual_arguments(state), offset, keep)


def assert_alike(one, two, names):
    for name in names:
        np.testing.assert_allclose(one[name], two[name], rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_steps_agree_with_their_twins(name, width):
    both = states(name, width)
    for state in both:
        run_block(state)
    one, two = map(arrays_of, both)
    assert_alike(one, two, [key for key in one if key[0] in "xyr" and "partial" not in key])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_checks_agree_with_their_twins(name, width):
    both = states(name, width)
    for state in both:
        run_block(state)
        for kernel, arguments in check_arguments(state, 3).items():
            CHECK[kernel](*arguments)
    one, two = map(arrays_of, both)
    live = [p for p in range(width) if p not in (1, 5)]
    np.testing.assert_allclose(
        one["control"][:, live], two["control"][:, live], rtol=1e-7, atol=1e-9
    )
    np.testing.assert_array_equal(one["control"][:, [1, 5]], two["control"][:, [1, 5]])
    assert_alike(one, two, [key for key in one if key[0] in "xy"])


def test_all_stopped_problems_stay_as_they_are():
    _, state = states("large", 8, stopped=tuple(range(8)))
    before = arrays_of(state)
    run_block(state)
    for kernel, arguments in check_arguments(state, 3).items():
        CHECK[kernel](*arguments)
    after = arrays_of(state)
    for name in before:
        if name != "control" and "partial" not in name:
            np.testing.assert_array_equal(before[name], after[name], err_msg=name)


@pytest.mark.parametrize("width", [8, 16])
def test_solves_find_the_optima(width):
    problem = random_lp(0, 300, 400, density=0.05)
    options = EngineOptions(tolerance=1e-7)
    solver = SharedMatrix(problem, width, options, find_device("cuda"), Progress())
    for seed in range(2):
        problems = variants(problem, width, seed)
        for point, own in zip(solver.solve(**stacked(problems)), problems, strict=True):
            assert_solves(point, own)


def test_launches_repeat_their_bits():
    problem = random_lp(1, 300, 400, density=0.05)
    options = EngineOptions(tolerance=1e-7)
    vectors = stacked(variants(problem, 8, 0))
    one, two = (
        SharedMatrix(problem, 8, options, find_device("cuda"), Progress()).solve(
            **vectors, iterations=1000
        )
        for _ in range(2)
    )
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.x, b.x)
