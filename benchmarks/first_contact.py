"""Seconds that a newcomer waits: each case in fresh processes, the peers between them.

    python -m benchmarks.first_contact [--repeat 5] [--python PATH] [--lp FILE] [--gpu]

``process`` is the wall time of a whole process that imports, builds and solves once, ``first`` that
of its first solve, and ``repeated`` the median of the solves that follow in it. Medians over the
processes are shown. ``--python`` names the interpreter of another environment, such as one made
of a wheel; ``--gpu`` adds a linear program of two million coefficients on the GPU.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.record import Column, print_table, write_record

LP = Path(__file__).parent.parent / "tests" / "data" / "adlittle.mps.gz"

TINY = """
import pulp
def make():
    m = pulp.LpProblem("tiny", pulp.LpMaximize)
    x = [m.add_variable(f"x{j}", 0, 7, "Integer") for j in range(6)]
    m += 5 * x[0] + 4 * x[1] + 3 * x[2] + 7 * x[3] + 2 * x[4] + x[5]
    m += 2 * x[0] + 3 * x[1] + x[2] + 4 * x[3] - x[4] + 3 * x[5] <= 16
    m += 3 * x[0] + x[1] + 2 * x[2] + 3 * x[3] + x[4] <= 19
    m += x[0] - 2 * x[1] + 2 * x[2] + x[3] + x[5] <= 9
    return m
"""

WAREHOUSES = """
import random
import pyomo.environ as pyo
K = 10
m = pyo.ConcreteModel()
I, J = range(K), range(K)
m.d = pyo.Param(J, mutable=True, initialize=5.0)
m.x = pyo.Var(I, J, domain=pyo.NonNegativeReals)
m.u = pyo.Var(I, domain=pyo.UnitInterval)
m.s = pyo.Constraint(I, rule=lambda m, i: sum(m.x[i, j] for j in J) <= 15 * m.u[i])
m.dem = pyo.Constraint(J, rule=lambda m, j: sum(m.x[i, j] for i in I) >= m.d[j])
m.o = pyo.Objective(
    expr=sum(((7 * i + 3 * j) % 11 + 1) * m.x[i, j] for i in I for j in J)
    + sum((10 + i) * m.u[i] for i in I)
)
draw = random.Random(1)
def make():
    for j in m.d:
        m.d[j] = draw.uniform(1, 9)
    return m
"""

LARGE = """
import numpy as np
import scipy.sparse as sp
import gpu_bridge
draw = np.random.default_rng(0)
n = 200_000
A = sp.random_array((100_000, n), density=1e-4, rng=draw, format="csr")
x = draw.uniform(0.0, 1.0, n)
problem = gpu_bridge.Problem.from_arrays(
    draw.uniform(1.0, 2.0, n), A, row_lower=A @ x, upper=2.0
)
def make():
    return problem
"""

LOOP = """
import json, time
began, taken = time.perf_counter(), []
for _ in range({solves}):
    model = make()
    start = time.perf_counter()
    solve(model)
    taken.append(time.perf_counter() - start)
print(json.dumps(taken))
"""

BRIDGE = "import gpu_bridge\n"
PULP = "solve = lambda model: model.solve({solver})\n"
PYOMO = "solver = pyo.SolverFactory('{solver}')\nsolve = solver.solve\n"
FILE = (
    "import gpu_bridge\nmake = lambda: {path!r}\n"
    "solve = lambda path: gpu_bridge.solve(path, method='{method}')\n"
)


def cases(lp: Path, gpu: bool) -> dict[str, tuple[str, int]]:
    """Return the program of each case, and how often it solves."""
    found = {
        "tiny MIP, PuLP: HiGHS": (TINY + PULP.format(solver="pulp.HiGHS(msg=False)"), 40),
        "tiny MIP, PuLP: GPUHEUR": (
            TINY + BRIDGE + PULP.format(solver="gpu_bridge.GPUHEUR(msg=False)"),
            40,
        ),
        "LP of 110 columns, Pyomo: highs": (WAREHOUSES + PYOMO.format(solver="highs"), 200),
        "LP of 110 columns, Pyomo: appsi_highs": (
            WAREHOUSES + PYOMO.format(solver="appsi_highs"),
            200,
        ),
        "LP of 110 columns, Pyomo: gpuheur": (
            WAREHOUSES + BRIDGE + PYOMO.format(solver="gpuheur"),
            200,
        ),
    }
    for method in ("pdlp", "simplex", "auto"):
        found[f"{lp.name} by {method}"] = (FILE.format(path=str(lp), method=method), 3)
    if gpu:
        large = (
            "solve = lambda p: gpu_bridge.solve(p, method='pdlp', device='cuda', tolerance=1e-4)\n"
        )
        found["LP of 2 million coefficients on the GPU"] = (LARGE + large, 3)
    return found


def run(python: str, program: str, solves: int) -> dict[str, float]:
    """Run a program once and return its times."""
    began = time.perf_counter()
    done = subprocess.run(
        [python, "-c", program + LOOP.format(solves=solves)],
        capture_output=True,
        text=True,
        cwd=tempfile.gettempdir(),  # where no source tree is in the way of what is installed
    )
    process = time.perf_counter() - began
    if done.returncode:  # often a peer that this environment lacks
        raise SystemExit(f"A case failed in {python}:\n{done.stderr}")
    taken = json.loads(done.stdout.splitlines()[-1])
    return {
        "process": process - sum(taken[1:]),
        "first": taken[0],
        "repeated": statistics.median(taken[1:]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--lp", type=Path, default=LP)
    parser.add_argument("--gpu", action="store_true")
    given = parser.parse_args()
    programs = cases(given.lp.resolve(), given.gpu)
    times: dict[str, list[dict[str, float]]] = {name: [] for name in programs}
    for _ in range(given.repeat):  # in turns, so that what disturbs the machine disturbs all
        for name, (program, solves) in programs.items():
            times[name].append(run(given.python, program, solves))
    rows: list[list[Any]] = []
    for name, found in times.items():
        rows.append([name, *(statistics.median(one[key] for one in found) for key in found[0])])
    columns = [Column("case"), Column("process"), Column("first"), Column("repeated")]
    print_table("Seconds in fresh processes", columns, rows)
    write_record("first-contact", {"repeat": given.repeat, "times": times})


if __name__ == "__main__":
    main()
