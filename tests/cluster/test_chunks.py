"""Chunks by calls that are answered here: sizes, parting, and the end."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from gpu_bridge.cluster import chunks as module
from gpu_bridge.cluster.chunks import AHEAD, CHUNK_SECONDS, Chunks, WorkerKind
from gpu_bridge.cluster.connection import Calls, WorkerLostError
from solvers.core.errors import EngineError
from solvers.core.outcome import StopReason

KIND = WorkerKind("cpu", slots=2, cpus=1, gpus=0, first=4)


class Here(Calls):
    """Calls that square numbers; those with a number in ``deadly`` lose their workers."""

    def __init__(self, seconds: float, deadly: Sequence[int] = ()) -> None:
        self.seconds, self.deadly = seconds, deadly
        self.begun: list[tuple[int, ...]] = []
        self.most_under_way = 0
        self.ended_at_once: list[Any] = []
        self.told_to_end: list[Any] = []
        self.renewed = 0

    def renew(self) -> None:
        self.renewed += 1

    def square(self, members: Sequence[int], kind: WorkerKind) -> Any:
        self.begun.append(tuple(members))
        return len(self.begun) - 1

    def ended(self, calls: Iterable[Any], seconds: float) -> list[Any]:
        waiting = list(calls)
        self.most_under_way = max(self.most_under_way, len(waiting))
        return waiting[-1:]  # the latest first, so that nothing comes in order

    def answer(self, call: Any) -> Any:
        members = self.begun[call]
        if set(members) & set(self.deadly):
            raise WorkerLostError("it died", StopReason.OUT_OF_MEMORY)
        return [k * k for k in members], self.seconds * len(members)

    def end(self, calls: Iterable[Any], *, at_once: bool) -> None:
        (self.ended_at_once if at_once else self.told_to_end).extend(calls)


def run(calls: Here, count: int, over: Iterable[bool] = ()) -> dict[int, Any]:
    answers = iter(over)
    chunks = Chunks(range(count), calls, lambda: [KIND], calls.square, lambda: next(answers, False))
    found: dict[int, Any] = {}
    for member, value in chunks.results():
        assert member not in found
        found[member] = value
    return found


def test_every_member_is_answered_once_and_few_are_under_way():
    calls = Here(seconds=0.01)
    assert run(calls, 1000) == {k: k * k for k in range(1000)}
    assert sorted(k for members in calls.begun for k in members) == list(range(1000))
    assert calls.most_under_way == AHEAD * KIND.slots
    assert not calls.told_to_end


def test_chunks_grow_to_a_second_of_work_and_shrink_towards_the_end():
    calls = Here(seconds=0.01)
    run(calls, 10_000)
    sizes = [len(members) for members in calls.begun]
    assert sizes[0] == KIND.first
    assert max(sizes) == CHUNK_SECONDS / 0.01
    assert sizes[-1] == 1


def test_slow_members_travel_alone():
    calls = Here(seconds=10.0)
    run(calls, 100)
    assert {len(members) for members in calls.begun[AHEAD * KIND.slots :]} == {1}


def test_a_chunk_that_ends_its_workers_is_parted_down_to_the_one_that_does():
    calls = Here(seconds=0.01, deadly=[13, 77])
    found = run(calls, 100)
    for k in (13, 77):
        lost = found.pop(k)
        assert isinstance(lost, WorkerLostError)
        assert lost.reason is StopReason.OUT_OF_MEMORY
    assert found == {k: k * k for k in range(100) if k not in (13, 77)}


@pytest.mark.parametrize("is_late", [False, True])
def test_what_waits_for_a_lost_node_is_begun_once_more(monkeypatch, is_late):
    monkeypatch.setattr(module, "COUNT_AGAIN", 0.0)

    class Stuck(Here):
        """The first two calls answer after all others, or never."""

        def ended(self, calls: Iterable[Any], seconds: float) -> list[Any]:
            others = [call for call in calls if call > 1]
            return others or [call for call in calls if is_late]

    calls = Stuck(seconds=0.01)
    kinds = iter([KIND, KIND, dataclasses.replace(KIND, slots=1)])
    latest = KIND

    def count() -> list[WorkerKind]:
        nonlocal latest
        latest = next(kinds, latest)
        return [latest]

    found: dict[int, Any] = {}
    for member, value in Chunks(range(100), calls, count, calls.square, lambda: False).results():
        assert member not in found
        found[member] = value
    assert found == {k: k * k for k in range(100)}
    assert calls.begun.count(calls.begun[0]) == 2
    assert {0, 1} <= set(calls.ended_at_once)
    assert calls.renewed == 1


def test_when_it_is_over_what_is_under_way_ends_with_what_it_has():
    calls = Here(seconds=0.01)
    found = run(calls, 1000, over=[False, True, True, True, True, True])
    assert len(calls.told_to_end) > 0
    assert sorted(found) == sorted(k for members in calls.begun for k in members)
    assert len(found) < 1000


@pytest.mark.parametrize("is_over", [False, True])
def test_what_fails_ends_all_unless_it_was_told_to_end(is_over):
    class Failing(Here):
        def answer(self, call: Any) -> Any:
            raise EngineError("it was broken off")

    calls = Failing(seconds=0.01)
    if is_over:
        assert run(calls, 10, over=[False, *[True] * 20]) == {}
    else:
        with pytest.raises(EngineError, match="broken off"):
            run(calls, 10)


def test_who_stops_listening_ends_all_at_once():
    calls = Here(seconds=0.01)
    chunks = Chunks(range(100), calls, lambda: [KIND], calls.square, lambda: False)
    results = chunks.results()
    next(results)
    results.close()
    assert calls.ended_at_once


def test_each_kind_of_workers_is_filled_by_its_own_pace():
    slow, quick = WorkerKind("cpu", 1, 1, 0, 1), WorkerKind("auto", 1, 1, 1, 64)
    begun: dict[str, list[int]] = {"cpu": [], "auto": []}
    calls = Here(seconds=0.01)

    def begin(members: Sequence[int], kind: WorkerKind) -> Any:
        begun[kind.device].append(len(members))
        return calls.square(members, kind)

    chunks = Chunks(range(10_000), calls, lambda: [quick, slow], begin, lambda: False)
    assert len(dict(chunks.results())) == 10_000
    assert begun["auto"][0] == 64
    assert begun["cpu"][0] == 1
