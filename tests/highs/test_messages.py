"""What passes between a process and its child: messages through pipes, and the page they share."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

from solvers.core.outcome import SolutionStatus, StopReason
from solvers.highs import messages
from solvers.highs.messages import (
    INCUMBENT,
    OFFER,
    Failure,
    SharedPage,
    TruncatedError,
    receive,
    send,
)
from solvers.highs.task import Reply
from tests.highs.models import market_split, task_of


def through_a_pipe(thing):
    """Return what comes out of a pipe when ``thing`` is sent by another thread, as it may block."""
    ends = os.pipe()
    read, write = os.fdopen(ends[0], "rb", 0), os.fdopen(ends[1], "wb", 0)
    with read:

        def write_all():
            with write:
                send(thing, write)

        sender = threading.Thread(target=write_all)
        sender.start()
        back = receive(read)
        sender.join()
        assert read.read() == b""
    return back


def test_tasks_and_replies_survive_the_pipe():
    task = task_of(market_split())
    back = through_a_pipe(task)
    assert back.settings == task.settings
    np.testing.assert_array_equal(back.x, task.x)
    np.testing.assert_array_equal(back.model.value, task.model.value)
    assert back.model.value.dtype == np.float64
    assert back.model.start.flags.writeable
    assert back.model.offset == task.model.offset
    reply = Reply(
        SolutionStatus.FEASIBLE,
        StopReason.ITERATION_LIMIT,
        objective=np.nan,
        x=np.zeros(0),
        message="é",
    )
    again = through_a_pipe(reply)
    assert (again.solution_status, again.stop_reason, again.message) == (
        reply.solution_status,
        reply.stop_reason,
        "é",
    )
    assert np.isnan(again.objective)
    assert again.bound == -np.inf
    assert again.x.shape == (0,)
    assert again.row_dual is None
    failure = Failure("EngineError", "no thanks")
    assert through_a_pipe(failure) == failure


@pytest.mark.parametrize("part", [0.0, 0.001, 0.5, 0.999])
def test_a_part_of_a_message_is_no_message(tmp_path, part):
    path = tmp_path / "message"
    with path.open("wb", 0) as stream:
        send(task_of(market_split()), stream)
        stream.truncate(int(part * path.stat().st_size))
    with path.open("rb", 0) as stream, pytest.raises(TruncatedError):
        receive(stream)


def page_in(path: Path, columns: int) -> tuple[SharedPage, SharedPage]:
    """Return the page in a new file, as its maker and as another process has it."""
    with path.open("x+b") as file:
        return SharedPage.create(file.fileno(), columns), SharedPage(file.fileno())


def test_the_space_of_a_page_is_there_before_it_is_written_to(tmp_path):
    """A file with holes ends whoever writes to them on a full disk."""
    for place_of in (os, None):
        path = tmp_path / f"page {place_of is None}"
        with path.open("x+b") as file, pytest.MonkeyPatch.context() as patch:
            if place_of is None:
                patch.delattr(os, "posix_fallocate", raising=False)
            messages.reserve(file.fileno(), 3 * 2**20 + 8)
            assert path.stat().st_size == 3 * 2**20 + 8
            assert path.stat().st_blocks * 512 >= 3 * 2**20 + 8


def test_the_shared_page_gives_each_point_once_and_never_torn(tmp_path):
    writer, reader = page_in(tmp_path / "page", 3)
    assert reader.read_point(INCUMBENT) is None
    writer.write_point(INCUMBENT, 5.0, np.array([1.0, 2.0, 3.0]))
    objective, x = reader.read_point(INCUMBENT)
    assert objective == 5.0
    np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])
    assert reader.read_point(INCUMBENT) is None
    assert reader.read_point(OFFER) is None
    writer.write_point(INCUMBENT, 4.0, np.array([1.0, 1.0, 1.0]))
    writer._points[INCUMBENT][1] = 7.0  # half of the next point is there already
    assert reader.read_point(INCUMBENT) is None
    writer.write_point(INCUMBENT, 3.0, np.array([0.0, 7.0, 0.0]))
    assert reader.read_point(INCUMBENT)[0] == 3.0
    del x
    writer.close()
    reader.close()
