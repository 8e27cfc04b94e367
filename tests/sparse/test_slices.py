"""The layout in sliced rows, read slowly in Python, against SciPy; and where rows end up."""

from __future__ import annotations

from itertools import cycle, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.device import cpu
from solvers.core.linear_algebra import SparseRows
from solvers.native.sparse_slices import are_single, distinct_values, order_by_length
from solvers.sparse import slices as slices_module
from solvers.sparse.order import order_rows
from solvers.sparse.shape import (
    CPU_PLAN,
    ROWS_OF_UNIT,
    ROWS_OF_UNITS,
    SHORT_ROWS,
    UNIT,
    Plan,
)
from solvers.sparse.slices import (
    SHORT_INDICES_FROM,
    Packed,
    Slices,
    in_slices,
    pack,
)
from tests.matrices import (
    MATRICES,
    NAMES,
    any_matrix,
    as_problem_matrix,
    each,
    matrix_of,
)
from tests.pdlp.matrices import PACKINGS, PLANS, lay_out


def fields(code: int) -> tuple[int, int, int, int]:
    """Return lanes, kind, rows and the number of slices of a long row."""
    return 1 << (code & 15), (code >> 4) & 3, (code >> 6) & 63, code >> 12


def entries_of_rows(slices: Slices) -> dict[int, np.ndarray]:
    """Return the places of each row's entries, padding included."""
    if slices.height == 1:
        bounds = slices.meta[:, 0].tolist()
        return {i: np.arange(*pair) for i, pair in enumerate(pairwise(bounds))}
    found: dict[int, np.ndarray] = {}
    height = slices.height
    for begin, steps, first, code in slices.meta.tolist():
        lanes, kind, rows, parts = fields(code)
        all_steps = steps if kind == SHORT_ROWS else steps * parts
        block = begin * height + np.arange(all_steps)[:, None] * height + np.arange(lanes)
        for which in range(rows):
            found[first + which] = (block + which * lanes).ravel()
    return found


def times(slices: Slices, vector: np.ndarray) -> np.ndarray:
    values = slices.table[slices.values] if slices.table.size else slices.values
    found = np.full(slices.rows, np.nan)
    for row, places in entries_of_rows(slices).items():
        assert np.isnan(found[row]), "a row stands in one place only"
        found[row] = values[places].astype(float) @ vector[slices.indices[places]]
    return found


def assert_is_the_matrix(laid) -> None:
    generator = np.random.default_rng(0)
    for slices, matrix in ((laid.by_row, laid.matrix), (laid.by_column, laid.matrix.T)):
        vector = generator.standard_normal(matrix.shape[1])
        np.testing.assert_allclose(times(slices, vector), matrix @ vector, rtol=1e-11, atol=1e-11)
        assert slices.nonzeros == laid.matrix.nnz
        assert (slices.rows, slices.columns) == matrix.shape


@each(which=NAMES * 2, plan=cycle(PLANS), packing=cycle(["float64", *PACKINGS]))
@given(any_matrix(), st.sampled_from([*PLANS]), st.sampled_from(PACKINGS))
@settings(max_examples=40)
def test_slices_are_the_matrix_fill_units_and_follow_each_other(which, plan, packing):
    laid = lay_out(matrix_of(which), PLANS[plan], packing)
    assert_is_the_matrix(laid)
    for slices in (laid.by_row, laid.by_column):
        assert slices.values.dtype == ("float64" if plan == "cpu" else packing)
        if slices.height == 1:
            assert slices.slices == slices.rows == slices.meta.size - 1
            continue
        begin, steps = slices.meta[:, 0], slices.meta[:, 1]
        assert slices.units * UNIT == slices.slices == slices.meta.shape[0]
        np.testing.assert_array_equal(begin + steps, np.append(begin[1:], (begin + steps)[-1:]))
        assert int(steps.sum()) * slices.height == slices.indices.size == slices.values.size
        assert sum(fields(code)[2] for code in slices.meta[:, 3].tolist()) == slices.rows


