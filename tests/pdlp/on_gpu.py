"""What the tests on a GPU share: layouts, execution modes, kernels beside their twins."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import Device
from solvers.core.options import EngineOptions
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.kernels.family import Family
from solvers.pdlp.settings import DEFAULT, Settings
from solvers.sparse.slices import Slices
from tests.matrices import MATRICES
from tests.pdlp.matrices import PACKINGS, PLANS, Laid, lay_out
from tests.pdlp.step_cases import StepCase, make_case

NAMES = sorted(MATRICES)
GPU_PLANS = sorted(set(PLANS) - {"cpu"})
FLOW_PLANS = ["one step", "usual"]
"""Plans whose units all have entries, as those with units_from a multiple of 256."""

LAYOUTS = [
    *((name, plan, "float64") for name in NAMES for plan in GPU_PLANS),
    *(
        (name, "one step", packing)
        for name in ("square 129", "empty rows", "long row", "large")
        for packing in PACKINGS[1:]
    ),
]
"""Every matrix in every layout, and every packing with short and long column indices."""

by_layout = pytest.mark.parametrize(("name", "plan", "packing"), LAYOUTS)

MODES: dict[str, Settings] = {
    "flow": DEFAULT.changed(execution={"barrier_from": 10**9}),
    "barrier": DEFAULT.changed(execution={"flow_up_to": 0, "barrier_from": 0}),
    "launches": DEFAULT.changed(execution={"flow_up_to": 0, "barrier_up_to": 0}),
    "large model": DEFAULT.changed(
        execution={"flow_up_to": 0, "barrier_up_to": 0, "latency_up_to": 0, "pack_from": 0}
    ),
    "all one after the other": DEFAULT.changed(execution={"barrier_from": 0, "launches_from": 0}),
}
"""Execution modes of a block, each enforced by settings."""


@cache
def laid_out(name: str, plan: str, packing: str) -> Laid:
    return lay_out(MATRICES[name], PLANS[plan], packing)


def assert_equal_twin(
    family: Family,
    name: str,
    arguments: Callable[[Any], tuple[Any, ...]],
    cases: tuple[Any, Any],
    gpu: Device,
    tolerance: float = 1e-10,
) -> None:
    """Run a kernel on a case here, without packing, and on the same case there, with it."""
    kernel = family.kernels[name]
    here, there = (list(arguments(case)) for case in cases)
    there = [gpu.to_device(value) if isinstance(value, np.ndarray) else value for value in there]
    family[name](*here)
    family[name](*there)
    gpu.synchronize()
    compared = 0
    for argument, one, other in zip(kernel.arguments, here, there, strict=True):
        if argument.name.endswith("tickets"):
            assert not gpu.to_host(other).any(), "tickets are zero again after every launch"
        elif argument.direction != "in" and not argument.name.endswith("partials"):
            if argument.name in ("arrivals", "tagged_reflected", "tagged_y"):
                continue
            if argument.name == "partial":
                one, other = one.sum(axis=0), other.sum(axis=0)
            np.testing.assert_allclose(
                gpu.to_host(other), one, rtol=tolerance, atol=tolerance, err_msg=argument.name
            )
            compared += 1
    assert compared


def two_cases(laid: Laid, seed: int, make: Callable[..., StepCase] = make_case) -> Any:
    """Return the same vectors on the unpacked and on the packed matrix."""
    return make(laid.plain, seed), make(laid, seed)


def on_gpu(slices: Slices, gpu: Device) -> tuple[Any, ...]:
    return tuple(
        gpu.to_device(value) if isinstance(value, np.ndarray) else value
        for value in slices.arguments
    )


def solve(problem: Problem, mode: str = "flow", device: str = "cuda", **options: Any) -> Any:
    return pdlp.solve(
        problem,
        EngineOptions(device=device, **options),
        Progress(60.0),
        settings=MODES[mode],
    )
