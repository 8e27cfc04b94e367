"""The model as walkers read it, and the places of a record."""

from __future__ import annotations

import re
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.mip.heuristics.local_search.kernels import walk
from solvers.mip.heuristics.local_search.kernels.walk import Field
from solvers.mip.heuristics.local_search.layout import BOX, Layout
from tests.mip.heuristics.local_search.cases import CASES, INF, model_of


def test_fields_stand_where_the_loops_have_them():
    source = resources.files(walk.__package__).joinpath("model.cuh").read_text()
    block = re.search(r"enum Field \{(.*?)\}", source, re.S)
    assert block is not None
    names = [name.strip() for name in block[1].split(",")]
    assert names == [*(field.name for field in Field), "FIELDS"]
    assert len(Field) <= walk.RECORD


@pytest.mark.parametrize("name", CASES)
def test_layout_holds_the_rows_of_the_model(name):
    model = CASES[name]()
    layout = Layout.of(model, wide=True)
    arrays = layout.arrays
    by_row = layout.by_row.csr
    assert (by_row != layout.by_column.csr.T).nnz == 0
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = model.rounded(rng.normal(scale=3.0, size=model.num_columns))
        values = layout.values_of(x)
        assert np.array_equal(layout.point_of(values), x)
        slack = arrays["sides"] - by_row @ values
        width = np.r_[np.full(layout.inequalities, INF), arrays["ranges"]]
        ours = np.maximum(np.maximum(-slack, slack - width), 0.0)
        activity = model.activity(x)
        outside = np.maximum(model.row_lower - activity, activity - model.row_upper)
        used = model.rows.lengths > 0
        theirs = np.maximum(outside[used & np.isfinite(outside)], 0.0)
        np.testing.assert_allclose(
            np.sort(ours[ours > 1e-9]), np.sort(theirs[theirs > 1e-9]), atol=1e-9
        )
        assert arrays["costs"] @ values == pytest.approx(model.cost @ x)


def test_equations_have_a_row_for_each_side():
    model = model_of([1.0, 1.0], [[2.0, 1.0], [1.0, 8.0], [1.0, 1.0]], [3, 0, -INF], [3, 4, 1.0])
    arrays = Layout.of(model, wide=True).arrays
    assert arrays["sides"].tolist() == [3.0, 1.0, -3.0, 4.0]
    assert arrays["ranges"].tolist() == [4.0]
    assert arrays["row_value"][:6].tolist() == [2.0, 1.0, 1.0, 1.0, -2.0, -1.0]
    assert arrays["scales"].tolist() == [0.5, 1.0, 0.5, 0.125]


def test_columns_stand_by_kind():
    layout = Layout.of(CASES["mixed"]())
    low, high = layout.arrays["bounds"][0::2], layout.arrays["bounds"][1::2]
    assert 0 < layout.binaries < layout.integers < layout.columns
    assert np.all((low[: layout.binaries] == 0.0) & (high[: layout.binaries] == 1.0))
    assert np.abs(np.r_[low, high]).max() == BOX
    model = CASES["mixed"]()
    assert np.all(model.is_integer[layout.order[: layout.integers]] == 1)
    assert np.all(model.is_integer[layout.order[layout.integers :]] == 0)


@pytest.mark.parametrize(
    ("coefficient", "upper", "integrality", "real", "is_exact"),
    [
        (3.0, 10.0, True, "float32", True),
        (2.0**22, 10.0, True, "float64", True),
        (2.0**48, 10.0, True, "float64", False),
        (3.5, 10.0, True, "float64", False),
        (3.0, 10.0, False, "float64", False),
        (3.0, INF, True, "float64", True),
    ],
)
def test_short_numbers_only_where_they_are_exact(coefficient, upper, integrality, real, is_exact):
    model = model_of([1.0, 1.0], [[coefficient, 1.0]], [1.0], [INF], 0.0, upper, integrality)
    layout = Layout.of(model)
    assert (layout.real, layout.is_exact) == (real, is_exact)
    assert all(a.dtype in (np.int32, real, np.float64) for a in layout.arrays.values())


@pytest.mark.parametrize(
    ("cost", "integrality", "granularity"),
    [
        ([4.0, -6.0], True, 2.0),
        ([4.0, 0.5], True, 0.5),
        ([4.0, 2.5], True, 0.0),
        ([4.0, 6.0], False, 0.0),
        ([0, 0], True, 0),
    ],
)
def test_granularity_is_the_least_difference_of_objectives(cost, integrality, granularity):
    layout = Layout.of(model_of(cost, [[1.0, 1.0]], [1.0], [INF], integrality=integrality))
    assert layout.granularity == granularity


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=33, max_size=33))
def test_any_numbers_become_a_point_within_the_box(numbers):
    layout = Layout.of(CASES["mixed"](), wide=True)
    values = layout.values_of(np.array(numbers))
    low, high = layout.arrays["bounds"][0::2], layout.arrays["bounds"][1::2]
    assert np.all((low <= values) & (values <= high))
    whole = values[: layout.integers]
    assert np.array_equal(whole, np.round(whole))
