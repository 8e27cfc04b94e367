"""The model of an iteration on many GPUs, in cases that can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.scale import (
    Half,
    Link,
    Machine,
    Traffic,
    compare,
    fitted,
    from_points,
    half_seconds,
    halves,
    iteration_seconds,
    message_seconds,
)

MACHINE = Machine(
    rate=1e12, launch=0.0, overlap=1.0, inside=Link(0.0, 1e11), between=Link(1e-5, 1e10), gpus=8
)


def test_one_gpu_only_computes():
    assert half_seconds(Half(2e9, 0.0, 1.0), MACHINE, 1) == pytest.approx(2e-3)


@pytest.mark.parametrize(
    ("shared", "seconds"),
    [
        (1.0, 1e-3 + 0.8e-3),  # all is computed, then all travels
        (0.5, 0.5e-3 + 0.8e-3),  # it begins after half the work
        (0.1, 1e-3),  # it arrives before the rest is computed
    ],
)
def test_what_others_read_travels_while_the_rest_is_computed(shared, seconds):
    half = Half(2e9, 1e7, shared)  # 1 ms on each of two, and 0.8 ms on the way
    assert half_seconds(half, MACHINE, 2) == pytest.approx(seconds)


def test_without_overlap_all_goes_one_after_the_other():
    half = Half(2e9, 1e7, 1.0)
    found = half_seconds(half, replace(MACHINE, overlap=0.0), 2)
    assert found == pytest.approx(1e-3 + 0.8e-3)


def test_points_of_a_machine_give_its_launch_time_and_overlap():
    parts = {
        size: halves(size, 2 * size, 600 * size, Traffic((0.3, 0.4), (0.6, 0.8)))
        for size in (1e6, 1e7)
    }
    there = replace(MACHINE, launch=20e-6, overlap=0.5)
    rows = []
    for size, (primal, dual) in parts.items():
        moved = (primal.bytes + dual.bytes) / 1e9
        alone = 1e3 * moved * 1e9 / MACHINE.rate
        both = 1e3 * iteration_seconds((primal, dual), there, 2)
        rows += [
            {"model": size, "device": "cuda", "GB": moved, "iteration ms": alone},
            {
                "model": size, "device": "cuda:all", "GB": moved, "iteration ms": both,
                "rows": size, "columns": 2 * size, "received rows": 0.3 * size,
                "received columns": 0.8 * size, "shared": [0.6, 0.8],
            },
        ]  # fmt: skip
    found = fitted(rows, MACHINE)
    assert found.launch == pytest.approx(20e-6)
    assert found.overlap == pytest.approx(0.5)


def test_what_nobody_reads_costs_no_message():
    assert half_seconds(Half(2e9, 0.0, 0.0), MACHINE, 4) == pytest.approx(0.5e-3)


def test_a_message_between_hosts_takes_the_slower_way():
    assert message_seconds(8e6, MACHINE, 8) == pytest.approx(8e-5)
    outside = 8 / 15  # of sixteen, eight of the fifteen others are in the other host
    assert message_seconds(8e6, MACHINE, 16) == pytest.approx(1e-5 + outside * 8e6 / 1e10)


def test_points_give_latency_and_bandwidth():
    rows = [{"doubles": 1, "microseconds": 20.0}, {"doubles": 1_000_000, "microseconds": 100.0}]
    machine = from_points(rows, MACHINE)
    assert machine.inside.latency == pytest.approx(20e-6)
    assert machine.inside.rate == pytest.approx(8e6 / 80e-6)


@pytest.mark.parametrize("count", [2, 4])
def test_a_point_that_the_model_made_is_found_again(count):
    m, n, matrix = 1e6, 2e6, 1.2e9
    found = Traffic((0.1, 0.2), (0.2, 0.4))
    parts = halves(m, n, matrix, found)
    alone, both = (1e3 * iteration_seconds(parts, MACHINE, gpus) for gpus in (1, count))
    moved = sum(half.bytes for half in parts) / 1e9
    rows = [
        {"model": "a", "device": "cuda", "GB": moved, "iteration ms": alone},
        {
            "model": "a", "device": "cuda:all", "GB": moved, "iteration ms": both, "rows": m,
            "columns": n, "received rows": 0.1 * m, "received columns": 0.2 * n, "gpus": count,
        },
    ]  # fmt: skip
    (line,) = compare(rows, MACHINE)
    assert line[3] == pytest.approx(both)
