"""The loop over slices of a batch, on the CPU: their sizes, their order, and how it ends."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from solvers.core.device import Device, cpu
from solvers.core.progress import Progress
from solvers.simplex.batch.transfer.answer import NOT_REACHED, LpAnswers
from solvers.simplex.batch.transfer.fallback import solve_where_it_fits
from solvers.simplex.batch.transfer.inputs import Inputs, Parcel
from solvers.simplex.batch.transfer.results import SliceResults, answer_arrays
from solvers.simplex.batch.transfer.slices import Pace, make_lanes, solve_slices


def run(count, pace, progress=None, stop_after=None):
    """Solve LPs whose answer is their number; return the answer, and slices as they came."""
    progress = progress or Progress()
    answer = LpAnswers(**answer_arrays(cpu(), count, 2, 3))
    events = []

    def launch(results, lane):
        events.append(("launch", results.first, results.last))
        numbers = np.arange(results.first, results.last)
        results.there["x"][:] = np.repeat(numbers, 3)
        results.there["row_dual"][:] = -np.repeat(numbers, 2)
        results.there["ending"][:] = results.there["iterations"][:] = 1
        if results.last == stop_after:
            progress.interrupt()

    solve_slices(
        answer,
        launch,
        make_lanes(cpu(), pace.most, lambda: None),
        pace,
        cpu(),
        progress,
        make_results=lambda first, last: SliceResults(cpu(), answer, first, last),
        finish=lambda results: events.append(("finish", results.first, results.last)),
    )
    return answer, events


def test_every_slice_is_finished_while_the_next_ones_are_on_their_way(monkeypatch):
    monkeypatch.setattr("solvers.simplex.batch.transfer.slices.STREAMS", 2)
    answer, events = run(7, Pace(most=3, first=1, seconds=1.0))
    np.testing.assert_array_equal(answer.x[:, 2], np.arange(7))
    np.testing.assert_array_equal(answer.row_dual[:, 0], -np.arange(7))
    assert events == [
        ("launch", 0, 3),
        ("launch", 3, 6),
        ("finish", 0, 3),
        ("launch", 6, 7),
        ("finish", 3, 6),
        ("finish", 6, 7),
    ]


def test_with_a_time_limit_slices_begin_small_and_one_is_on_its_way():
    answer, events = run(50, Pace(most=20, first=2, seconds=1e6), Progress(1e9))
    launched = [last - first for what, first, last in events if what == "launch"]
    assert launched == [2, 8, 20, 20]
    assert (answer.ending == 1).all()


def test_who_had_no_turn_is_said_to_have_had_none():
    answer, _ = run(9, Pace(most=2, first=2, seconds=1.0), stop_after=4)
    np.testing.assert_array_equal(answer.ending, [1] * 4 + [NOT_REACHED] * 5)
    assert not answer.x[4:].any()
    assert not answer.iterations[4:].any()


def test_an_empty_batch_needs_no_launch():
    answer, events = run(0, Pace(most=2, first=2, seconds=1.0))
    assert events == []
    assert answer.x.shape == (0, 3)


@pytest.mark.parametrize(
    ("took", "left", "expected"), [(1.0, 1e9, 20), (1e-9, 1e9, 40), (10.0, 1e9, 2), (1.0, 1.0, 1)]
)
def test_sizes_follow_from_the_time_of_the_last_slice(took, left, expected):
    assert Pace(most=90, first=1, seconds=2.0).next_size(10, took, left) == expected


def test_own_arrays_come_by_slices_and_shared_ones_once():
    own, shared = np.arange(12.0).reshape(4, 3), np.array([[7.0, 8.0]])
    statuses = np.arange(8, dtype=np.int32).reshape(4, 2)
    inputs = Inputs(cpu(), {"cost": own, "lower": shared, "given": statuses})
    assert inputs.varying_of(["given", "lower", "cost"]) == 0b101
    assert inputs.most_in_slice(100) == 100 // (3 * 8 + 2 * 4)
    arrays = inputs.bring(1, 3, Parcel(cpu(), 4))
    cost, lower, given = (arrays[name] for name in ("cost", "lower", "given"))
    np.testing.assert_array_equal(cost, own[1:3].reshape(-1))
    np.testing.assert_array_equal(lower, [7.0, 8.0])
    np.testing.assert_array_equal(given, [2, 3, 4, 5])


class SmallGpu(Device):
    def activate(self):
        return nullcontext()

    def is_out_of_memory(self, error):
        return isinstance(error, MemoryError)

    def release_memory(self):
        pass


def test_the_cpu_goes_on_where_a_gpu_is_too_small(monkeypatch):
    small = SmallGpu("cuda", "a small GPU")
    monkeypatch.setattr("solvers.simplex.batch.transfer.fallback.find_device", lambda wanted: small)

    def solve_on(device, error=MemoryError):
        if device.kind == "cuda":
            raise error("no room")
        return device.kind

    assert solve_where_it_fits("auto", Progress(), solve_on) == "cpu"
    with pytest.raises(ValueError, match="no room"):
        solve_where_it_fits("auto", Progress(), lambda device: solve_on(device, ValueError))
