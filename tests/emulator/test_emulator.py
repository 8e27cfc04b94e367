"""The emulator itself: it runs blocks as a GPU may run them, and finds what a GPU would not say."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from solvers.kernels.declaration import Argument, Kernel, Launch
from solvers.kernels.family import Family
from tests.emulator import Emulated, needs_compiler

pytestmark = needs_compiler

SOURCE = """
#define SCALE 3
extern "C" __global__ void fill(int grid, int shared, int written, INDEX* found) {
    extern __shared__ __align__(8) INDEX memory[];
    memory[threadIdx.x] = threadIdx.x < written ? threadIdx.x : memory[threadIdx.x];
    __syncthreads();
    found[blockIdx.x * blockDim.x + threadIdx.x] = SCALE * memory[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void part_ways(int grid, int shared, int written, INDEX* found) {
    if (threadIdx.x < written) __syncthreads();
    found[threadIdx.x] = __shfl_sync(0xffffffffu, int(threadIdx.x), 0);
}
extern "C" __global__ void race(int grid, int shared, int written, INDEX* found) {
    found[0] = threadIdx.x;
}
extern "C" __global__ void wait_for_all(int grid, int shared, int written, INDEX* found) {
    if (threadIdx.x == 0) {
        atomicAdd(found, 1);
        while (__atomic_load_n(found, __ATOMIC_RELAXED) < (int)gridDim.x - 1) __nanosleep(20);
    }
    __syncthreads();
    atomicAdd(found + 1, 1);
}
"""


def kernel(name: str) -> Kernel:
    arguments = [Argument(n, "int") for n in ("grid", "shared", "written")]
    return Kernel(
        name,
        (*arguments, Argument("found", "index[]", "inout")),
        contract="",
        launch=lambda values: Launch(values["grid"], 64, values["shared"]),
        work=lambda values: 0,
    )


class Given(Family):
    def source(self) -> str:
        return SOURCE


KERNELS = ("fill", "part_ways", "race", "wait_for_all")
FAMILY = Given("tests.emulator", "", [kernel(name) for name in KERNELS])
HELD = 64 * 4
"""Bytes that the threads of a block write in shared memory."""


def run(
    name: str, *, grid: int = 1, shared: int = HELD, written: int = 64, **how: Any
) -> npt.NDArray[np.int32]:
    found = np.full(128, -1, dtype=np.int32)
    Emulated(FAMILY, **how)[name](grid, shared, written, found)
    return found


@pytest.mark.parametrize("together", [False, True])
def test_blocks_have_shared_memory_of_their_own(together):
    expected = np.tile(np.arange(64)[::-1], 2)
    np.testing.assert_array_equal(run("fill", grid=2, together=together), 3 * expected)
    by_five = run("fill", grid=2, together=together, constants={"SCALE": 5})
    np.testing.assert_array_equal(by_five, 5 * expected)


def test_writing_beyond_the_shared_memory_asked_for_is_found():
    with pytest.raises(AssertionError, match="beyond the shared memory"):
        run("fill", shared=HELD - 4)
    run("fill", shared=HELD - 4, written=63)


@pytest.mark.parametrize("written", [1, 33, 63])
def test_threads_that_part_ways_are_found(written):
    with pytest.raises(AssertionError, match="wait for each other"):
        run("part_ways", written=written)
    np.testing.assert_array_equal(run("part_ways")[:64], np.repeat([0, 32], 32))


def test_races_come_out_differently_backwards():
    assert run("race")[0] == 63
    assert run("race", backwards=True)[0] == 0


def test_blocks_that_wait_for_each_other_run_together():
    found = run("wait_for_all", grid=5, together=True)
    assert found[:2].tolist() == [5 - 1, 5 * 64 - 1]
