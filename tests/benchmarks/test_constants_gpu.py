"""Constants get another value for one run, wherever they are read, and then their own again."""

from __future__ import annotations

import pytest

from benchmarks import constants_gpu
from benchmarks.constants_in_source import find
from solvers.knapsack.dp import cluster_lists
from solvers.knapsack.dp.gpu_lists import list_search, memory
from solvers.pdlp import settings


def test_a_constant_is_changed_where_it_stands_and_where_it_is_imported() -> None:
    folder = "solvers/knapsack/dp/gpu_lists"
    (constant,) = (one for one in find(folder) if one.name == "LARGEST_ROOM")
    before = memory.LARGEST_ROOM
    with constants_gpu.changed(constant, 0.5):
        assert before // 2 == memory.LARGEST_ROOM == vars(list_search)["LARGEST_ROOM"]
    assert before == memory.LARGEST_ROOM == vars(list_search)["LARGEST_ROOM"]


def test_one_of_the_same_name_and_value_elsewhere_stays() -> None:
    folder = "solvers/knapsack/dp/gpu_lists"
    (constant,) = (one for one in find(folder) if one.name == "GROWTH")
    before = cluster_lists.GROWTH
    assert before is list_search.GROWTH
    with constants_gpu.changed(constant, 2.0):
        assert 2 * before == list_search.GROWTH
        assert before == cluster_lists.GROWTH


def test_a_setting_is_changed_in_the_defaults() -> None:
    name = "ExecutionSettings.pack_from"
    (constant,) = (one for one in find("solvers/pdlp") if one.name == name)
    before = settings.DEFAULT
    with constants_gpu.changed(constant, 0.5):
        assert settings.DEFAULT.execution.pack_from == before.execution.pack_from // 2
    assert settings.DEFAULT is before


@pytest.mark.parametrize("part", constants_gpu.PARTS)
def test_every_part_has_constants_and_leaves_out_those_named(part: str) -> None:
    found = constants_gpu._constants(part, [])
    assert found
    assert constants_gpu._constants(part, [found[0].name]) == [
        one for one in found if one.name != found[0].name
    ]
