"""The layout made on a device, by the twin and by the device code, against that of the host."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.problem import Problem
from solvers.pdlp import layout
from solvers.pdlp.kernels.layout import LAYOUT
from solvers.pdlp.layout import to_device
from solvers.sparse.slices import Slices, pack
from tests.emulator import emulated, needs_compiler
from tests.matrices import MATRICES, NAMES, any_matrix, each, matrix_of
from tests.pdlp.matrices import PACKINGS, PLANS, PRETENDED_GPU, lay_out, packable

GPU_PLANS = [name for name in PLANS if name != "cpu"]


def assert_as_on_the_host(matrix, plan, packing) -> None:
    matrix = matrix.copy()
    matrix.data = packable(matrix, packing)[0]
    matrix.eliminate_zeros()
    problem = Problem.from_arrays(np.zeros(matrix.shape[1]), matrix, 0.0, 0.0)
    made = to_device(problem, PRETENDED_GPU, PLANS[plan], 0)
    packed = pack(problem.entries.data, *matrix.shape)
    expected = lay_out(problem.matrix, PLANS[plan], "float64", packed)
    for one, other in ((made.by_row, expected.by_row), (made.by_column, expected.by_column)):
        for part in ("meta", "indices", "values", "table", "splits", "tickets"):
            found, wanted = getattr(one, part), getattr(other, part)
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted, err_msg=part)
    for order, shape in zip((made.row_order, made.column_order), matrix.shape, strict=True):
        assert order is None or not np.array_equal(order, np.arange(shape))


@each(which=NAMES * 3, plan=cycle(GPU_PLANS), packing=cycle(PACKINGS))
@given(any_matrix(), st.sampled_from(GPU_PLANS), st.sampled_from(PACKINGS))
@settings(max_examples=40)
def test_pieces_lay_out_what_the_host_does(which, plan, packing):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "ON_DEVICE_FROM", 0)
        patch.setattr(layout, "PIECE_ENTRIES", 37)  # rows are cut
        assert_as_on_the_host(matrix_of(which), plan, packing)


def test_slices_are_counted_once_for_all_pieces(monkeypatch):
    counted: list[int] = []
    count = Slices.filled.fget
    monkeypatch.setattr(Slices, "filled", property(lambda one: counted.append(1) or count(one)))
    monkeypatch.setattr(layout, "ON_DEVICE_FROM", 0)
    monkeypatch.setattr(layout, "PIECE_ENTRIES", 37)
    assert_as_on_the_host(MATRICES["square 129"], "usual", "float64")
    assert len(counted) == 2  # by rows and by columns


@needs_compiler
@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("name", ["square 129", "empty rows", "long row", "large", "one column"])
def test_device_code_lays_out_what_the_host_does(name, packing, monkeypatch):
    there = emulated(LAYOUT)
    launches = there.launches
    monkeypatch.setattr(layout, "LAYOUT", there)
    monkeypatch.setattr(layout, "ON_DEVICE_FROM", 0)
    monkeypatch.setattr(layout, "PIECE_ENTRIES", 2500)  # more than one block, and one cut short
    assert_as_on_the_host(MATRICES[name], "one step", packing)
    assert there.launches > launches
