"""The ratio test alone, where its paths part: how many break points are near, and how near."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solvers.simplex.dense_gpu import control as word
from solvers.simplex.dense_gpu.kernels.ratio import CHOOSE_COLUMN, RATIO
from solvers.simplex.dense_gpu.kernels.row import segment_blocks, segments
from solvers.simplex.state import BASIC, LOWER, UPPER
from tests.cases import through
from tests.emulator import emulated, needs_compiler
from tests.simplex.dense_gpu.side_by_side import compare

ROWS, STRUCTURALS, MOST, MADE = 70, 1400, 6, 4
HARRIS = 1e-7


def priced(breaks: np.ndarray, span: float, excess: float, lanes: int) -> dict[str, Any]:
    """Return what the ratio test is given if structurals have these break points."""
    random = np.random.default_rng(1)
    m, n = ROWS, STRUCTURALS
    alpha_rows = random.uniform(-1.0, 1.0, (MOST, n + m))
    status = np.full(n + m, LOWER, dtype=np.int32)
    status[n:] = BASIC
    status[: n // 2] = UPPER
    size = random.uniform(0.5, 1.0, n)
    alpha_rows[MADE, :n] = np.where(status[:n] == UPPER, -size, size)
    reduced_cost = np.zeros(n + m)
    near = np.flatnonzero(np.isfinite(breaks))
    reduced_cost[near] = np.where(status[near] == UPPER, -1.0, 1.0) * breaks[near] * size[near]
    ratios = np.full(n + m, np.inf)
    ratios[near] = (np.abs(reduced_cost[near]) + HARRIS) / size[near]
    width = min(word.SEGMENT, word.BLOCK // lanes)
    least = np.full(segments(m, n, lanes), np.inf)
    counts = np.zeros(least.size, dtype=np.int32)
    for j in near:
        least[j // width] = min(least[j // width], ratios[j])
        counts[j // width] += 1
    control = np.zeros(word.CONTROL_WORDS, dtype=np.int32)
    control[word.PIVOTS], control[word.SLOTS], control[word.LEAVING] = MADE, 40, n + 3
    scalars = np.zeros(word.SCALAR_WORDS)
    scalars[word.EXCESS], scalars[word.HARRIS] = excess, HARRIS
    scalars[word.PRIMAL_TOLERANCE] = 1e-7
    few, held = ROWS // 4 + 1, word.MOST_FLIPS
    upper = np.full(n + m, span)
    return {
        "rows": m, "structurals": n, "most": MOST, "lanes": lanes, "full": 0, "steepest": 0,
        "starts": np.arange(n + 1, dtype=np.int32) * 2,
        "indices": np.array([(j % m, (j + 7) % m) for j in range(n)], dtype=np.int32).ravel(),
        "values": random.uniform(-1.0, 1.0, 2 * n),
        "slot_of_row": np.where(np.arange(m) < 40, np.arange(m), -1).astype(np.int32),
        "reference": np.ones(n + m, dtype=np.int32), "lower": np.zeros(n + m), "upper": upper,
        "alpha_rows": alpha_rows, "ratios": ratios, "least": least, "counts": counts,
        "squares": random.random(sum(segment_blocks(m, n, lanes))), "dots": np.zeros(MOST + 1),
        "status": status, "x": np.zeros(n + m), "reduced_cost": reduced_cost,
        "flips": np.zeros(held, dtype=np.int32), "flip_steps": np.zeros(held),
        "places": np.zeros(few, dtype=np.int32), "amounts": np.zeros(few),
        "column": np.zeros(m), "column_slots": np.zeros(40), "flip_column": np.zeros(m),
        "flip_slots": np.zeros(40), "column_dots": np.zeros(MOST), "flip_dots": np.zeros(MOST),
        "control": control, "scalars": scalars,
    }  # fmt: skip


def spread(low: float, high: float) -> np.ndarray:
    return np.random.default_rng(2).uniform(low, high, STRUCTURALS)


FAR = spread(5.2e-2, 9e-2)
FAR[:3] = 5e-3, 6e-3, 7e-3
FEW = np.full(STRUCTURALS, np.inf)
FEW[::40] = spread(0.0, 1.0)[::40]

CASES = {
    "all equal": (np.zeros(STRUCTURALS), 1.0, 10.0),
    "too many at once": (spread(1.0, 2.0), 1.0, 10.0),
    "too many when looking further": (FAR, 1.0, 90.0),
    "slope used up by a few": (spread(0.0, 1.0), 1.0, 3.0),
    "far apart": (10.0 ** spread(-6.0, 6.0), 1.0, 30.0),
    "more groups than are passed": (10.0 ** spread(-6.0, 6.0), 1e-3, 1.0),
    "no bounds above": (spread(0.0, 1.0), np.inf, 3.0),
    "slope left by all": (FEW, 1.0, 900.0),
    "none": (np.full(STRUCTURALS, np.inf), 1.0, 3.0),
}


@pytest.mark.parametrize("sign", [1.0, -1.0])
@through("name", CASES)
def test_step_keeps_what_is_not_flipped_feasible(name, sign):
    breaks, span, excess = CASES[name]
    values = priced(breaks, span, sign * excess, 8)
    RATIO["choose_column"](*CHOOSE_COLUMN.arguments_of(**values))
    control, scalars = values["control"], values["scalars"]
    if name in ("slope left by all", "none"):
        assert control[word.STATUS] == word.NO_PIVOT
        return
    assert control[word.STATUS] == word.RUNNING
    size, count = np.abs(values["alpha_rows"][MADE]), control[word.FLIPS]
    flips = values["flips"][:count]
    assert size[flips] @ np.abs(values["flip_steps"][:count]) <= excess
    step = abs(scalars[word.DUAL_STEP])
    if sign < 0.0:  # the entering column's cost was made to fit
        assert step == 0.0
        assert scalars[word.COST_SHIFT] == values["reduced_cost"][control[word.ENTERING]]
        return
    left = np.abs(values["reduced_cost"]) - step * size
    candidate = np.isfinite(values["ratios"])
    assert (left[flips] <= HARRIS).all()
    candidate[flips] = False
    assert left[candidate].min() >= -HARRIS * (1.0 + 1e-9)
    assert (count > 0) == (name in FLIPPING)


FLIPPING = (
    "too many when looking further", "slope used up by a few", "far apart",
    "more groups than are passed",
)  # fmt: skip


@needs_compiler
@through("lanes", [1, 8, 32])
@through("name", CASES)
def test_device_code_chooses_as_the_twin(name, lanes):
    twin = priced(*CASES[name], lanes)
    device = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in twin.items()}
    of_twin, of_device = (CHOOSE_COLUMN.arguments_of(**values) for values in (twin, device))
    RATIO["choose_column"](*of_twin)
    emulated(RATIO)["choose_column"](*of_device)
    compare(CHOOSE_COLUMN, list(of_twin), list(of_device))
