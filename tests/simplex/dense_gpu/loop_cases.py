"""Dual iterations by blocks that stay, beside those by single kernels, from the same state."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.core.device import cpu
from solvers.core.problem import Problem
from solvers.simplex.dense_gpu import control as word
from solvers.simplex.dense_gpu.core import DenseGpuCore
from solvers.simplex.dense_gpu.kernels.dual_loop import DUAL_LOOP
from solvers.simplex.dense_gpu.loop import dual_iteration, dual_iterations, first_dual
from solvers.simplex.state import slack_form, slack_start

KERNEL = DUAL_LOOP.kernels["iterate_dual"]
"""The kernel under test."""

WORDS = (word.STATUS, word.PIVOTS, word.ITERATIONS, word.ALL_FLIPS, word.POSITION)
LEFT = (
    "x_basic", "lower_basic", "upper_basic", "weights", "x", "cost", "reduced_cost", "basic",
    "status", "reference", "pivot_log",
)  # fmt: skip
"""What an iteration leaves for the next one and the host."""


def started(problem: Problem, pivots: int) -> DenseGpuCore:
    """Return a core on the CPU after some dual pivots, of which half wait to be folded in."""
    form = slack_form(problem)
    core = DenseGpuCore(form, cpu())
    core.load(slack_start(form))
    core.dual(pivots // 2, lambda: False)
    core._basis.steer({word.LIMIT: 10**6})
    iterate(core, pivots - pivots // 2)
    return core


def iterate(core: DenseGpuCore, count: int) -> None:
    """Make iterations by the single kernels' twins."""
    a = core._basis.arrays
    first_dual(a, core._basis.nucleus).run()
    for _ in range(count):
        for step in dual_iteration(a, core._basis.nucleus):
            step.run()


def copied(core: DenseGpuCore, count: int, blocks: int) -> dict[str, Any]:
    """Return the loop's arguments by name, arrays as copies."""
    a = core._basis.arrays
    values = KERNEL.by_name(dual_iterations(a, core._basis.nucleus, count).arguments)
    copies = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in values.items()}
    copies["blocks"] = blocks
    copies["partial_value"], copies["partial_index"] = np.ones(300), np.zeros(300, dtype=np.int32)
    return copies


def check_equal(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Compare what two runs left, up to the order of sums."""
    words = list(WORDS)
    np.testing.assert_array_equal(found["control"][words], expected["control"][words])
    made = int(expected["control"][word.PIVOTS])
    for name in (*LEFT, "etas", "eta_rows", "alpha_rows"):
        one, other = found[name], expected[name]
        if name == "etas":
            one, other = one[:, :made], other[:, :made]
        elif name in ("eta_rows", "alpha_rows", "pivot_log"):
            one, other = one[:made], other[:made]
        if one.dtype == np.int32:
            np.testing.assert_array_equal(one, other, err_msg=name)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9, err_msg=name)
