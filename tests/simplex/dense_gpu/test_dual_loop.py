"""Dual iterations by blocks that stay make the pivots of the single kernels."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.simplex.dense_gpu import arrays
from solvers.simplex.dense_gpu import control as word
from solvers.simplex.dense_gpu.kernels.dual_loop import DUAL_LOOP
from tests.cases import through
from tests.emulator import Emulated, needs_compiler
from tests.simplex.dense_gpu.cases import infeasible_problem, random_problem
from tests.simplex.dense_gpu.loop_cases import check_equal, copied, iterate, started
from tests.simplex.dense_gpu.test_side_by_side import short_columns, without_costs

SMALL = ("infeasible", "one row", "one column")
"""Problems that a few pivots solve."""

PROBLEMS = {
    "dense": lambda: random_problem(20, 40, 1),
    "boxed": lambda: random_problem(70, 90, 2, density=0.1, boxed=1.0),
    "short columns": lambda: short_columns(150, 220),
    "long columns": lambda: random_problem(70, 30, 8, density=0.9, boxed=0.6),
    "long columns without zeros": lambda: random_problem(40, 25, 9),
    "infeasible": lambda: infeasible_problem(6, 9, 3),
    "more break points than are held": lambda: without_costs(700),
    "one row": lambda: random_problem(1, 33, 6),
    "one column": lambda: random_problem(33, 1, 7),
}


@pytest.fixture(params=["steepest", "devex"])
def pricing(request, monkeypatch):
    steepest = request.param == "steepest"
    monkeypatch.setattr(arrays, "prices_by_steepest_edge", lambda *sizes: steepest)


@through("name", PROBLEMS)
def test_twin_makes_the_same_iterations(name, pricing):
    core = started(PROBLEMS[name](), 0 if name in SMALL else 6)
    alone = copied(core, 7, 1)
    DUAL_LOOP["iterate_dual"](*alone.values())
    iterate(core, 7)
    check_equal(alone, copied(core, 7, 1))


@pytest.fixture(scope="module")
def device_code():
    return Emulated(DUAL_LOOP)


@needs_compiler
@pytest.mark.parametrize(("name", "blocks"), [("dense", 1), *((name, 3) for name in PROBLEMS)])
def test_device_code_makes_the_pivots_of_the_twin(name, blocks, pricing, device_code):
    core = started(PROBLEMS[name](), 0 if name in SMALL else 6)
    twin, device = copied(core, 6, 1), copied(core, 6, blocks)
    DUAL_LOOP["iterate_dual"](*twin.values())
    device_code["iterate_dual"](*device.values())
    check_equal(device, twin)
    if name == "infeasible":
        assert device["control"][word.STATUS] == word.NO_PIVOT
    else:
        assert device["control"][word.PIVOTS] > core._basis.control[word.PIVOTS]


@needs_compiler
def test_device_code_does_without_room_in_shared_memory(pricing):
    device_code = Emulated(DUAL_LOOP, constants={"LIST_MOST": 3, "MASK_WORDS": 1})
    for name in ("short columns", "long columns"):
        core = started(PROBLEMS[name](), 6)
        twin, device = copied(core, 4, 1), copied(core, 4, 2)
        DUAL_LOOP["iterate_dual"](*twin.values())
        device_code["iterate_dual"](*device.values())
        check_equal(device, twin)


@needs_compiler
@pytest.mark.parametrize("end", ["limit", "fold", "stopped", "inaccurate"])
def test_device_code_says_why_it_ends(end, device_code):
    core = started(PROBLEMS["dense"](), 4)
    pair = [copied(core, 5, 1), copied(core, 5, 2)]
    for values in pair:
        control = values["control"]
        if end == "limit":
            control[word.LIMIT] = control[word.ITERATIONS] + 2
        elif end == "fold":
            values["most"] = control[word.PIVOTS] + 3
            values["etas"] = np.ascontiguousarray(values["etas"][:, : values["most"]])
        elif end == "stopped":
            control[word.STATUS] = word.DONE
        else:
            values["inverse"][:] *= 1.0 + 1e-3
            values["etas"][:] *= 0.5
    DUAL_LOOP["iterate_dual"](*pair[0].values())
    device_code["iterate_dual"](*pair[1].values())
    check_equal(pair[1], pair[0])
    expected = {
        "limit": word.OUT_OF_PIVOTS, "fold": word.FOLD, "stopped": word.DONE,
        "inaccurate": word.INACCURATE,
    }  # fmt: skip
    assert pair[1]["control"][word.STATUS] == expected[end]