@pytest.mark.parametrize("name", ["square 129", "empty rows", "long row"])
def test_any_number_of_threads_lays_out_the_same(name, monkeypatch):
    alone = lay_out(MATRICES[name], PLANS["one step"])
    monkeypatch.setattr(slices_module, "threads_for", lambda work, threads: 3)
    shared = lay_out(MATRICES[name], PLANS["one step"])
    for part in ("indices", "values", "meta"):
        assert getattr(shared.by_row, part).tolist() == getattr(alone.by_row, part).tolist()


plans = st.builds(
    Plan,
    steps=st.integers(1, 8),
    unit_from=st.sampled_from([1, 32, 64, 256]),
    units_from=st.sampled_from([256, 300, 512, 1024]),
    joins=st.booleans(),
)


@settings(max_examples=60)
@given(
    plan=plans,
    lengths=st.lists(st.sampled_from([0, 0, 1, 2, 3, 7, 33, 130, 257, 600, 1300]), max_size=70),
    columns=st.integers(1, 1300),
    seed=st.integers(0, 1000),
)
def test_rows_of_any_length_are_laid_out_by_any_plan(plan, lengths, columns, seed):
    generator = np.random.default_rng(seed)
    lengths = np.minimum(lengths, columns).astype(int)
    indices = [generator.choice(columns, length, replace=False) for length in lengths]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    indices = np.concatenate([*indices, []]).astype(np.int32)
    values = generator.standard_normal(indices.size)
    rows = SparseRows(values, indices, starts, (lengths.size, columns))
    order = order_rows(rows).order
    position = generator.permutation(columns)
    slices = in_slices(rows, plan, order, position, Packed())
    vector = generator.standard_normal(columns)
    moved = np.empty(columns)
    moved[position] = vector
    expected = [
        values[starts[i] : starts[i + 1]] @ vector[indices[starts[i] : starts[i + 1]]]
        for i in order
    ]
    np.testing.assert_allclose(times(slices, moved), expected, rtol=1e-11, atol=1e-11)


def laid_with(lengths: list[int], plan: Plan) -> Slices:
    """Lay out rows of these lengths, of ones."""
    columns = max(lengths)
    matrix = np.zeros((len(lengths), columns))
    for i, length in enumerate(lengths):
        matrix[i, :length] = 1.0
    from scipy.sparse import csr_array

    return lay_out(as_problem_matrix(csr_array(matrix)), plan).by_row


def test_rows_get_lanes_units_and_several_units_by_their_length():
    plan = Plan(steps=4, unit_from=256, units_from=1024)
    lengths = [0, 1, 4, 5, 8, 16, 32, 64, 65, 256, 257, 1024, 1025, 5000]
    slices = laid_with(lengths, plan)
    kinds = {}
    for _, steps, first, code in slices.meta.tolist():
        lanes, kind, rows, parts = fields(code)
        for which in range(rows):
            kinds[first + which] = (kind, lanes, parts)
        if kind == SHORT_ROWS and lanes < 32:
            assert steps <= plan.steps
    found = dict(zip(sorted(lengths, reverse=True), (kinds[i] for i in range(14)), strict=True))
    assert found == {
        5000: (ROWS_OF_UNITS, 32, 5 * UNIT),
        1025: (ROWS_OF_UNITS, 32, 2 * UNIT),
        1024: (ROWS_OF_UNIT, 32, UNIT),
        257: (ROWS_OF_UNIT, 32, UNIT),
        256: (SHORT_ROWS, 32, 0),
        65: (SHORT_ROWS, 32, 0),
        64: (SHORT_ROWS, 16, 0),
        32: (SHORT_ROWS, 8, 0),
        16: (SHORT_ROWS, 4, 0),
        8: (SHORT_ROWS, 2, 0),
        5: (SHORT_ROWS, 2, 0),
        4: (SHORT_ROWS, 1, 0),
        1: (SHORT_ROWS, 1, 0),
        0: (SHORT_ROWS, 1, 0),
    }


