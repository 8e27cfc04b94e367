"""Iteration blocks in one launch on a GPU, with and without barriers, beside their twins."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import Device
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.kernels.staying import STAYING
from solvers.sparse.shape import Plan
from tests.matrices import MATRICES
from tests.pdlp.matrices import Laid, lay_out
from tests.pdlp.on_gpu import (
    FLOW_PLANS,
    LAYOUTS,
    assert_equal_twin,
    by_layout,
    laid_out,
    two_cases,
)
from tests.pdlp.step_cases import StepCase, make_case

pytestmark = pytest.mark.gpu


def staying_case(laid: Laid, seed: int) -> StepCase:
    """Return a case with steps so short that rounding does not grow."""
    case = make_case(laid, seed)
    sizes = abs(case.matrix)
    norm = np.sqrt(sizes.sum(axis=0).max(initial=0.0) * sizes.sum(axis=1).max(initial=0.0))
    case.control[[Control.TAU, Control.SIGMA]] = 0.4 / max(norm, 1.0)
    case.control[Control.ITERATIONS] = 1000.0
    return case


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("blocks", [1, 3, 100])
@by_layout
def test_block_with_barriers_equals_its_twin(name, plan, packing, blocks, count, gpu):
    assert_block_equals_its_twin("barrier_steps", laid_out(name, plan, packing), blocks, count, gpu)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("blocks", [1, 3, 100])
@pytest.mark.parametrize(
    ("name", "plan", "packing"), [layout for layout in LAYOUTS if layout[1] in FLOW_PLANS]
)
def test_block_without_barriers_equals_its_twin(name, plan, packing, blocks, count, gpu):
    assert_block_equals_its_twin("flow_steps", laid_out(name, plan, packing), blocks, count, gpu)


def assert_block_equals_its_twin(
    name: str, laid: Laid, blocks: int, count: int, gpu: Device
) -> None:
    kernel = STAYING.kernels[name]
    cases = two_cases(laid, 15, staying_case)
    assert_equal_twin(
        STAYING, name, lambda case: case.staying_arguments(kernel, count, blocks), cases, gpu, 1e-9
    )


@pytest.mark.parametrize("stop", [Stop.OPTIMAL, Stop.BROKEN])
def test_nothing_happens_on_the_gpu_while_control_says_stop(stop, gpu):
    for name, kernel in STAYING.kernels.items():
        case = make_case(lay_out(MATRICES["square 129"], Plan()), 16)
        case.control[Control.STOP] = stop
        values = case.staying_arguments(kernel, 3, 2)
        there = [gpu.to_device(v) if isinstance(v, np.ndarray) else v for v in values]
        STAYING[name](*there)
        for argument, before, after in zip(kernel.arguments, values, there, strict=True):
            if argument.direction != "in":
                assert np.array_equal(gpu.to_host(after), before)
