"""The child process: crashes, and its end with the parent."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.pipeline import brief
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.progress import Progress
from solvers.core.threads import left_behind
from solvers.highs import child, in_process, process_pool, solve
from tests.highs.models import covering, task_of
from tests.locations import ROOT
from tests.soon import LONG, soon

BEGIN = "import sys, json, os, signal; sys.path[:] = json.loads(sys.argv[1]); "
RUN = "from solvers.highs import worker; worker.main()"
CRASH = "from solvers.highs import worker; worker.run = lambda task, channel: os.kill(os.getpid(), "


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_nothing_is_left_behind(in_child, folder):
    solve(covering(20, 10, integer=True), EngineOptions(), Progress())
    assert list(folder.iterdir()) == []


def test_a_crash_gets_a_second_chance(in_child, folder, monkeypatch):
    once = folder / "crashed"
    crash = f"os.path.exists({str(once)!r}) or (open({str(once)!r}, 'w'), os.kill(os.getpid(), 11))"
    trap = (
        "from solvers.highs import worker; run = worker.run; "
        f"worker.run = lambda task, channel: ({crash}) and run(task, channel); "
    )
    monkeypatch.setattr(child, "BOOTSTRAP", BEGIN + trap + RUN)
    outcome = solve(covering(20, 10), EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert once.exists()


@pytest.mark.parametrize("method", ["highs", "auto"])
def test_crashes_again_and_again_are_an_honest_status(in_child, folder, monkeypatch, method):
    monkeypatch.setattr(brief, "MOST", 0)
    monkeypatch.setattr(child, "BOOTSTRAP", BEGIN + CRASH + "11); " + RUN)
    outcome = gb.solve(covering(20, 10), method=method, device="cpu")
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.stop_reason is StopReason.NUMERICAL_TROUBLE
    assert "crashed (SIGSEGV) before it had an answer" in outcome.message + outcome.log
    assert list(folder.iterdir()) == []


STAGES = {
    "starting": "os.kill(os.getpid(), 9); ",
    "reading the task": (
        "from solvers.highs import worker; receive = worker.receive; "
        "worker.receive = lambda pipe: (receive(pipe), os.kill(os.getpid(), 9)); "
    ),
    "reading a part of it": (
        "from solvers.highs import messages as wire; read = wire._read; "
        "wire._read = lambda *_: (read(*_), os.kill(os.getpid(), 9)); "
    ),
    "solving": CRASH + "9); ",
    "replying": (
        "from solvers.highs import messages as wire; write = wire._write; "
        "wire._write = lambda *_: (write(*_), os.kill(os.getpid(), 9)); "
    ),
}


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("stage", STAGES)
def test_a_child_killed_each_time_at_a_stage_raises_nothing(in_child, monkeypatch, stage, integer):
    monkeypatch.setattr(child, "BOOTSTRAP", BEGIN + STAGES[stage] + RUN)
    problem = covering(20, 10, integer=integer)
    outcome = gb.solve(problem, method="highs")
    if stage.startswith(("starting", "reading")):  # nothing is known against it
        assert outcome.solution_status is SolutionStatus.OPTIMAL
    else:
        assert outcome.stop_reason in (StopReason.NUMERICAL_TROUBLE, StopReason.CONVERGED)
        assert "killed from outside" in outcome.log
    monkeypatch.undo()
    assert gb.solve(problem, method="highs").solution_status is SolutionStatus.OPTIMAL


def test_a_successor_killed_while_it_waits_is_not_used(in_child):
    for _ in range(3):
        for one in process_pool._pool.value.waiting:
            one.popen.kill()
        outcome = solve(covering(20, 10), EngineOptions(), Progress())
        assert outcome.solution_status is SolutionStatus.OPTIMAL
        assert soon(lambda: bool(process_pool._pool.value.waiting))


def test_a_crash_after_a_point_keeps_the_point(in_child, monkeypatch):
    crash = (
        "from solvers.highs import worker; tell = worker.ChildChannel.incumbent; "
        "worker.ChildChannel.incumbent = lambda self, objective, x: "
        "(tell(self, objective, x), os.kill(os.getpid(), signal.SIGKILL)); "
    )
    monkeypatch.setattr(child, "BOOTSTRAP", BEGIN + crash + RUN)
    problem = covering(20, 10, integer=True)
    outcome = solve(problem, EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.stop_reason is StopReason.NUMERICAL_TROUBLE
    assert "too little memory" in outcome.message
    assert np.all(problem.matrix @ outcome.x >= problem.row_lower - 1e-6)


def test_a_child_that_hangs_is_killed(in_child, monkeypatch):
    hang = (
        "from solvers.highs import worker; import time; worker.run = lambda *_: time.sleep(600); "
    )
    monkeypatch.setattr(child, "BOOTSTRAP", BEGIN + hang + RUN)
    progress = Progress(0.2)
    outcome = solve(covering(20, 10), EngineOptions(), progress)
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert progress.seconds < 100


def test_without_an_interpreter_the_work_is_done_here(in_child, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/does/not/exist")
    outcome = solve(covering(20, 10), EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL


def test_an_interpreter_without_our_packages_is_no_obstacle(in_child, monkeypatch):
    monkeypatch.setattr(child, "BOOTSTRAP", "import no_such_module_anywhere")
    outcome = solve(covering(20, 10), EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL


def test_refusals_come_through_as_they_are(in_child, monkeypatch):
    refuse = (
        "from solvers.highs import worker; from solvers.core.errors import EngineError\n"
        "def run(task, channel): raise EngineError('no thanks')\n"
        "worker.run = run; "
    )
    monkeypatch.setattr(child, "BOOTSTRAP", BEGIN + refuse + RUN)
    with pytest.raises(EngineError, match="no thanks"):
        solve(covering(20, 10), EngineOptions(), Progress())


PARENT = """
import numpy as np
from solvers.highs import child, solve
from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from tests.highs.models import market_split

