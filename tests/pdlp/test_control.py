"""Names and numbers that Python, C++ and CUDA have in common are the same everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import solvers.pdlp
from solvers.core.device import cpu
from solvers.core.options import EngineOptions
from solvers.core.problem import side_sizes
from solvers.core.progress import Progress
from solvers.kernels import device
from solvers.pdlp import scaling
from solvers.pdlp.control import SIZE, Control, Stop
from solvers.pdlp.kernels import matrix, measure, staying, step
from solvers.pdlp.settings import DEFAULT
from solvers.sparse import shape
from tests.pdlp.lps import random_lp

KERNELS = Path(solvers.pdlp.__file__).parent / "kernels"
DEVICE = Path(device.__file__).parent


def enumerators(path: Path, name: str) -> dict[str, int]:
    """Return the names of a C++ enumeration with their values."""
    text = re.sub(r"//[^\n]*", "", path.read_text())
    body = re.search(rf"enum {name} \{{(.*?)\}};", text, re.S)
    assert body is not None
    found: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in body[1].split(","))):
        word, _, value = part.partition("=")
        found[word.strip()] = int(value) if value else len(found)
    return found


def macro(name: str) -> int:
    """Return what device code defines a name to be, in one place or everywhere the same."""
    found = set()
    for path in (*KERNELS.glob("*.cu*"), *DEVICE.glob("*.cuh")):
        found |= set(re.findall(rf"^#define {name} (\d+)$", path.read_text(), re.M))
    assert len(found) == 1, f"{name}: {found}"
    return int(found.pop())


def test_the_header_lists_the_places_of_the_control_array():
    declared = {place.name: place.value for place in Control}
    assert enumerators(KERNELS / "control.cuh", "Control") == declared
    assert list(declared.values()) == list(range(SIZE))


def test_the_header_lists_the_reasons_to_stop():
    found = enumerators(KERNELS / "control.cuh", "Stop")
    assert found == {"GO_ON": Stop.NO, "STOP_OPTIMAL": Stop.OPTIMAL, "STOP_BROKEN": Stop.BROKEN}


def test_device_code_has_the_constants_of_the_declarations():
    assert macro("KEEP_FIRST") == step.KEEP_FIRST
    assert macro("KEEP_LAST") == step.KEEP_LAST
    assert macro("TEAM") == matrix.TEAM
    assert macro("TEAM_WARPS") == shape.UNIT == matrix.TEAM // 32
    assert macro("SUMS") == measure.SUMS
    assert macro("TEAMS") == staying.BLOCK // matrix.TEAM
    modes = enumerators(KERNELS / "matrix.cu", "Mode")
    assert modes == {"LARGEST": matrix.LARGEST, "TOTAL": matrix.TOTAL}
    kinds = ("SHORT_ROWS", "ROWS_OF_UNIT", "ROWS_OF_UNITS")
    expected = {name: getattr(shape, name) for name in kinds}
    assert enumerators(DEVICE / "slices.cuh", "SliceKind") == expected


def test_a_prepared_solve_has_every_figure_in_its_place():
    problem = random_lp(1, 20, 30)
    options = EngineOptions(tolerance=1e-5)
    state = solvers.pdlp.prepare(problem, options, cpu(), Progress())
    control = state.read_control()
    step_of, weight = control[Control.STEP], control[Control.WEIGHT]
    assert step_of == pytest.approx(DEFAULT.step.fraction / state.norm)
    assert 0.0 < state.norm <= scaling.NORM_AFTER_SCALING
    assert control[Control.TAU] == pytest.approx(step_of / weight)
    assert control[Control.SIGMA] == pytest.approx(step_of * weight)
    assert control[Control.BEST_WEIGHT] == weight
    assert control[Control.OFFSET] == 3.5
    assert control[Control.COST_NORM] == pytest.approx(np.linalg.norm(problem.cost))
    for name in ("PRIMAL_TOLERANCE", "DUAL_TOLERANCE", "GAP_TOLERANCE"):
        assert control[Control[name]] == 1e-5
    for name in ("SUFFICIENT", "NECESSARY", "ARTIFICIAL", "STANDSTILL", "STEP_SHRINK"):
        assert control[Control[name]] > 0.0
    zeros = ("STOP", "ITERATIONS", "RESTARTS", "CHECKS", "ITERATIONS_SINCE_RESTART")
    assert all(control[Control[name]] == 0.0 for name in zeros)


def test_the_first_weight_balances_the_norms_of_the_scaled_problem():
    problem = random_lp(2, 20, 30)
    state = solvers.pdlp.prepare(problem, EngineOptions(), cpu(), Progress())
    there = state.problem
    sides = side_sizes(problem.row_lower, problem.row_upper) * there.row_scale()
    cost = problem.cost * there.column_scale()
    expected = (1.0 + np.linalg.norm(cost)) / (1.0 + np.linalg.norm(sides))
    assert state.read_control()[Control.WEIGHT] == pytest.approx(expected)


def test_writing_to_the_control_array_changes_nothing_else():
    state = solvers.pdlp.prepare(random_lp(3, 5, 6), EngineOptions(), cpu(), Progress())
    before = state.read_control()
    state.write_control(stop=Stop.BROKEN, step=0.125)
    after = state.read_control()
    assert (after[Control.STOP], after[Control.STEP]) == (Stop.BROKEN, 0.125)
    changed = [place for place in Control if after[place] != before[place]]
    assert changed == [Control.STOP, Control.STEP]
