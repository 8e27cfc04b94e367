"""Children that wait for the next task: taken, succeeded, and gone when nobody comes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.progress import Progress
from solvers.highs import child, engine, process_pool, solve
from tests.highs.models import covering
from tests.soon import soon

ECHO = "import os, sys; print(sys.stdin.readline(), end='')"


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin without children of other tests, keep ours for as long as it takes, leave none."""
    process_pool.dismiss()
    monkeypatch.setattr(process_pool._pool, "_kept", None)
    monkeypatch.setattr(process_pool, "IDLE", 600.0)
    monkeypatch.setattr(process_pool, "REST", 0.0)
    yield
    process_pool.dismiss()


def use(one: process_pool.Child) -> bytes:
    """Give a child its line and return its answer."""
    words, _ = one.popen.communicate(b"hello\n", timeout=60)
    return words


def test_a_child_taken_has_a_successor_that_works() -> None:
    first = process_pool.take(ECHO)
    assert use(first) == b"hello\n"
    process_pool.give_back(ECHO)
    assert soon(lambda: len(process_pool._pool.value.waiting) == 1)
    (waiting,) = process_pool._pool.value.waiting
    second = process_pool.take(ECHO)
    assert second is waiting
    assert use(second) == b"hello\n"


def test_as_many_wait_as_were_at_work_together_and_no_more_than_allowed() -> None:
    taken = [process_pool.take(ECHO) for _ in range(process_pool.KEPT + 2)]
    for one in taken:
        use(one)
        process_pool.give_back(ECHO)
    assert soon(lambda: len(process_pool._pool.value.waiting) == process_pool.KEPT)
    assert process_pool._pool.value.busy == 0


def test_a_child_has_the_environment_and_one_thread_for_dense_matrices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    monkeypatch.setenv("OF_THE_CALLER", "kept")
    told = "import os; print(*map(os.environ.get, ('OPENBLAS_NUM_THREADS', 'OF_THE_CALLER')))"
    one = process_pool.take(told)
    assert use(one) == b"1 kept\n"
    process_pool.give_back(told)


def test_a_child_for_another_program_is_not_taken() -> None:
    process_pool.expect(ECHO)
    other = process_pool.take("print('another')")
    assert use(other) == b"another\n"
    assert len(process_pool._pool.value.waiting) == 1


def test_a_dead_child_is_not_taken() -> None:
    process_pool.expect(ECHO)
    (dead,) = process_pool._pool.value.waiting
    dead.popen.kill()
    dead.popen.wait()
    assert use(process_pool.take(ECHO)) == b"hello\n"


def test_who_is_expected_and_does_not_come_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "IDLE", 0.05)
    process_pool.expect(ECHO)
    (one,) = process_pool._pool.value.waiting
    assert soon(lambda: not process_pool._pool.value.waiting and one.popen.returncode is not None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_copy_takes_none_of_the_originals_children() -> None:
    code = (
        "import os\n"
        "from solvers.highs import process_pool as spares\n"
        f"spares.expect({ECHO!r})\n"
        "copy = os.fork()\n"
        "if not copy:\n"
        "    os._exit(len(spares._pool.value.waiting))\n"
        "_, status = os.waitpid(copy, 0)\n"
        "print(os.waitstatus_to_exitcode(status), len(spares._pool.value.waiting))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", "1"], done.stderr


def test_solves_one_after_another_use_the_children_that_wait(in_child: None) -> None:
    assert solve(covering(20, 10), EngineOptions(), Progress()).objective > 0
    assert soon(lambda: len(process_pool._pool.value.waiting) == 1)
    (waiting,) = process_pool._pool.value.waiting
    outcome = solve(covering(20, 10), EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert waiting.popen.returncode == 0  # it has done its task


def test_crossover_is_expected_only_for_models_that_need_a_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = covering(20, 10)
    engine.expect_crossover(problem)
    assert not process_pool._pool.value.waiting
    monkeypatch.setattr(child, "SMALL_STUBBORN", -1)
    engine.expect_crossover(problem)
    assert [one.program[0] for one in process_pool._pool.value.waiting] == [child.BOOTSTRAP]