child.SMALL_MIP = -1

class Telling(Progress):
    def on_event(self, event):
        if not np.isnan(event.incumbent):
            print("solving", flush=True)

solve(market_split(), EngineOptions(), Telling(100))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs the process table of Linux")
def test_no_orphan_survives_its_parent(tmp_path):
    environment = {
        **os.environ,
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path[1:]]),
    }
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env=environment
    )
    assert parent.stdout.readline() == b"solving\n"
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
    assert len(children) == 1
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert soon(lambda: not _alive(int(children[0])))


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_scripts_without_a_main_guard_run_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "print('top of the script')\n"
        "from solvers.highs import child, solve\n"
        "from solvers.core.options import EngineOptions\n"
        "from solvers.core.progress import Progress\n"
        "from tests.highs.models import covering\n"
        "child.SMALL_LP = -1\n"
        "print(solve(covering(20, 10), EngineOptions(), Progress()).solution_status.name)\n"
    )
    (tmp_path / "json.py").write_text("raise ImportError('a file of the user, not the library')\n")
    done = subprocess.run(
        [sys.executable, "-P", str(script)]
        if sys.version_info >= (3, 11)
        else [sys.executable, "-c", script.read_text()],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path[1:]])},
        cwd=tmp_path if sys.version_info >= (3, 11) else ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == ["top of the script", "OPTIMAL"]


