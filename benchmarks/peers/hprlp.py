"""HPR-LP-C on the GPU: its Python package ``hprlp``, or the program that HPRLP names.

The program prints an objective but no point, so that its answers cannot be verified, and reads
a file; its own account of presolve, set-up and loop stands for the wall time then.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from importlib import import_module, util
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.linear_programs import LinearProgram
from benchmarks.peers.solver import Answer, Solver, Task

VARIABLE = "HPRLP"
"""Environment variable with the path of the program ``solve_mps_file``."""

STATUSES = {
    "OPTIMAL": "optimal",
    "TIME_LIMIT": "time_limit",
    "ITER_LIMIT": "iteration_limit",
    "MAX_ITER": "iteration_limit",
}
FIGURE = re.compile(r"^\s*([A-Z][A-Za-z ]*): +([^\s]+)", re.MULTILINE)
PARTS = ("Presolve Time", "Setup Time", "Solve Time")
NO_LIMIT = 2**31 - 1


class HprLp(Solver):
    """With its defaults."""

    own_signs = True

    @property
    def label(self) -> str:
        """Name, and which of the two doors."""
        return "HPR-LP-C" if util.find_spec("hprlp") else "HPR-LP-C (program)"

    def missing(self) -> str | None:
        """Say whether package or program are there."""
        if util.find_spec("hprlp") or _program():
            return None
        return f"no package hprlp, and {VARIABLE} names no program solve_mps_file"

    def prepare(self, lp: LinearProgram, task: Task) -> Any:
        """Make its model, or write a file for the program."""
        if util.find_spec("hprlp"):
            arguments = (lp.matrix, lp.row_lower, lp.row_upper, lp.lower, lp.upper, lp.cost)
            return import_module("hprlp").Model.from_arrays(*arguments)
        path = Path(tempfile.mkdtemp(prefix="hprlp-")) / "model.mps"
        write(lp, path)
        return path

    def solve(self, model: Any, task: Task) -> Answer:
        """Solve by the package or by the program."""
        if isinstance(model, Path):
            return _run_program(model, task)
        parameters = import_module("hprlp").Parameters()
        parameters.stop_tol = task.tolerance
        parameters.time_limit = task.time_limit
        parameters.use_presolve = task.presolve
        if task.iteration_limit is not None:
            parameters.max_iter = task.iteration_limit
        result = model.solve(parameters)
        return Answer(
            status=STATUSES.get(str(result.status), "failed"),
            x=np.asarray(result.x),
            y=np.asarray(result.y),
            iterations=int(result.iter),
            loop_seconds=float(result.time),
        )


def read_output(text: str) -> Answer:
    """Return what the program printed: status, iterations, objective, seconds."""
    figures = dict(FIGURE.findall(text))
    times = {name: float(figures[name]) for name in (*PARTS, "Total Time") if name in figures}
    seconds = times.get("Total Time")
    if all(part in times for part in PARTS):
        seconds = max(seconds or 0.0, sum(times[part] for part in PARTS))
    return Answer(
        status=STATUSES.get(figures.get("Status", ""), "failed"),
        iterations=int(figures["Iterations"]) if "Iterations" in figures else None,
        loop_seconds=times.get("Solve Time"),
        seconds=seconds,
        objective=float(figures["Primal Objective"]) if "Primal Objective" in figures else None,
    )


def write(lp: LinearProgram, path: Path) -> None:
    """Write a program as an MPS file."""
    highspy, peer = import_module("highspy"), import_module("benchmarks.peers.highs")
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.passModel(peer.Simplex().prepare(lp, Task(1e-4, 1.0)))
    highs.writeModel(str(path))


def _run_program(path: Path, task: Task) -> Answer:
    command = [
        *(_program() or "", "-i", str(path), "--print-debug-info", "true"),
        *("--tol", str(task.tolerance), "--time-limit", str(task.time_limit)),
        *("--max-iter", str(task.iteration_limit or NO_LIMIT)),
        *([] if task.presolve else ["--presolver", "none"]),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    shutil.rmtree(path.parent, ignore_errors=True)
    return read_output(done.stdout)


def _program() -> str | None:
    return shutil.which(os.environ.get(VARIABLE, ""))
