"""SciPy's own tests of ``milp`` and of ``linprog`` by HiGHS, with our functions in their place."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_bridge.adapters.scipy import linprog, milp

upstream_milp = pytest.importorskip("scipy.optimize.tests.test_milp")
upstream = pytest.importorskip("scipy.optimize.tests.test_linprog")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnknownMarkWarning"),
]

SCIPYS_WORDS = {
    "test_milp_iv",
    "test_result",
    "test_type_error",
    "test_unknown_options",
    "test_invalid_option_values",
    "test_integrality_without_highs",
    "test_callback",
}
"""About texts and kinds of errors and warnings; adapters/test_scipy.py has ours."""

OTHERWISE = {
    "test_maxiter": "wants a limit to be met that presolve makes needless",
    "test_bounds_fixed": "counts iterations",
    "test_singleton_row_eq_1": "counts iterations",
    "test_singleton_row_ub_1": "counts iterations",
    "test_mip_rel_gap_passdown": "compares gaps of runs that take half a minute",
    "test_crossover": "counts iterations of crossover",
    "test_semi_continuous": "has semi-continuous variables",
    "test_mip6": "takes as much of a processor as all the others together",
}


def ours(*arguments: Any, **named: Any) -> Any:
    """Call our function with our own choice of method."""
    named.pop("method", None)
    return linprog(*arguments, **named)


def is_long(test: Any) -> bool:
    return any(mark.name in ("slow", "xslow") for mark in getattr(test, "pytestmark", ()))


MILP_TESTS = {
    name: test
    for name, test in vars(upstream_milp).items()
    if name.startswith("test_") and name not in SCIPYS_WORDS and not is_long(test)
}
globals().update(MILP_TESTS)  # where pytest finds them, with their parameters


@pytest.fixture(autouse=True)
def _our_milp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream_milp, "milp", milp)


def test_there_are_as_many_as_ever() -> None:
    assert len(MILP_TESTS) >= 10


class _Linprog:
    """Leaves out what is about SciPy's words or asks for something else."""

    @pytest.fixture(autouse=True)
    def _with_ours(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        name = request.node.originalname
        if name in SCIPYS_WORDS:
            pytest.skip("about SciPy's texts")
        if name in OTHERWISE:
            pytest.skip(OTHERWISE[name])
        monkeypatch.setattr(upstream, "linprog", ours)


class TestLinprog(_Linprog, upstream.TestLinprogHiGHSSimplexDual):
    """SciPy's tests of linear programs."""


class TestLinprogIntegers(_Linprog, upstream.TestLinprogHiGHSMIP):
    """SciPy's tests of mixed-integer programs by ``linprog``."""
