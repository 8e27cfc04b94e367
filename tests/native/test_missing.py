"""An installation without its compiled part, or on a processor that cannot run it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from solvers import native

PROGRAM = """
import sys
{lack}
import numpy as np
import gpu_bridge as gb
rng = np.random.default_rng(1)
A = rng.integers(1, 50, (30, 400)).astype(float)
whole = gb.Problem.from_arrays(-A.sum(axis=0), A, row_upper=A.sum(axis=1) // 3, upper=1.0,
                               integrality=True)
answer = gb.solve(whole, rel_gap=0.1)
assert answer.engine == "highs", answer.engine
assert answer.solution_status is gb.SolutionStatus.OPTIMAL
assert "method='highs' works" in answer.log
small = gb.Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], [3.0])
assert gb.solve(small).objective == 3.0
assert gb.solve_many([small] * 10).objectives.tolist() == [3.0] * 10
for method in ("pdlp", "mip"):
    try:
        gb.solve(whole.relaxation() if method == "pdlp" else whole, method=method)
    except gb.EngineError as error:
        assert {reason!r} in str(error), error
    else:
        raise AssertionError(method)
"""


def run(lack: str, reason: str) -> None:
    program = PROGRAM.format(lack=lack, reason=reason)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_highs_solves_without_the_extension_module():
    run("sys.modules['solvers.native._core'] = None", "this installation has none for Python 3.")


def test_highs_solves_on_a_processor_that_is_too_old():
    run(
        "import platform; platform.machine = lambda: 'x86_64'\n"
        "import builtins, io\n"
        "real = builtins.open\n"
        "old = lambda path, *more, **named: io.StringIO('flags : fpu sse2\\n') "
        "if path == '/proc/cpuinfo' else real(path, *more, **named)\n"
        "builtins.open = old",
        "the processor has no cx16, ",
    )


def test_every_submodule_can_be_imported():
    for name, found in vars(native._core).items():
        if isinstance(found, type(native)):
            assert sys.modules[f"solvers.native.{name}"] is found


@pytest.mark.parametrize("name", ["nothing", "_core.nothing"])
def test_what_is_not_there_is_an_import_error(name):
    with pytest.raises(ImportError):
        __import__(f"solvers.native.{name}")
