"""Choices of the primal's leaving position and of the dual's, where rounding is in the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.simplex.dense_gpu import control as word
from solvers.simplex.dense_gpu.kernels.primal import CHOOSE_LEAVING, PRIMAL
from solvers.simplex.dense_gpu.kernels.row import CHOOSE_ROW, ROW
from tests.emulator import emulated, needs_compiler

ROWS = 5


def far_from_bounds(seed: int) -> dict[str, Any]:
    """Return values beside which the tolerance of the ratio test is lost."""
    random = np.random.default_rng(seed)
    control = np.zeros(word.CONTROL_WORDS, dtype=np.int32)
    control[word.DIRECTION] = 1
    scalars = np.zeros(word.SCALAR_WORDS)
    scalars[word.SMALL_PIVOT], scalars[word.HARRIS] = 1e-9, 1e-7
    return {
        "rows": ROWS, "basic": np.arange(ROWS, dtype=np.int32) + 1,
        "lower": np.zeros(1), "upper": np.full(1, np.inf), "reduced_cost": np.full(1, -1.0),
        "alpha": random.uniform(0.1, 1.1, ROWS), "x_basic": random.uniform(0.0, 1e12, ROWS),
        "lower_basic": np.zeros(ROWS), "upper_basic": np.full(ROWS, np.inf),
        "control": control, "scalars": scalars,
    }  # fmt: skip


def check_nearest_leaves(choose_leaving: Any) -> None:
    for seed in range(100):
        values = far_from_bounds(seed)
        choose_leaving(*CHOOSE_LEAVING.arguments_of(**values))
        steps = values["x_basic"] / values["alpha"]
        assert values["control"][word.STATUS] == word.RUNNING
        assert values["control"][word.POSITION] == np.argmin(steps)
        assert values["scalars"][word.PRIMAL_STEP] == steps.min()


def test_nearest_position_leaves_where_the_tolerance_is_lost():
    check_nearest_leaves(PRIMAL["choose_leaving"])


@needs_compiler
def test_nearest_position_leaves_on_the_device_where_the_tolerance_is_lost():
    check_nearest_leaves(emulated(PRIMAL)["choose_leaving"])


def test_a_weight_that_is_no_number_hides_no_other_position():
    values = {
        "rows": 3, "x_basic": np.full(3, -1.0), "lower_basic": np.zeros(3),
        "upper_basic": np.ones(3), "weights": np.array([np.nan, 2.0, 4.0]),
        "scalars": np.zeros(word.SCALAR_WORDS), "partial_value": np.zeros(1),
        "partial_index": np.zeros(1, dtype=np.int32),
    }  # fmt: skip
    ROW["choose_row"](*CHOOSE_ROW.arguments_of(**values))
    assert values["partial_value"] == [0.5]
    assert values["partial_index"] == [1]
