"""The loop over slices of a batch, on the CPU: their sizes, their order, and how it ends."""

from __future__ import annotations

from importlib import import_module
from unittest import mock

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.core.progress import Progress
from solvers.simplex.batch.data import NOT_REACHED
from solvers.simplex.batch.run import solve_where_it_fits
from solvers.simplex.batch.slices import Pace, make_lanes, solve_slices
from solvers.simplex.batch.transfer import Inputs, Parcel, SliceResults, empty_answer
from tests.emulator.gpu import EmulatedGpu


def run(count, pace, progress=None, stop_after=None):
    """Solve LPs whose answer is their number; return the answer, and slices as they came."""
    progress = progress or Progress()
    answer = empty_answer(cpu(), count, 2, 3)
    events = []
    put_down = SliceResults.put_down

    def arrive(results):
        put_down(results)
        events.append(("arrive", results.first, results.last))

    def launch(results, lane):
        events.append(("launch", results.first, results.last))
        numbers = np.arange(results.first, results.last)
        results.there["x"][:] = np.repeat(numbers, 3)
        results.there["row_dual"][:] = -np.repeat(numbers, 2)
        results.there["ending"][:] = results.there["iterations"][:] = 1
        if results.last == stop_after:
            progress.interrupt()

    lanes = make_lanes(cpu(), lambda: None)
    with mock.patch.object(SliceResults, "put_down", arrive):
        solve_slices(answer, launch, lanes, pace, cpu(), progress)
    return answer, events


def test_every_slice_arrives_while_the_next_ones_are_on_their_way(monkeypatch):
    monkeypatch.setattr("solvers.simplex.batch.slices.STREAMS", 2)
    answer, events = run(7, Pace(most=3, first=1, seconds=1.0))
    np.testing.assert_array_equal(answer.x[:, 2], np.arange(7))
    np.testing.assert_array_equal(answer.row_dual[:, 0], -np.arange(7))
    assert events == [
        ("launch", 0, 3),
        ("launch", 3, 6),
        ("arrive", 0, 3),
        ("launch", 6, 7),
        ("arrive", 3, 6),
        ("arrive", 6, 7),
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
    arrays = inputs.bring(1, 3, Parcel(cpu()))
    cost, lower, given = (arrays[name] for name in ("cost", "lower", "given"))
    np.testing.assert_array_equal(cost, own[1:3].reshape(-1))
    np.testing.assert_array_equal(lower, [7.0, 8.0])
    np.testing.assert_array_equal(given, [2, 3, 4, 5])


@pytest.mark.parametrize("together", [0, 2**23])
def test_a_slice_travels_at_once_or_array_by_array(together, monkeypatch):
    monkeypatch.setattr("solvers.simplex.batch.transfer.TOGETHER_BYTES", together)
    parcel = Parcel(EmulatedGpu("cuda", "the host"))
    for count in (3, 1, 5):
        rows = {
            "cost": np.random.default_rng(count).random((count, 7)),
            "values": np.empty((count, 0)),
            "given": np.arange(2 * count, dtype=np.int32).reshape(count, 2),
        }
        there = parcel.bring(rows)
        assert there.keys() == rows.keys()
        for name, array in rows.items():
            assert there[name].dtype == array.dtype
            np.testing.assert_array_equal(there[name], array.reshape(-1))
    assert parcel.bring({}) == {}


def test_the_cpu_goes_on_where_a_gpu_is_too_small(monkeypatch):
    small = EmulatedGpu("cuda", "a small GPU")
    monkeypatch.setattr(
        import_module("solvers.simplex.batch.run"), "find_device", lambda wanted: small
    )

    def solve_on(device, error=MemoryError):
        if device.kind == "cuda":
            raise error("no room")
        return device.kind

    assert solve_where_it_fits("auto", Progress(), solve_on) == "cpu"
    with pytest.raises(ValueError, match="no room"):
        solve_where_it_fits("auto", Progress(), lambda device: solve_on(device, ValueError))
