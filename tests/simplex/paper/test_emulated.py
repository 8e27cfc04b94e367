"""The device code itself, run on the host lane by lane, against its twins."""

from __future__ import annotations

import pytest

from solvers.device import cpu
from solvers.simplex.paper.kernels.iterate import ITERATE
from solvers.simplex.paper.kernels.layout import BLAND
from solvers.simplex.paper.kernels.resident import RESIDENT
from tests.mip.walkers.emulated import COMPILER, build, launch
from tests.simplex.paper.stepping import CASES, KINDS, copied, prepared, step_both

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")


@pytest.fixture(scope="module")
def emulate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("emulated")
    libraries = {family.stem: build(family, folder) for family in (ITERATE, RESIDENT)}

    def run(call):
        launch(libraries[call.family.stem], call.family.kernels[call.name], call.values)

    return run


@pytest.mark.parametrize("variant", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_lanes_do_what_the_twins_do(case, variant, emulate):
    pivots = prepared(variant, case, cpu())
    step_both(pivots, copied(pivots, cpu()), emulate)


@pytest.mark.parametrize("variant", KINDS)
def test_lanes_follow_blands_rule_as_the_twins_do(variant, emulate):
    pivots = prepared(variant, "degenerate", cpu())
    pivots.space.control[BLAND] = 1.0
    step_both(pivots, copied(pivots, cpu()), emulate)
