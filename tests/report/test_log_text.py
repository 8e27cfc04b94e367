"""Numbers, shares, times and sizes as the log writes them."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_bridge.report import log_text
from tests.cases import through


@through(
    ("value", "text"),
    [
        (np.nan, "-"),
        (-np.inf, "-"),
        (0.0, "0"),
        (-0.0, "0"),
        (1234567.0, "1234567"),
        (0.1, "0.1"),
        (1e15, "1e+15"),
        (27800.123456, "27800.12346"),
    ],
)
def test_number(value: float, text: str) -> None:
    assert log_text.number(value) == text


@pytest.mark.parametrize(
    ("gap", "text"),
    [
        (np.inf, "-"),
        (0.0, "0.00%"),
        (0.123456, "12.35%"),
        (2e-6, "0.0002%"),
        (1e-9, "<0.0001%"),
        (1e9, "large"),
    ],
)
def test_percentage(gap: float, text: str) -> None:
    assert log_text.percentage(gap) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0.0s"), (59.94, "59.9s"), (61, "1:01"), (3661, "1:01:01")]
)
def test_clock(seconds: float, text: str) -> None:
    assert log_text.clock(seconds) == text


def test_byte_size() -> None:
    sizes = [log_text.byte_size(count) for count in (5, 2048, 3 * 2**30, 5 * 2**40)]
    assert sizes == ["5 B", "2.0 KiB", "3.0 GiB", "5.0 TiB"]
