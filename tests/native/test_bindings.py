"""What the bindings between Python and C++ refuse, and threads of loops before and after a fork."""

from __future__ import annotations

import multiprocessing

import numpy as np
import pytest

from solvers.knapsack.batch.problems import PART
from solvers.native.knapsack_batch_check import shorten
from tests.scripts import in_a_process

SIZE = 7 * PART + 3


def arrays():
    values = np.arange(SIZE, dtype=np.int64)
    return values, np.zeros(SIZE, dtype=np.int32), np.zeros(-(-SIZE // PART), dtype=np.bool_)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_loop_does_the_same_on_any_number_of_threads(threads):
    values, out, refused = arrays()
    shorten(values, out, refused, threads)
    np.testing.assert_array_equal(out, values)
    assert not refused.any()


def spoiled():
    values, out, refused = arrays()
    locked = out.copy()
    locked.flags.writeable = False
    return {
        "another type": (values.astype(np.float64), out, refused),
        "not contiguous": (np.arange(2 * SIZE, dtype=np.int64)[::2], out, refused),
        "read-only": (values, locked, refused),
        "another dimension": (values.reshape(1, -1), out, refused),
        "no array": (values, None, refused),
    }


@pytest.mark.parametrize("name", spoiled())
def test_a_door_refuses(name):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        shorten(*spoiled()[name], 1)


def in_child(answers):
    values, out, refused = arrays()
    shorten(values, out, refused, 3)
    answers.put(bool((out == values).all()))


def use_threads_before_and_after_a_fork():
    values, out, refused = arrays()
    shorten(values, out, refused, 3)
    fork = multiprocessing.get_context("fork")
    answers = fork.SimpleQueue()
    child = fork.Process(target=in_child, args=(answers,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert answers.get()


def test_a_forked_process_has_threads_of_its_own():
    in_a_process(use_threads_before_and_after_a_fork)
