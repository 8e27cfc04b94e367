"""How a model is laid out for propagation."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.mip.inference.propagation import DeviceModel
from solvers.mip.inference.propagation.boxes import places_of
from tests.mip.inference.propagation.models import AWKWARD, random_model


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
