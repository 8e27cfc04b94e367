"""What several files of tests share."""

from __future__ import annotations

import pytest

from tests.simplex.dense_gpu.device_code import Emulator


@pytest.fixture(scope="session")
def emulator(tmp_path_factory):
    """Device code compiled for this machine, each family once."""
    return Emulator(tmp_path_factory.mktemp("emulated"))
