"""The GPU that tests of this folder run on."""

from __future__ import annotations

import pytest

from solvers.core.device import Device, find_device


@pytest.fixture(scope="module")
def gpu() -> Device:
    return find_device("cuda")