def test_splits_number_the_units_of_each_row():
    slices = laid_with([100, 700, 2500, 1100], Plan(units_from=1024))
    first_partial, which, count, _ = slices.splits.T.tolist()
    assert count == [3, 3, 3, 2, 2]
    assert which == [0, 1, 2, 0, 1]
    assert first_partial == [0, 0, 0, 3, 3]
    assert slices.partials.shape == (5, 3)
    assert not slices.tickets.any()
    kinds = [fields(code)[1] for code in slices.meta[:, 3].tolist()]
    assert kinds[: 5 * UNIT] == [ROWS_OF_UNITS] * 5 * UNIT  # units with a split come first
    assert ROWS_OF_UNITS not in kinds[5 * UNIT :]


@pytest.mark.parametrize("packing", PACKINGS)
def test_padding_is_zero_and_points_at_an_existing_column(packing):
    slices = lay_out(MATRICES["large"], PLANS["usual"], packing).by_row
    values = slices.table[slices.values] if slices.table.size else slices.values
    assert np.count_nonzero(values) == slices.nonzeros < slices.values.size
    assert slices.padding == pytest.approx(slices.values.size / slices.nonzeros - 1.0)
    assert int(slices.indices.max()) < slices.columns


@pytest.mark.parametrize("kind", [np.uint16, np.int32])
def test_indices_have_the_type_asked_for(kind):
    columns = 65536
    indices = np.array([0, columns - 1], dtype=np.int32)
    rows = SparseRows(np.array([2.0, 3.0]), indices, np.array([0, 2]), (1, columns))
    packed = Packed(index_kind=kind)
    slices = in_slices(rows, Plan(), np.array([0]), np.arange(columns), packed)
    assert slices.indices.dtype == kind
    assert int(slices.indices.max()) == columns - 1
    assert slices.entry_bytes == 8 + np.dtype(kind).itemsize


@pytest.mark.parametrize(
    ("rows", "columns", "kind"),
    [(1, 65536, np.uint16), (65536, 1, np.uint16), (1, 65537, np.int32), (65537, 1, np.int32)],
)
def test_indices_are_short_where_rows_and_columns_fit(rows, columns, kind):
    many = np.ones(SHORT_INDICES_FROM)
    assert pack(many, rows, columns).index_kind is kind
    assert pack(many[1:], rows, columns).index_kind is np.int32


@pytest.mark.parametrize(
    ("distinct", "kind"),
    [(1, np.uint8), (255, np.uint8), (256, np.uint16), (4095, np.uint16), (4096, np.float64)],
)
def test_codes_stand_for_few_distinct_values(distinct, kind):
    generator = np.random.default_rng(1)
    values = generator.standard_normal(distinct)
    repeated = generator.permutation(np.tile(values, 3))
    packed = pack(repeated, 9, 9)
    assert packed.kind is kind
    if packed.is_coded:
        assert np.array_equal(packed.table, [0.0, *np.sort(values)])
    else:
        assert packed.table.size == 0


def test_floats_are_short_where_that_is_exact():
    values = np.random.default_rng(2).standard_normal(5000)
    short = values.astype(np.float32).astype(np.float64)
    assert pack(short, 9, 9).kind is np.float32
    short[17] = 0.1
    assert pack(short, 9, 9).kind is np.float64
    assert pack(np.append(short[:17], 1e300), 9, 9).is_coded


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("late", [0, 65_535, 65_536, 65_537, 190_000, 199_999])
def test_all_values_are_looked_at_by_any_number_of_threads(late, threads):
    values = np.ones(200_000)
    values[late] = 0.1
    assert not are_single(values, threads)
    found = np.empty(3)
    assert distinct_values(values, found, threads) == 2
    assert sorted(found[:2]) == [0.1, 1.0]
    values[-1 - late] = 0.2
    assert distinct_values(values, np.empty(2), threads) == 2, "there are too many"
    values[[late, -1 - late]] = 0.5
    assert are_single(values, threads)


