"""How a model is laid out for propagation."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.mip.inference.propagation import DeviceModel
from solvers.mip.inference.propagation.boxes import places_of
from solvers.mip.inference.propagation.on_device import BLOCK, HEAVY_ROW, plan_rows
from tests.mip.inference.propagation.models import AWKWARD, random_model


@pytest.mark.parametrize(
    "lengths",
    [[], [0], [0, 1, 5, 100_000, 3, 300, 16_384, 16_385, 128, 129], list(range(300))],
    ids=["none", "empty", "mixed", "rising"],
)
def test_every_row_has_one_place_in_one_bin(lengths):
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    plan = plan_rows(starts, cpu())
    light = np.concatenate(
        [plan.order[first : first + count] for _, first, count, _ in plan.bins]
        or [np.zeros(0, int)]
    )
    heavy = plan.heavy[:, 0]
    assert sorted([*light, *heavy]) == list(range(len(lengths)))
    assert all(lengths[i] > HEAVY_ROW for i in heavy)
    first_block = 0
    for begin, first, count, threads in plan.bins:
        assert begin == first_block
        assert BLOCK % threads == 0
        assert all(lengths[i] <= HEAVY_ROW for i in plan.order[first : first + count])
        first_block += -(-count // (BLOCK // threads))
    assert plan.blocks == first_block


def test_parts_of_heavy_rows_cover_them():
    starts = np.array([0, 20_000, 20_005, 120_005], dtype=np.int32)
    plan = plan_rows(starts, cpu())
    entries = [np.arange(first, last) for _, _, first, last in plan.parts]
    expected = np.r_[np.arange(20_000), np.arange(20_005, 120_005)]
    np.testing.assert_array_equal(np.concatenate(entries), expected)
    for place, (row, first, count) in enumerate(plan.heavy):
        assert (plan.parts[first : first + count, :2] == [place, row]).all()


@pytest.mark.parametrize("model", [random_model(1, 9, 14, mixed=True)[0], *map(
    lambda name: AWKWARD[name](), ("no rows", "no columns", "empty rows", "rows of all lengths")
)])  # fmt: skip
def test_places_put_binary_columns_first_everywhere(model):
    places = places_of(DeviceModel.of(model, cpu()))
    assert model.is_binary[places.column[: places.binaries]].all()
    assert not model.is_binary[places.column[places.binaries :]].any()
    np.testing.assert_array_equal(places.column[places.of_column], np.arange(model.num_columns))
    for i in range(model.num_rows):
        first, last = model.rows.indptr[i], model.rows.indptr[i + 1]
        columns = places.column[places.row_place[first:last]]
        weights = dict(zip(columns, places.row_weight[first:last], strict=True))
        assert weights == dict(
            zip(model.rows.indices[first:last], model.rows.data[first:last], strict=True)
        )
        is_binary = model.is_binary[columns]
        assert is_binary[: places.row_split[i] - first].all()
        assert not is_binary[places.row_split[i] - first :].any()
        sizes = np.abs(places.row_weight[first:last])[is_binary]
        assert places.row_largest[i] == np.max(sizes, initial=0.0)
