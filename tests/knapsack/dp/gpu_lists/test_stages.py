"""Stages on lists as the search on the CPU does them, by the twins and by the device code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.knapsack.dp import states
from solvers.knapsack.dp.gpu_lists.kernels.stages import FAMILY, Field, Mode, Reason
from solvers.knapsack.dp.states import States
from solvers.native.knapsack_dp_states import merge
from tests.cases import through
from tests.emulator import Emulated, needs_compiler
from tests.knapsack.dp.gpu_lists.cases import (
    CASES,
    LARGEST,
    assert_same,
    changed,
    front,
    lists_of,
    seen,
    stages,
)


def plain_stages(case):
    """Yield what is there after each stage by its definition, in whole numbers of any size."""
    history = (int(bits) % 2**64 for bits in case.states.history)
    columns = (case.states.profit.tolist(), case.states.weight.tolist(), history)
    kept = list(zip(*columns, case.states.ancestor.tolist(), strict=True))
    left, right, stage, best = case.broken - 1, case.broken, case.stage, case.best

    def skip(left, right):
        while right < case.opposite.size and case.opposite[right] <= best:
            right += 1
        while left >= 0 and case.opposite[left] <= best:
            left -= 1
        return left, right

    while kept and best < case.target and stage < 64 and 2 * len(kept) <= case.room:
        left, right = skip(left, right)
        if right < case.opposite.size and (left < 0 or stage % 2 == 0):
            item, sign, right = right, 1, right + 1
        elif left >= 0:
            item, sign, left = left, -1, left - 1
        else:
            yield best, left, right, stage, []
            return
        left, right = skip(left, right)
        profit, weight = (sign * int(of[item]) for of in (case.item_profit, case.item_weight))
        shifted = [(p + profit, w + weight, h | 1 << stage, a) for p, w, h, a in kept]
        merged = [(w, -p, k, h, a) for k, of in enumerate((kept, shifted)) for p, w, h, a in of]
        stage += 1
        highest, kept = -(2**62), []
        for w, p, _, h, a in sorted(merged):
            if -p <= highest:
                continue
            highest = -p
            if w > case.capacity and left < 0:
                break
            best = max(best, -p) if w <= case.capacity else best
            side = right if w <= case.capacity else left
            gain, unit = 0, 1
            if side < case.opposite.size:
                gain, unit = int(case.item_profit[side]), int(case.item_weight[side])
            if -p * unit + (case.capacity - w) * gain >= (best + 1) * unit:
                kept.append((-p, w, h, a))
        yield best, left, right, stage, kept


def assert_as_defined(case, found):
    after = None
    for after, seen_after in zip(plain_stages(case), found, strict=False):
        best, left, right, stage, kept = after
        assert (seen_after["PROFIT"], seen_after["COUNT"]) == (best, len(kept))
        assert (seen_after["LEFT"], seen_after["RIGHT"]) == (left, right)
        assert seen_after["STAGE"] == stage
        columns = [seen_after[name].tolist() for name in States._fields]
        columns[2] = [bits % 2**64 for bits in columns[2]]
        assert list(zip(*columns, strict=True)) == kept
    return after


@through("name", CASES)
def test_twins_do_what_the_definition_says(name):
    case = CASES[name]
    found = stages(case)
    after = assert_as_defined(case, found)
    if after is None:
        assert found[0]["COUNT"] == case.states.profit.size


def merged_by_the_search(before, after):
    """Merge the list of ``before`` by the search on the CPU, as ``after`` says how."""
    count = len(before["profit"])
    now, then = states.empty_states(max(count, 1)), states.empty_states(2 * count + 1)
    for target, name in zip(now, States._fields, strict=True):
        target[:count] = np.asarray(before[name]).astype(target.dtype)
    control = np.zeros(9, dtype=np.int64)
    control[states.PROFIT] = after["BEFORE"]
    length = merge(
        now,
        count,
        then,
        after["PROFIT_STEP"],
        after["WEIGHT_STEP"],
        1 << (after["STAGE"] - 1),
        after["CAPACITY"],
        (after["COMES_PROFIT"], after["COMES_WEIGHT"]),
        (after["GOES_PROFIT"], after["GOES_WEIGHT"]),
        control,
    )
    return [column[:length] for column in then], control


@through("name", CASES)
def test_stages_are_those_of_the_search_on_the_cpu(name):
    before = CASES[name].states._asdict() | {"STAGE": CASES[name].stage}
    for after in stages(CASES[name]):
        if after["STAGE"] > before["STAGE"]:
            columns, control = merged_by_the_search(before, after)
            for column, field in zip(columns, States._fields, strict=True):
                np.testing.assert_array_equal(column, after[field].astype(column.dtype))
            assert control[states.PROFIT] == after["PROFIT"]
            if after["PROFIT"] > after["BEFORE"]:
                found = (after["HISTORY"], after["ANCESTOR"])
                assert (control[states.HISTORY], control[states.ANCESTOR]) == found
        before = after


@through("name", CASES)
def test_device_code_does_what_its_twin_does(name, device_code):
    for one, other in zip(
        stages(CASES[name]), stages(CASES[name], family=device_code), strict=True
    ):
        assert_same(one, other)


def test_batches_of_stages_are_the_stages(device_code):
    case = front(3000, 1, items=40, best=0.9999)
    one_by_one, batch = stages(case), stages(case, each=16, family=device_code)
    assert one_by_one[-1]["STAGE"] > 10
    assert len(batch) == 1
    assert_same(one_by_one[-1], batch[0])


def test_cases_are_what_they_are_called():
    reasons = {
        "empty": Reason.EMPTY,
        "full": Reason.FULL,
        "history full": Reason.CHECKPOINT,
        "history nearly full": Reason.CHECKPOINT,
        "all pruned": Reason.EMPTY,
        "all items skipped": Reason.EMPTY,
        "target reached": Reason.EMPTY,
    }
    for name, reason in reasons.items():
        assert stages(CASES[name])[-1]["REASON"] == reason, name
    counts = {"all dominated": 3001, "none dominated": 6000, "ties": 4007}
    for name, count in counts.items():
        case = CASES[name]
        # another item still to come, of which much fits, keeps every state
        more = {
            field: np.append(getattr(case, field), 1) for field in ("item_profit", "item_weight")
        }
        case = changed(case, **more, opposite=np.full(2, LARGEST), capacity=2**60)
        assert stages(case)[0]["COUNT"] == count, name
    assert len(stages(CASES["near the limit"])[0]["profit"]) > 100
    assert CASES["near the limit"].states.weight[-1] > 2**60


@settings(max_examples=60, deadline=None)
@given(
    count=st.integers(1, 60),
    seed=st.integers(0, 10**6),
    gap=st.sampled_from([1, 2, 50, 10**6]),
    best=st.sampled_from([0.0, 0.9, 1.0]),
)
def test_random_lists(count, seed, gap, best):
    case = changed(front(count, seed, gap=gap, best=best), room=500)
    assert_as_defined(case, stages(case))


def chosen(case, mode, level):
    lists = lists_of(case)
    lists[Field.COMES_PROFIT], lists[Field.COMES_WEIGHT] = 11, 10
    lists[Field.GOES_PROFIT], lists[Field.GOES_WEIGHT] = 13, 10
    lists[Field.LEVEL] = level
    lists.choose(mode)
    return lists


@pytest.mark.parametrize("mode", range(8))
@pytest.mark.parametrize("count", [1, 1792, 4000])
def test_states_are_chosen_by_bounds_or_places(mode, count, device_code, monkeypatch):
    case = front(count, 4)
    profit, weight = (column.astype(object) for column in case.states[:2])
    spare = case.capacity - weight
    bound = profit + spare * np.where(spare >= 0, 11, 13) // 10
    level = count // 3 if mode & Mode.PLACES else int(np.median(bound.astype(float)))
    high = (np.arange(count) if mode & Mode.PLACES else bound) >= level
    wanted = ~high.astype(bool) if mode & Mode.BELOW else high.astype(bool)
    twin = chosen(case, mode, level)
    assert twin[Field.NEXT_COUNT] == wanted.sum()
    kept = 0 if mode & Mode.COUNTING else int(wanted.sum())
    found = twin.to_host(kept, other=True)
    if kept:
        for column, given in zip(found, case.states, strict=True):
            np.testing.assert_array_equal(column, given[wanted])
    monkeypatch.setattr("solvers.knapsack.dp.gpu_lists.memory.FAMILY", device_code)
    assert_same(seen(twin, kept, other=True), seen(chosen(case, mode, level), kept, other=True))


def test_histories_are_renewed(device_code):
    count = 1000
    for family in (FAMILY, device_code):
        history, ancestor = np.full(4000, 7), np.full(4000, 7, dtype=np.int32)
        control = np.zeros(48, dtype=np.int64)
        control[[Field.COUNT, Field.SIDE]] = count, 1
        family["renew"](2, 2000, history, ancestor, control)
        assert (history[2000:3000] == 0).all()
        assert (ancestor[2000:3000] == np.arange(count)).all()
        for array in (history, ancestor):
            assert (array[:2000] == 7).all()
            assert (array[3000:] == 7).all()


@needs_compiler
def test_blocks_that_run_side_by_side_agree(monkeypatch):
    together = Emulated(FAMILY, together=True)
    monkeypatch.setattr("solvers.knapsack.dp.gpu_lists.memory._blocks", lambda device: 3)
    case = front(9000, 9, items=3, best=0.99)
    for one, other in zip(stages(case), stages(case, family=together), strict=True):
        assert_same(one, other)
