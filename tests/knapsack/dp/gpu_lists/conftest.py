"""The device code, built once."""

from __future__ import annotations

import pytest

from solvers.knapsack.dp.gpu_lists.kernels.stages import FAMILY
from tests.emulator import COMPILER, Emulated


@pytest.fixture(scope="session")
def device_code():
    if COMPILER is None:
        pytest.skip("there is no C++ compiler")
    return Emulated(FAMILY)
