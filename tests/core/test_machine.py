"""Free memory goes back to the system where that keeps it."""

import ctypes
import sys

import numpy as np
import pytest

from benchmarks import memory
from solvers.core import machine


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or not hasattr(ctypes.CDLL(None), "malloc_trim"),
    reason="the system's C library gives memory back by itself",
)
def test_what_is_free_between_arrays_in_use_goes_back():
    arrays = [np.ones(1_250) for _ in range(20_000)]  # 10 kB each, far below a mapping of its own
    del arrays[::2]
    held = memory.restart_peak()
    machine.give_back(machine.WORTH_IT - 1)
    assert held is not None
    assert memory.restart_peak() > held - 10_000_000  # not of a small model
    machine.give_back(machine.WORTH_IT)
    assert memory.restart_peak() < held - 50_000_000
    assert len(arrays) == 10_000


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or not hasattr(ctypes.CDLL(None), "mallopt"),
    reason="the system's C library gives memory back by itself",
)
@pytest.mark.parametrize("nonzeros", [machine.WORTH_IT - 1, machine.WORTH_IT])
def test_arrays_are_mapped_during_work_on_a_large_model(nonzeros: int) -> None:
    first = np.ones(3 * 2**20)  # after which the C library maps none of its size by itself
    del first
    with machine.mapped_arrays(nonzeros):
        arrays = [np.ones(2**18) for _ in range(60)]
        held = memory.restart_peak()
        assert held is not None
        del arrays[::2]
        left = memory.restart_peak()
        assert left is not None
        assert (left < held - 50_000_000) == (nonzeros >= machine.WORTH_IT)
        assert len(arrays) == 30
