"""The split of models into those for choosing constants and those for reporting."""

import pytest

from benchmarks.families import FAMILIES
from benchmarks.halves import HALVES, half_of, members
from tests.cases import through


def test_a_model_stays_in_its_half():
    # these three decide what was tuned on what; another split would make past choices dishonest
    assert [half_of(name) for name in ("energy", "staircase", "greenbea")] == [
        "choosing",
        "reporting",
        "reporting",
    ]


@pytest.mark.parametrize("kin", [("pds-10", "pds-50", "PDS-100"), ("gen_ip002", "gen_ip016")])
def test_sizes_of_one_model_are_on_one_side(kin):
    assert len({half_of(name) for name in kin}) == 1


@through("name", FAMILIES)
def test_a_family_is_on_one_side_with_all_its_programs(name):
    assert {half_of(FAMILIES[name].make(size, 0).name) for size in (3_000, 9_000)} == {
        half_of(name)
    }


def test_the_halves_are_a_split():
    names = [f"model{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    parts = [members(names, half) for half in HALVES]
    assert sorted(parts[0] + parts[1]) == names
    assert all(parts)
