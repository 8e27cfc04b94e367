"""Constants are found in the source, have a reason beside them, and stand on a page of measures."""

from __future__ import annotations

import re

import pytest

from benchmarks.constants_in_source import NATIVE, ROOT, Constant, find


def test_every_constant_of_the_mip_engine_stands_on_the_page():
    page = (ROOT / "docs" / "mip-constants.md").read_text()
    known = {name.rpartition(".")[2] for name in re.findall(r"`([\w.]+)`", page)}
    missing = {one.key for one in find("solvers/mip") if one.name not in known}
    assert not missing, "measure them: python -m benchmarks.constants"


def test_constants_of_the_mip_engine_have_a_reason():
    without = [one.key for one in find("solvers/mip") if not one.reason]
    assert not without, "a constant wants a text with its unit and why it is what it is"


@pytest.mark.parametrize("folder", ["solvers/mip", "solvers/pdlp"])
def test_places_are_those_of_the_values(folder):
    constants = find(folder)
    assert constants
    for constant in constants:
        for file, begin, end in constant.places:
            text = (ROOT / file).read_bytes()[begin:end].decode()
            plain = text.replace("'", "") if file.endswith(NATIVE) else text
            assert eval(plain, {}) == constant.value, f"{file}: {text}"


def test_numbers_of_both_languages_are_one_constant():
    tolerance = [one for one in find("solvers/mip") if one.name == "FEASIBILITY_TOLERANCE"]
    assert [len(one.places) for one in tolerance] == [2]


@pytest.mark.parametrize(
    ("value", "factor", "expected"),
    [(3, 0.5, 1), (1, 0.5, 1), (0.3, 2.0, 0.6), ((1, 4.0), 2.0, (2, 8.0))],
)
def test_an_integer_stays_one(value, factor, expected):
    assert Constant("A", value, "", (("a.py", 0, 1),)).times(factor) == expected
