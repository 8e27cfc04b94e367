"""Memory that is used again: by whom, and when."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.kernels.batch import memory


@pytest.fixture(autouse=True)
def nothing_waits():
    memory._Lent.waiting.clear()
    yield
    memory._Lent.waiting.clear()


def place(array):
    return array.__array_interface__["data"][0]


def test_memory_is_used_again_when_the_last_array_of_it_is_gone():
    block = memory.used_again(1000)
    first = place(block)
    view = block[8:808].view(np.float64).reshape(10, 10)
    view[:] = 7.0
    del block
    other = memory.used_again(1000)
    assert place(other) != first
    np.testing.assert_array_equal(view, 7.0)
    part = view[3, 2:4]
    del view
    third = memory.used_again(1000)
    assert place(third) not in (first, place(other))
    np.testing.assert_array_equal(part, 7.0)
    del part
    assert place(memory.used_again(900)) == first


@pytest.mark.parametrize(
    ("size", "again"), [(1000, True), (500, True), (499, False), (1001, False)]
)
def test_a_block_serves_for_what_needs_much_of_it(size, again):
    first = place(memory.used_again(1000))
    found = memory.used_again(size)
    assert found.size == size
    assert (place(found) == first) == again


def test_few_blocks_wait():
    blocks = [memory.used_again(1000) for _ in range(memory.KEPT + 3)]
    blocks.clear()
    assert len(memory._Lent.waiting) == memory.KEPT


def test_large_blocks_do_not_wait():
    del_me = memory.used_again(memory.LARGEST_KEPT + 1)
    assert del_me.size == memory.LARGEST_KEPT + 1
    del del_me
    assert not memory._Lent.waiting


def test_arrays_stand_side_by_side():
    shapes = {"a": ((2, 3), np.float64), "b": ((5,), np.int32), "c": ((0, 4), np.float64)}
    size = memory.bytes_of(shapes)
    assert size == 2 * memory.ALIGNMENT
    block = np.zeros(size, dtype=np.uint8)
    found = memory.side_by_side(block, shapes)
    for name, (shape, kind) in shapes.items():
        assert (found[name].shape, found[name].dtype) == (shape, kind)
        found[name][:] = 1
    assert np.count_nonzero(block) == 2 * 6 + 5
