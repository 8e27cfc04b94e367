"""Free memory goes back to the system where that keeps it."""

import ctypes
import subprocess
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


FREED = """
import numpy as np
from benchmarks import memory
from solvers.core import machine

first = np.ones(3 * 2**20)  # after which the C library maps nothing smaller by itself
del first
with machine.mapped_arrays(machine.WORTH_IT - {less}):
    with machine.mapped_arrays(machine.WORTH_IT):
        pass  # one that ends leaves it to the other
    arrays = [np.ones(2**18) for _ in range(60)]
    held = memory.restart_peak()
    del arrays[::2]
    print(held - memory.restart_peak())
"""
"""In a process of its own: one that has much free memory takes it before it maps any."""


KEPT = """
import resource
import numpy as np
from solvers.core import machine

with machine.mapped_arrays(machine.WORTH_IT):
    pass
vector = np.ones(2**19)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    vector + 1.0
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
"""Pages that 100 vectors of 4 MiB took, of which each has 1024 of 4 kB."""

has_numbers = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not hasattr(ctypes.CDLL(None), "mallopt"),
    reason="the system's C library gives memory back by itself",
)


@has_numbers
def test_arrays_take_the_memory_of_earlier_ones_again_after_that() -> None:
    done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 10_000


@has_numbers
@pytest.mark.parametrize("less", [0, 1])
def test_arrays_are_mapped_during_work_on_a_large_model(less: int) -> None:
    command = [sys.executable, "-c", FREED.format(less=less)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (int(done.stdout) > 50_000_000) == (less == 0)