@settings(max_examples=60)
@given(
    values=st.lists(
        st.floats(allow_nan=False) | st.sampled_from([0.0, -0.0, 1.0, 5e-324]), min_size=1
    )
)
def test_packing_is_exact(values):
    given_values = np.array(values)
    indices = np.arange(given_values.size, dtype=np.int32)
    ends = np.array([0, given_values.size])
    rows = SparseRows(given_values, indices, ends, (1, given_values.size))
    packed = pack(given_values, 1, given_values.size)
    slices = in_slices(rows, Plan(), np.array([0]), np.arange(given_values.size), packed)
    (places,) = entries_of_rows(slices).values()
    found = slices.table[slices.values] if packed.is_coded else slices.values
    by_column = np.zeros(given_values.size)
    np.add.at(by_column, slices.indices[places], found[places])
    assert np.array_equal(by_column, given_values)


def test_order_is_longest_first_and_stable():
    starts = np.array([0, 2, 2, 5, 7, 7])
    rows = SparseRows(np.zeros(7), np.zeros(7, int), starts, (5, 9))
    found = order_rows(rows)
    assert found.order.tolist() == [2, 0, 3, 1, 4]
    assert found.position[found.order].tolist() == [0, 1, 2, 3, 4]
    assert found.lengths.tolist() == [3, 2, 2, 0, 0]
    assert not found.is_kept


@settings(max_examples=60)
@given(
    lengths=st.lists(st.sampled_from([0, 1, 2, 4095, 4096, 4097, 9000]), max_size=40),
    threads=st.sampled_from([1, 2, 3, 50]),
)
def test_any_number_of_threads_orders_rows_by_length(lengths, threads):
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    order, position = np.empty((2, len(lengths)), dtype=np.int32)
    sorted_lengths = np.empty(len(lengths), dtype=np.int32)
    is_kept = order_by_length(
        starts, np.zeros(0, dtype=np.int32), order, position, sorted_lengths, threads
    )
    expected = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    assert order.tolist() == expected
    assert position[order].tolist() == [*range(len(lengths))]
    assert sorted_lengths.tolist() == [lengths[row] for row in expected]
    assert is_kept == (expected == sorted(expected))


def test_nothing_is_copied_on_a_cpu():
    matrix = MATRICES["empty rows"]
    rows = SparseRows.of(matrix)
    none = np.zeros(0, dtype=int)
    slices = in_slices(rows, CPU_PLAN, none, none, Packed())
    assert slices.indices is matrix.indices
    assert slices.values is matrix.data
    assert slices.padding == 0.0
    assert slices.splits.size == 0


def test_rows_of_even_length_need_hardly_any_padding():
    generator = np.random.default_rng(3)
    indices = generator.integers(0, 5000, 5000 * 8).astype(np.int32)
    rows = SparseRows(np.ones(40000), indices, np.arange(0, 40001, 8), (5000, 5000))
    for steps in (1, 2, 4, 8):
        same = np.arange(5000)
        assert in_slices(rows, Plan(steps=steps), same, same, Packed()).padding < 0.01


def test_a_copy_on_a_device_is_equal():
    slices = lay_out(MATRICES["long row"], PLANS["one step"], "uint8").by_row
    copy = slices.to_device(cpu())
    assert copy.values is not slices.values
    for one, other in zip(slices.arguments, copy.arguments, strict=True):
        assert np.array_equal(one, other)


def test_bytes_are_those_of_the_arrays_a_product_reads():
    slices = lay_out(MATRICES["large"], PLANS["usual"], "uint8").by_row
    assert slices.entry_bytes == 3
    assert slices.bytes == 3 * slices.values.size + slices.meta.nbytes + slices.table.nbytes


@pytest.mark.parametrize("units_from", [512, 1024, Plan().units_from])
def test_every_unit_of_a_row_has_entries(units_from):
    """A kernel without barriers relies on it: who reads nothing waits for nothing."""
    assert units_from % (32 * UNIT) == 0
    for units, more in product((2, 3, 7), (1, 2, 255, 256, 257)):
        length = (units - 1) * units_from + more
        starts, indices = np.array([0, length]), np.arange(length, dtype=np.int32)
        rows = SparseRows(np.ones(length), indices, starts, (1, length))
        plan = Plan(units_from=units_from)
        slices = in_slices(rows, plan, np.array([0]), np.arange(length), Packed())
        assert slices.splits.shape[0] == units
        assert np.all(slices.values.reshape(units, -1).sum(axis=1) > 0)
