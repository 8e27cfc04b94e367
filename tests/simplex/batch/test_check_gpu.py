"""The check of batches on a GPU against its twin."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.simplex.batch.kernels.check import FAMILY, INSIDE
from solvers.simplex.batch.kernels.check import FAMILY as CHECKS
from tests.simplex.batch.check_cases import SHAPES, Case, random_case, run_check

pytestmark = pytest.mark.gpu


def assert_same(case: Case) -> None:
    import cupy

    def run(values):
        FAMILY["check"](*values)

    expected, clipped = run_check(case, run)
    figures, y = (cupy.asnumpy(array) for array in run_check(case, run, cupy.asarray))
    np.testing.assert_array_equal(y, clipped)
    figures, expected = (array.reshape(case.count, -1) for array in (figures, expected))
    np.testing.assert_array_equal(figures[:, INSIDE], expected[:, INSIDE])
    np.testing.assert_allclose(figures, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("shape", [*SHAPES, (50, 100), (100, 200)], ids=str)
@pytest.mark.parametrize("density", [1.0, 0.2])
@pytest.mark.parametrize("varying", [(), ("values", "cost", "row_upper", "offset")])
def test_shapes(shape, density, varying):
    assert_same(random_case(1, 200, *shape, density=density, varying=varying))


@pytest.mark.parametrize("shape", [(1, 100_000), (100_000, 1), (40, 5000), (5000, 40)], ids=str)
@pytest.mark.parametrize("density", [1.0, 0.1])
def test_long_rows_and_columns(shape, density):
    assert_same(random_case(2, 3, *shape, density=density, varying=("cost",)))


def test_repeated_checks_give_the_same_bits():
    import cupy

    case = random_case(3, 500, 20, 40, varying=("values",))
    found = [
        run_check(case, lambda values: FAMILY["check"](*values), cupy.asarray)[0] for _ in range(2)
    ]
    np.testing.assert_array_equal(*(cupy.asnumpy(figures) for figures in found))


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 100_003])
def test_narrow_numbers(size):
    import cupy

    wide = np.random.default_rng(0).integers(0, 256, size).astype(np.int32)
    there = cupy.full(size + 3, 77, dtype=np.uint8)
    CHECKS["narrow"](size, cupy.asarray(wide), there)
    np.testing.assert_array_equal(cupy.asnumpy(there), [*wide.tolist(), 77, 77, 77])
