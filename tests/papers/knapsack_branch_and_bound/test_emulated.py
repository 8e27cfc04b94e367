"""The device code of the tree, run on the host, against its twins."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.knapsack.efficiency import by_efficiency
from solvers.knapsack.items import normal_form
from solvers.papers.knapsack_branch_and_bound.engine import TreeSettings, branch_and_bound
from solvers.papers.knapsack_branch_and_bound.kernels.nodes import EACH, FAMILY, TILE, WIDE
from solvers.papers.knapsack_branch_and_bound.nodes import word_type
from tests.cases import through
from tests.emulator import Emulated, needs_compiler
from tests.knapsack.brute import CLASSES, instance
from tests.papers.knapsack_branch_and_bound.cases import KINDS, assert_same, level, some_items

pytestmark = needs_compiler
WORDS = {1000: "int32", 10**6: "int64"}


@pytest.fixture(scope="module")
def emulation():
    return Emulated(FAMILY)


@contextmanager
def replaced(emulation):
    """Let lists use the device code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("solvers.papers.knapsack_branch_and_bound.nodes.FAMILY", emulation)
        yield


@through(
    ("count", "largest"),
    [
        *((count, 1000) for count in (1, 32, 255, 257, TILE, TILE + 1, 3 * TILE - 5)),
        *((count, 10**6) for count in (257, 3 * TILE - 5)),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_level(emulation, kind, count, largest):
    items = some_items(kind, largest)
    assert np.dtype(word_type(items)) == WORDS[largest]
    leads = (0, 100, 10_000)
    here = [level(np, items, count, lead) for lead in leads]
    with replaced(emulation):
        for lead, twin in zip(leads, here, strict=True):
            assert_same(twin, level(np, items, count, lead))


def test_sums_over_many_tiles(emulation):
    tiles = WIDE * EACH // 2 + 77
    counts = np.random.default_rng(0).integers(0, 9, 2 * tiles)
    control = np.zeros(9, dtype=np.int64)
    places = counts.copy()
    emulation["places"](places, control, tiles)
    np.testing.assert_array_equal(places, np.cumsum(counts) - counts)
    assert counts.sum() in control


@pytest.mark.parametrize("kind", CLASSES)
def test_whole_problems(emulation, kind):
    problem = instance(kind, 24, 100 if kind != "similar" else 10, 4)
    items = by_efficiency(normal_form(problem).knapsack)
    ways = [TreeSettings(merged=merged) for merged in (False, True)]
    here = [branch_and_bound(items, cpu(), lambda: False, way) for way in ways]
    with replaced(emulation):
        for way, twin in zip(ways, here, strict=True):
            found = branch_and_bound(items, cpu(), lambda: False, way)
            assert (found.profit, found.nodes) == (twin.profit, twin.nodes)
            np.testing.assert_array_equal(found.flags, twin.flags)
