"""Constants get another value for one run, wherever they are read, and then their own again."""

from __future__ import annotations

import pytest

from benchmarks import constants_gpu
from benchmarks.constants_in_source import find
from solvers.knapsack.dp.gpu_lists import memory
from solvers.pdlp import settings


def test_a_constant_is_changed_where_it_stands_and_where_it_is_imported() -> None:
    from benchmarks import knapsack_lists

    folder = "solvers/knapsack/dp/gpu_lists"
    (constant,) = (one for one in find(folder) if one.name == "STAGES_PER_BATCH")
    before = memory.STAGES_PER_BATCH
    with constants_gpu.changed(constant, 2.0):
        assert 2 * before == memory.STAGES_PER_BATCH
        assert before == knapsack_lists.STAGES_PER_BATCH  # of the benchmarks, not the program
    assert before == memory.STAGES_PER_BATCH


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
