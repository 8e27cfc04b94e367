"""A process that has solved is copied: the copy solves by itself, and so does the original."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys
import numpy as np
import gpu_bridge as gb

def solve():
    rng = np.random.default_rng(1)
    if {method!r} == "pdlp":
        A = rng.integers(1, 50, (30, 60)).astype(float)
        problem = gb.Problem.from_arrays(-A.sum(axis=0), A, row_upper=A.sum(axis=1) / 3, upper=1.0)
    else:
        A = rng.integers(1, 50, (1, 60)).astype(float)
        problem = gb.Problem.from_arrays(
            rng.integers(1, 50, 60).astype(float), A, row_upper=A.sum(axis=1) // 3, upper=1.0,
            integrality=True, maximize=True,
        )
    outcome = gb.solve(problem, method={method!r}, rel_gap=0.0, threads=2)
    assert outcome.solution_status is gb.SolutionStatus.OPTIMAL, outcome
    return outcome.objective

before = solve()
copy = os.fork()
if not copy:
    signal.alarm(120)  # a copy that hangs does not outlive the test
    try:
        assert abs(solve() - before) <= 1e-4 * abs(before)
    except BaseException as failure:
        print(failure, file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)
_, status = os.waitpid(copy, 0)
assert status == 0, status
assert abs(solve() - before) <= 1e-4 * abs(before)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("method", ["pdlp", "mip", "knapsack"])
def test_a_copy_of_a_process_that_has_solved_solves(method: str) -> None:
    program = PROGRAM.format(method=method)
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
