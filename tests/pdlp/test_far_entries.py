"""Matrices of more than 2^31 entries, by small ones whose entries stand behind that many.

They are laid out, and their loops and kernels compute, as of small matrices with short indices.
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.linear_algebra import SparseRows
from solvers.core.options import EngineOptions
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.native import core_linear_algebra, sparse_locality
from solvers.native.pdlp_distributed_sides import find_readers
from solvers.pdlp import layout
from solvers.pdlp.distributed import sharing
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.distributed.sharing import share_out
from solvers.pdlp.kernels.layout import LAYOUT
from solvers.pdlp.kernels.matrix import MATRIX
from solvers.pdlp.layout import to_device
from solvers.presolve import light
from solvers.sparse.order import order_rows
from solvers.sparse.shape import Plan
from solvers.sparse.slices import Packed, Slices, in_slices, without_entries
from tests.emulator import emulated, needs_compiler
from tests.far import FAR, far, far_behind, wide
from tests.matrices import MATRICES
from tests.pdlp.lps import random_lp
from tests.pdlp.matrices import PLANS, PRETENDED_GPU, lay_out

PLAN = Plan(steps=1, unit_from=64, units_from=512, joins=True, reorders=True)

NAMES = ["square 129", "empty rows", "large", "long row", "neighbours"]


def widened(problem: Problem) -> Problem:
    """Return a problem whose matrix has indices of 64 bits."""
    names = ("cost", "row_lower", "row_upper", "lower", "upper", "integrality")
    vectors = {name: getattr(problem, name).copy() for name in names}
    return Problem.from_canonical(matrix=wide(problem.entries), **vectors)


def of_matrix(name: str) -> Problem:
    return Problem.from_arrays(np.zeros(MATRICES[name].shape[1]), MATRICES[name], 0.0, 0.0)


def assert_same(one: Slices, other: Slices) -> None:
    for part in fields(Slices):
        np.testing.assert_array_equal(getattr(one, part.name), getattr(other, part.name))


@pytest.mark.parametrize("on_device_from", [0, layout.ON_DEVICE_FROM])
@pytest.mark.parametrize("name", NAMES)
def test_wide_indices_are_laid_out_as_short_ones(name, on_device_from, monkeypatch):
    monkeypatch.setattr(layout, "ON_DEVICE_FROM", on_device_from)
    short = of_matrix(name)
    laid = [to_device(one, PRETENDED_GPU, PLAN, 0) for one in (short, widened(short))]
    assert_same(laid[0].by_row, laid[1].by_row)
    assert_same(laid[0].by_column, laid[1].by_column)


@pytest.mark.parametrize("on_device_from", [0, layout.ON_DEVICE_FROM])
@pytest.mark.parametrize("name", NAMES)
def test_wide_indices_are_shared_out_as_short_ones(name, on_device_from, monkeypatch):
    monkeypatch.setattr(sharing, "ON_DEVICE_FROM", on_device_from)
    group = replace(DeviceGroup.of([PRETENDED_GPU] * 2), kind="cpu")
    short = of_matrix(name)
    one, other = (share_out(problem, group, PLAN, 0) for problem in (short, widened(short)))
    for matrix, same in ((one.by_row, other.by_row), (one.by_column, other.by_column)):
        for parts, others in zip(matrix.slices, same.slices, strict=True):
            for part, twin in zip(parts, others, strict=True):
                assert_same(part, twin)


def test_wide_indices_give_the_same_answer():
    short = random_lp(1, 300, 400, density=0.3)
    options = EngineOptions(device="cpu", tolerance=1e-8)
    one, other = (pdlp.solve(problem, options, Progress()) for problem in (short, widened(short)))
    assert one.statistics["iterations"] == other.statistics["iterations"]
    assert np.array_equal(one.x, other.x)
    assert np.array_equal(one.row_dual, other.row_dual)


def test_wide_indices_are_presolved_as_short_ones():
    short = random_lp(2, 3000, 4000, density=0.003)
    one, other = (light.apply(problem, Progress()) for problem in (short, widened(short)))
    assert one.problem.num_nonzeros < short.num_nonzeros
    for part in ("data", "indices", "indptr"):
        found, expected = (getattr(each.problem.entries, part) for each in (other, one))
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_loops_over_rows_reach_entries_far_behind(threads):
    near = wide(SparseRows.of(MATRICES["large"]))
    there = far(near)
    m, n = near.shape
    x, owner = np.random.default_rng(1).standard_normal(n), np.arange(n, dtype=np.uint8) % 3
    place = np.arange(n, dtype=np.int64) - 500
    found = []
    for matrix in (near, there):
        product, mean, least, most = np.zeros((4, m))
        read, counts, kept = np.zeros((3, m), bool), np.zeros(n, np.int64), np.zeros(m, np.int64)
        core_linear_algebra.multiply(matrix, x, product, threads)
        core_linear_algebra.average(matrix, x, mean, threads)
        core_linear_algebra.row_sizes(matrix, least, most, threads)
        core_linear_algebra.count_columns(matrix, counts, threads)
        core_linear_algebra.count_kept(matrix, np.arange(m), place, kept, threads)
        find_readers(matrix, owner, read, threads)
        found.append((product, mean, least, most, read, counts, kept))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def test_parts_are_copied_from_and_to_entries_far_behind():
    near = wide(SparseRows.of(MATRICES["square 129"]))
    there = far(near)
    rows, place = np.arange(3, 90), np.arange(129, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(near.lengths[rows])])
    expected = near.part(rows, place)
    indices = far_behind(np.zeros(expected.nnz, dtype=np.int64))
    data = far_behind(np.zeros(expected.nnz))
    core_linear_algebra.copy_kept(there, rows, place, starts + FAR, indices, data, 2)
    assert np.array_equal(indices[FAR:], expected.indices)
    assert np.array_equal(data[FAR:], expected.data)


def test_orders_are_found_from_entries_far_behind():
    near = wide(SparseRows.of(MATRICES["neighbours"]))
    there, position = far(near), np.arange(near.shape[1], dtype=np.int32)
    orders = [order_rows(matrix) for matrix in (near, there)]
    assert np.array_equal(orders[0].order, orders[1].order)
    rows, found = orders[0].order, []
    for matrix in (near, there):
        lanes, places = np.zeros(rows.size // 8, np.int64), np.zeros(rows.size, np.int32)
        sparse_locality.choose_lanes(matrix.indptr, matrix.indices, rows, position, lanes, 1)
        sparse_locality.extreme_places(matrix.indptr, matrix.indices, position, True, places, 1)
        found.append((lanes, places))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("kind", [np.float64, np.uint8])
def test_the_host_lays_out_entries_far_behind(kind):
    near = wide(SparseRows.of(MATRICES["large"]))
    near = replace(near, data=np.round(near.data))  # other tests have the same matrix
    table = np.unique(np.append(near.data, 1.0))
    packed = Packed(kind, np.int32, np.concatenate([[0.0], table[table != 0.0]]))
    order, position = order_rows(near).order, np.arange(near.shape[1], dtype=np.int32)
    expected = in_slices(near, PLAN, order, position, packed)
    assert_same(in_slices(far(near), PLAN, order, position, packed), expected)


@pytest.mark.parametrize(
    "kernels", [LAYOUT, pytest.param("emulated", marks=needs_compiler)], ids=["twin", "emulated"]
)
def test_the_device_lays_out_entries_far_behind_and_puts_them_there(kernels):
    """Entries come from behind 2^31 others, and go to slices behind as many."""
    family = emulated(LAYOUT) if kernels == "emulated" else LAYOUT
    near = wide(SparseRows.of(MATRICES["large"]))
    order = order_rows(near)
    column = np.arange(near.shape[1], dtype=np.int32)
    expected = in_slices(near, PLAN, order.order, column, Packed())
    slices = without_entries(near, PLAN, order.order, order.lengths, column, Packed())
    slices.meta[:, 0] += FAR // slices.height
    indices = far_behind(np.zeros_like(expected.indices))
    values = far_behind(np.zeros_like(expected.values))
    piece_entries = FAR // 32
    family["lay_out"](
        *(slices.filled, slices.height, slices.meta, 0, slices.rows, 0, slices.table),
        *(indices, values, near.shape[0], near.indptr + FAR, order.position, column),
        *(32, piece_entries, near.nnz, near.indices.astype(np.int32), near.data),
    )
    assert np.array_equal(indices[FAR:], expected.indices)
    assert np.array_equal(values[FAR:], expected.values)


@pytest.mark.parametrize("plan", ["usual", "many units", "joined rows"])
def test_products_read_slices_far_behind(plan):
    laid = lay_out(MATRICES["large"], PLANS[plan]).plain
    near = laid.by_row
    meta = near.meta.copy()
    meta[:, 0] += FAR // near.height
    there = replace(
        near, meta=meta, indices=far_behind(near.indices), values=far_behind(near.values)
    )
    x, found = np.random.default_rng(2).standard_normal(laid.matrix.shape[1]), []
    for slices in (near, there):
        product = np.zeros(slices.rows)
        MATRIX["multiply"](*slices.arguments, x, product)
        found.append(product)
    assert np.array_equal(*found)


def test_slices_count_more_entries_than_32_bits():
    """Where the last slice begins and ends is told in slices' lanes."""
    laid = lay_out(MATRICES["large"], PLANS["usual"]).by_row
    entries, meta = laid.stored_entries, laid.meta.copy()
    meta[:, 0] += FAR // laid.height
    assert replace(laid, meta=meta).stored_entries == FAR + entries


def test_products_of_a_cpu_read_rows_far_behind():
    near = wide(SparseRows.of(MATRICES["large"]))
    x, found = np.random.default_rng(3).standard_normal(near.shape[1]), []
    for matrix in (near, far(near)):
        none = np.zeros(0, dtype=np.int32)
        slices = in_slices(matrix, PLANS["cpu"], none, none, Packed())
        product = np.zeros(slices.rows)
        MATRIX["multiply"](*slices.arguments, x, product)
        found.append(product)
    assert np.array_equal(*found)