def test_large_models_go_to_a_child_and_small_ones_do_not():
    small = covering(20, 10)
    large = covering(30_000, 20_000)
    for problem, expected in ((small, True), (large, False)):
        assert child.is_small(task_of(problem)) is expected


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="space cannot be reserved here")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG])
@pytest.mark.parametrize("integer", [False, True])
def test_without_room_to_share_the_work_is_done_here(in_child, monkeypatch, number, integer):
    def full(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_fallocate", full)
    outcome = gb.solve(covering(20, 10, integer=integer), method="highs")
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert f"{os.strerror(number)}); working in this one" in outcome.log


@pytest.mark.parametrize("missing", ["posix_fallocate", "memfd_create"])
def test_systems_without_a_call_use_others(in_child, folder, monkeypatch, missing):
    monkeypatch.delattr(os, missing, raising=False)
    outcome = gb.solve(covering(20, 10, integer=True), method="highs")
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert "working in this one" not in outcome.log
    assert list(folder.iterdir()) == []


def test_a_process_without_files_left_works_alone(in_child, monkeypatch):
    def none_left(*_):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    process_pool.dismiss()
    monkeypatch.setattr(os, "pipe", none_left)
    outcome = solve(covering(20, 10), EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL


def test_a_solve_here_that_does_not_stop_is_left_with_what_it_told(in_child, monkeypatch):
    gate = threading.Event()

    def deaf(task, channel):
        channel.incumbent(7.0, np.ones(10))
        channel.bound(3.0)
        gate.wait(LONG)

    monkeypatch.setattr(sys, "executable", "/does/not/exist")
    monkeypatch.setattr(in_process, "run", deaf)
    monkeypatch.setattr(child, "PATIENCE", 0.0)
    outcome = solve(covering(20, 10, integer=True), EngineOptions(), Progress(0.2))
    gate.set()
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert (outcome.objective, outcome.bound) == (7.0, 3.0)
    np.testing.assert_array_equal(outcome.x, np.ones(10))


def test_streams_that_are_closed_are_not_taken_for_ours():
    """Without standard streams, files get their numbers, which mean something else in a child."""
    code = (
        "import os; [os.close(number) for number in (0, 1, 2)]\n"
        "from solvers.highs import child, solve\n"
        "from solvers.core.options import EngineOptions\n"
        "from solvers.core.progress import Progress\n"
        "from tests.highs.models import covering\n"
        "child.SMALL_LP = child.SMALL_MIP = -1\n"
        "child.run_in_thread = None\n"
        "outcome = solve(covering(20, 10, integer=True), EngineOptions(), Progress())\n"
        "os._exit(0 if outcome.solution_status.name == 'OPTIMAL' else 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == 0


def test_a_child_does_not_wait_for_scipy():
    code = "import sys, solvers.highs.worker; print('scipy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"


class Abandoned(Progress):
    """A progress whose answer nobody waits for any more, from the first word of the child on."""

    def __init__(self):
        super().__init__()
        self.heard = False

    @property
    def abandoned(self):
        return self.heard

    def engine_output(self, line):
        self.heard = True


def test_a_child_that_nobody_waits_for_is_killed(in_child, folder, monkeypatch):
    hang = (
        "from solvers.highs import worker; import time; "
        "worker.run = lambda *_: (print('here', flush=True), time.sleep(600)); "
    )
    monkeypatch.setattr(child, "BOOTSTRAP", BEGIN + hang + RUN)
    monkeypatch.setattr(child, "GRACE_LOW", 600.0)  # an interruption alone would wait for it
    monkeypatch.setattr(child, "GRACE_HIGH", 600.0)
    outcome = solve(covering(20, 10), EngineOptions(), Abandoned())
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert list(folder.iterdir()) == []


def test_no_child_is_started_for_nobody(in_child, monkeypatch):
    monkeypatch.setattr(child, "BOOTSTRAP", "raise SystemExit('must not run')")
    progress = Abandoned()
    progress.heard = True
    outcome = solve(covering(20, 10), EngineOptions(), progress)
    assert outcome.solution_status is SolutionStatus.NOTHING


def test_a_thread_that_nobody_waits_for_is_left(in_thread, monkeypatch):
    gate = threading.Event()
    monkeypatch.setattr(in_process, "run", lambda task, channel: gate.wait(60))
    progress = Abandoned()
    progress.heard = True
    outcome = solve(covering(20, 10), EngineOptions(), progress)
    assert outcome.stop_reason is StopReason.INTERRUPTED
    (thread,) = [one for one in left_behind() if one.name == "highs"]
    gate.set()
    thread.join(60)
    assert thread not in left_behind()
