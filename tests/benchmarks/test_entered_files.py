"""Which files a solve enters: those of the engine that ran, and none of another."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MODEL = Path(__file__).parents[1] / "data" / "afiro.mps.gz"


def test_a_solve_enters_its_engine_and_no_other() -> None:
    command = [sys.executable, "-m", "benchmarks.entered_files", str(MODEL), "--method", "highs"]
    done = subprocess.run([*command, "--all"], capture_output=True, text=True, check=True)
    files = [line.split()[0] for line in done.stdout.splitlines() if ".py :" in line]
    assert "gpu_bridge/api.py" in files
    assert any(file.startswith("solvers/highs/") for file in files)
    assert not any(file.startswith("solvers/pdlp/") for file in files)
    assert done.stdout.splitlines()[-1].startswith(f"{len(files)} files")
