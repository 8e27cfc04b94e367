"""The device code, built once."""

from __future__ import annotations

import pytest

from tests.knapsack.dp.gpu_lists import emulated


@pytest.fixture(scope="session")
def device_code(tmp_path_factory):
    if emulated.COMPILER is None:
        pytest.skip("there is no C++ compiler")
    return emulated.Emulated(emulated.build(tmp_path_factory.mktemp("lists")))
