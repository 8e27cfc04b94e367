"""Pyomo's generic tests of solver interfaces, API version 2."""

from __future__ import annotations

import unittest

import pytest

from tests.conformance.pyomo_upstream import count_tests, new_interface_tests

pytest.importorskip("parameterized")

CLASSES = {
    name: item
    for name, item in vars(new_interface_tests()).items()
    if isinstance(item, type) and issubclass(item, unittest.TestCase)
}
globals().update(CLASSES)


def test_upstream_tests_are_all_there() -> None:
    """HiGHS, which cannot do special ordered sets, has 45 in Pyomo 6.10.1."""
    assert count_tests(CLASSES) >= 46
