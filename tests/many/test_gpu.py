"""solve_many on a GPU: what pays goes there, and the answers are those of the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import gpu_bridge
from tests.pdlp.batch.families import boxed_family, family

pytestmark = pytest.mark.gpu


def test_many_lps_go_to_the_gpu_by_themselves():
    batch = boxed_family(3, 500, 20, 40, ["cost", "coefficients"])
    found = gpu_bridge.solve_many(batch)
    assert {outcome.device for outcome in found} == {"cuda"}
    expected = gpu_bridge.solve_many(batch, method="highs")
    assert found.statuses == expected.statuses
    np.testing.assert_allclose(found.objectives, expected.objectives, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_every_kind_of_row_and_column(tolerance):
    batch = family(4, 300, 30, 45, ["cost", "row_upper", "upper"])
    found = gpu_bridge.solve_many(batch, method="pdlp", device="cuda", tolerance=tolerance)
    expected = gpu_bridge.solve_many(batch, method="highs")
    assert found.statuses == expected.statuses
    np.testing.assert_allclose(
        found.objectives, expected.objectives, rtol=100 * tolerance, atol=100 * tolerance
    )
