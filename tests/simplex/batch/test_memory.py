"""Arrays in one block of memory."""

from __future__ import annotations

import numpy as np

from solvers.simplex.batch import transfer


def test_arrays_stand_side_by_side():
    shapes = {"a": ((2, 3), np.float64), "b": ((5,), np.int32), "c": ((0, 4), np.float64)}
    size = transfer.bytes_of(shapes)
    assert size == 2 * transfer.ALIGNMENT
    block = np.zeros(size, dtype=np.uint8)
    found = transfer.side_by_side(block, shapes)
    for name, (shape, kind) in shapes.items():
        assert (found[name].shape, found[name].dtype) == (shape, kind)
        found[name][:] = 1
    assert np.count_nonzero(block) == 2 * 6 + 5
