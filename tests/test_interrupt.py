"""Ctrl-C at any time of a first solve: nothing that is being imported is broken off."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import pytest

from gpu_bridge.interrupt import interruptible, solving, uninterrupted_imports
from solvers.core.progress import Progress
from tests.locations import DATA
from tests.scripts import Scripts, scripts

PRESSED_IN_EVERY_IMPORT = """
import os, signal, sys, threading
import gpu_bridge

signal.signal(signal.SIGINT, signal.default_int_handler)
{0}

class Presses:
    def find_spec(self, name, path=None, target=None):
        if name not in pressed and threading.current_thread() is threading.main_thread():
            pressed.add(name)
            os.kill(os.getpid(), signal.SIGINT)

pressed = set()
sys.meta_path.insert(0, Presses())
calm = False
while not calm:
    before = len(pressed)
    answer = None
    try:
        answer = {1}
    except KeyboardInterrupt:
        pass
    calm = len(pressed) == before
assert {2}, answer
print(len(pressed))
"""
"""Each call goes on where the last was interrupted, and at the end all has been imported."""

PYOMO = """
import pyomo.environ as pyo
from pyomo.contrib.solver.common.factory import SolverFactory
model = pyo.ConcreteModel()
model.x = pyo.Var(bounds=(1, 4))
model.o = pyo.Objective(expr=2 * model.x)
model.c = pyo.Constraint(expr=model.x >= 1.5)
calm_options = dict(load_solutions=False, raise_exception_on_nonoptimal_result=False)
"""
PULP = """
import pulp
model = pulp.LpProblem()
x = model.add_variable("x", 1, 4)
model += 2 * x
model += x >= 1.5
"""
FILE = f"model = {str(DATA / 'afiro.mps.gz')!r}"


DOORS = {
    "solve": (FILE, "gpu_bridge.solve(model)", "abs(answer.objective + 464.753) < 1e-3"),
    "an engine": (
        FILE,
        "gpu_bridge.solve(model, method='pdlp', device='cpu')",
        "abs(answer.objective + 464.753) < 1e-3",
    ),
    "solve_many": (
        FILE,
        "gpu_bridge.solve_many([model, model], method='highs')",
        "abs(answer[1].objective + 464.753) < 1e-3",
    ),
    "read": (FILE, "gpu_bridge.read(model)", "answer.num_rows == 27"),
    "pyomo": (
        PYOMO,
        "SolverFactory('gpuheur').solve(model, **calm_options)",
        "answer.incumbent_objective == 3.0",
    ),
    "pyomo, old": (
        PYOMO,
        "pyo.SolverFactory('gpuheur').solve(model)",
        "pyo.value(model.o) == 3.0",
    ),
    "pulp": (
        PULP,
        "model.solve(gpu_bridge.GPUHEUR(msg=False))",
        "pulp.value(model.objective) == 3.0",
    ),
}
"""What makes a model, solves it, and is true of the answer."""


@pytest.fixture(scope="module")
def copies() -> Iterator[Scripts]:
    with scripts() as made:
        yield made


@pytest.mark.parametrize("door", DOORS)
def test_ctrl_c_in_every_import_leaves_a_process_that_solves(
    door: str, copies: Scripts, tmp_path: Path
) -> None:
    """Of our own modules, in a process that has loaded the libraries."""
    script = tmp_path / "script.py"
    script.write_text(PRESSED_IN_EVERY_IMPORT.format(*DOORS[door]), encoding="utf-8")
    assert int(copies.run(script, [], tmp_path).split()[-1]) >= 5  # imports that were hit


def test_ctrl_c_in_every_import_of_a_library_leaves_a_process_that_solves() -> None:
    script = PRESSED_IN_EVERY_IMPORT.format(*DOORS["an engine"])
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) > 100


def pressing(monkeypatch: pytest.MonkeyPatch, folder: Path, times: int) -> str:
    """Write a module in whose import Ctrl-C is pressed, and return its name."""
    name = f"pressed_{folder.name}"
    lines = ["import signal", *["signal.raise_signal(signal.SIGINT)"] * times, "made = True"]
    (folder / f"{name}.py").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    return name


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[int], str]:
    return lambda times: pressing(monkeypatch, tmp_path, times)


def test_an_import_ends_before_ctrl_c_raises(module: Callable[[int], str]) -> None:
    name = module(2)
    with pytest.raises(KeyboardInterrupt), uninterrupted_imports():
        import_module(name)
    assert sys.modules[name].made


def press_and_go_on(reached: list[str], times: int = 1) -> None:
    for _ in range(times):
        signal.raise_signal(signal.SIGINT)
        reached.append("went on")


def test_ctrl_c_raises_at_once_outside_of_imports() -> None:
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt), uninterrupted_imports():
        press_and_go_on(reached)
    assert reached == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_handler_of_somebody_else_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with uninterrupted_imports():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]


def test_a_solve_hears_what_came_before_it_began(module: Callable[[int], str]) -> None:
    progress, later = Progress(), Progress()
    with solving():
        import_module(module(1))
        with interruptible(progress):
            assert progress.interrupted
        with interruptible(later):
            assert later.interrupted
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_solve_hears_what_had_to_wait_for_an_import(module: Callable[[int], str]) -> None:
    progress, heard = Progress(), list[bool]()

    def import_and_solve() -> None:
        import_module(module(1))
        with interruptible(progress):
            heard.append(progress.interrupted)

    with pytest.raises(KeyboardInterrupt), uninterrupted_imports():
        import_and_solve()
    assert heard == [True]


@pytest.mark.parametrize(
    ("reaction", "ends", "late", "raises"),
    [
        (60.0, [False], False, True),
        (60.0, [False], True, True),
        (60.0, [True], False, False),
        (60.0, [True, False], False, False),
        (60.0, [], False, False),
        (0.0, [False], False, False),
    ],
)
def test_ctrl_c_that_no_solve_ended_by_is_raised_at_the_end_of_a_call(
    monkeypatch: pytest.MonkeyPatch, reaction: float, ends: list[bool], late: bool, raises: bool
) -> None:
    monkeypatch.setattr("gpu_bridge.interrupt.REACTION", reaction)
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt) if raises else nullcontext(), solving():
        with interruptible(Progress()) as ended:
            press_and_go_on(reached, times=0 if late else 1)
            for end in ends:
                ended(end)
        reached.append("the answer stands in the model")
        if late:
            press_and_go_on(reached)
    assert sorted(reached) == ["the answer stands in the model", "went on"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("ignored", [False, True])
def test_ctrl_c_that_no_solve_ended_by_goes_to_the_handler_of_the_caller(
    monkeypatch: pytest.MonkeyPatch, ignored: bool
) -> None:
    monkeypatch.setattr("gpu_bridge.interrupt.REACTION", 60.0)
    heard: list[int] = []
    own = signal.SIG_IGN if ignored else lambda number, frame: heard.append(number)
    before = signal.signal(signal.SIGINT, own)
    try:
        with solving(), interruptible(Progress()) as ended:
            signal.raise_signal(signal.SIGINT)
            ended(False)
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == ([] if ignored else [signal.SIGINT])


def test_the_second_ctrl_c_raises_at_once_outside_of_imports() -> None:
    progress, reached = Progress(), list[str]()
    with pytest.raises(KeyboardInterrupt), interruptible(progress):
        press_and_go_on(reached, times=2)
    assert progress.interrupted
    assert reached == ["went on"]


def test_the_second_ctrl_c_waits_for_an_import(module: Callable[[int], str]) -> None:
    name = module(3)
    with pytest.raises(KeyboardInterrupt), interruptible(Progress()):
        import_module(name)
    assert sys.modules[name].made


def test_a_solve_within_an_import_is_interrupted_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A script that is imported by another solves while it is."""
    lines = [
        "import signal",
        "from gpu_bridge.interrupt import solving",
        "with solving():",
        "    signal.raise_signal(signal.SIGINT)",
        "    signal.raise_signal(signal.SIGINT)",
        "    reached = 'too far'",
    ]
    (tmp_path / "solves_in_import.py").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(KeyboardInterrupt) as raised:
        import_module("solves_in_import")
    assert raised.traceback[-1].name == "__call__"  # of the handler, not of the end of the solve


def test_other_threads_are_left_alone() -> None:
    handlers: list[object] = []

    def look() -> None:
        with solving(), interruptible(Progress()), uninterrupted_imports():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join(60.0)
    assert handlers == [signal.default_int_handler]
