"""Limits on memory: one sentence of our own, whatever the door, and no library's last words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpu_bridge.pipeline import memory_limit
from tests.locations import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs the limits of Linux")

LP = "Minimize\n obj: x + 2 y\nSubject To\n c: x + y >= 2.5\nBounds\n x <= 2\nEnd\n"

LIBRARY = """
import gpu_bridge
try:
    print(gpu_bridge.solve("model.lp", device="cpu").solution_status.name)
except gpu_bridge.MemoryLimitError as error:
    print(error)
"""
PULP = """
import pulp
import gpu_bridge
model = pulp.LpProblem("model")
x = model.add_variable("x", 0)
model += x
model += x >= 1
try:
    model.solve(pulp.getSolver("GPUHEUR", msg=False))
    print(pulp.LpStatus[model.status].upper())
except gpu_bridge.MemoryLimitError as error:
    print(error)
"""
MANY_THREADS = """
import gpu_bridge
from tests.highs.models import covering
problem = covering(400, 200, 4, integer=True)
print(gpu_bridge.solve(problem, method="mip", device="cpu", time_limit=2.0).solution_status.name)
"""
COMMAND = """
import sys
from gpu_bridge.cli import main
sys.stderr = sys.stdout
main(["solve", "model.lp", "--device", "cpu"])
"""


def run(code: str, folder: Path, limit: str, megabytes: int) -> str:
    """Run code in a process that sets a limit on itself first; return what it printed."""
    (folder / "model.lp").write_text(LP)
    room = f"import resource\nresource.setrlimit(resource.{limit}, 2 * ({megabytes * 10**6},))\n"
    root = str(ROOT)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path.insert(0, {root!r})\n{room}{code}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize("limit", memory_limit._LIMITS, ids=lambda one: one.name)
@pytest.mark.parametrize("door", [LIBRARY, COMMAND], ids=["library", "command"])
def test_less_than_libraries_take_is_one_sentence(tmp_path, door, limit):
    said = run(door, tmp_path, limit.name, limit.megabytes // 2)
    assert f"This process may use {limit.megabytes // 2} MB of {limit.what}" in said
    assert limit.command in said
    assert len(said.splitlines()) == 1


def test_a_modelling_package_gets_the_sentence_too(tmp_path):
    assert "This process may use 500 MB of address space" in run(PULP, tmp_path, "RLIMIT_AS", 500)


@pytest.mark.parametrize("limit", memory_limit._LIMITS, ids=lambda one: one.name)
def test_as_much_as_is_asked_for_is_enough(tmp_path, limit):
    enough = limit.megabytes + memory_limit.PER_CORE * memory_limit._threads() + 1
    assert "OPTIMAL" in run(LIBRARY, tmp_path, limit.name, enough)


def test_as_much_as_is_asked_for_is_enough_for_many_threads(tmp_path):
    """Each thread would reserve address space of its own."""
    enough = memory_limit._LIMITS[0].megabytes + memory_limit.PER_CORE * memory_limit._threads() + 1
    said = run(MANY_THREADS, tmp_path, "RLIMIT_AS", enough)
    assert said.strip() in ("FEASIBLE", "NOTHING")  # and no library has said anything


def test_threads_are_those_that_were_asked_for(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    assert memory_limit._threads() == 1
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "many")
    assert memory_limit._threads() >= 1
