"""Which engines contend for which model on which machine, and with what threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gpu_bridge.options import Options, make_options
from gpu_bridge.pipeline import contenders as module
from gpu_bridge.pipeline.contenders import (
    GPU_IPM,
    IPM,
    PDLP,
    SIMPLEX,
    make_contenders,
    plan_contenders,
)
from gpu_bridge.pipeline.registry import choose, title_of, unheeded
from solvers import highs
from solvers.core.device import Device
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from tests.cases import through
from tests.problems import LINEAR

GPU = Device("cuda", "Some GPU", 8 * 2**30, 4 * 2**30)


def sparse_problem(nonzeros: int) -> Problem:
    """Return a linear program of this many nonzeros, two in a row."""
    rows = nonzeros // 2
    index = np.arange(rows)
    from scipy.sparse import csr_array

    columns = np.concatenate([index, index + 1])
    matrix = csr_array((np.ones(2 * rows), (np.tile(index, 2), columns)), shape=(rows, rows + 1))
    return Problem.from_arrays(np.ones(rows + 1), matrix, np.ones(rows))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, bool], None]:
    """Return a function that makes this machine one of so many cores, with a GPU or without."""

    def make(cores: int, gpu: bool) -> None:
        monkeypatch.setattr(module, "usable_cores", lambda: cores)
        seen = GPU if gpu else None
        monkeypatch.setattr(module, "seen_gpu", lambda: seen)
        monkeypatch.setattr(
            module, "find_device", lambda wanted: seen or Device("cpu", "a processor")
        )

    return make


BOTH = (SIMPLEX, IPM)


@through(
    ("nonzeros", "cores", "gpu", "options", "names"),
    [
        (module.RACE_NONZEROS - 2, 16, True, {}, (SIMPLEX,)),
        (module.RACE_NONZEROS, 2, False, {}, BOTH),
        (module.RACE_NONZEROS, 16, True, {}, BOTH),
        (module.RACE_NONZEROS, 16, False, {"lp_algorithm": "ipm"}, (SIMPLEX,)),
        (module.PDLP_NONZEROS, 16, True, {}, (PDLP, *BOTH, GPU_IPM)),
        (module.PDLP_NONZEROS, 3, True, {}, (PDLP, *BOTH)),
        (module.PDLP_NONZEROS, 2, True, {}, (PDLP, SIMPLEX)),
        (module.PDLP_NONZEROS, 16, True, {"device": "cpu"}, (*BOTH, PDLP)),
        (module.PDLP_NONZEROS, 16, True, {"lp_algorithm": "ipm"}, (PDLP, SIMPLEX)),
        (module.PDLP_NONZEROS, 16, True, {"threads": 1}, (SIMPLEX,)),
        (module.PDLP_ALONE_NONZEROS, 16, True, {"threads": 1}, (PDLP,)),
        (module.PDLP_ALONE_NONZEROS, 16, False, {"threads": 1}, (SIMPLEX,)),
        (module.PDLP_NONZEROS - 2, 16, False, {}, BOTH),
        (module.PDLP_NONZEROS, 2, False, {}, (*BOTH, PDLP)),
        (module.PDLP_NONZEROS, 3, False, {"threads": 3}, (*BOTH, PDLP)),
        (module.PDLP_NONZEROS, 16, False, {"threads": 2}, BOTH),
        (module.PDLP_ALONE_NONZEROS, 16, False, {"threads": 2}, (SIMPLEX, PDLP)),
    ],
)
def test_the_engines_follow_from_size_and_machine(
    nonzeros: int,
    cores: int,
    gpu: bool,
    options: dict[str, object],
    names: tuple[str, ...],
    machine: Callable[[int, bool], None],
) -> None:
    machine(cores, gpu)
    plan = plan_contenders(sparse_problem(nonzeros), make_options(options))
    assert plan.names == names
    on_gpu = gpu and PDLP in names and options.get("device") != "cpu"
    assert plan.device == ("cuda" if on_gpu else "cpu")


def test_interior_point_stays_out_of_the_race_on_the_gpu_with_very_large_models(
    machine: Callable[[int, bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(16, True)
    monkeypatch.setattr(module, "GPU_IPM_NONZEROS", module.PDLP_NONZEROS - 1)
    plan = plan_contenders(sparse_problem(module.PDLP_NONZEROS), make_options())
    assert plan.names == (PDLP, *BOTH)


def test_the_choice_names_the_race(machine: Callable[[int, bool], None]) -> None:
    machine(16, True)
    choice = choose(sparse_problem(module.PDLP_NONZEROS), make_options())
    assert title_of(choice) == "race of pdlp on cuda, simplex, ipm and ipm on cuda"
    assert choice.device == "cuda"
    assert "first verified answer" in choice.reason
    idle = unheeded(make_options(pool_size=3, simplex_variant="dense", lp_algorithm="ipm"), choice)
    assert set(idle) == {"pool_size", "simplex_variant"}


def test_an_engine_asked_for_by_name_runs_alone(machine: Callable[[int, bool], None]) -> None:
    machine(16, True)
    problem = sparse_problem(module.PDLP_NONZEROS)
    for method in ("highs", "pdlp"):
        choice = choose(problem, make_options(method=method, device="cpu"))
        assert (choice.method, choice.contenders) == (method, ())


def test_pdlp_gets_the_threads_that_are_left(
    monkeypatch: pytest.MonkeyPatch, machine: Callable[[int, bool], None]
) -> None:
    machine(16, True)
    seen: dict[str, Options] = {}

    def route(problem: Problem, options: Options, *_: object, **_more: object) -> Outcome:
        seen["pdlp"] = options
        return Outcome(SolutionStatus.NOTHING, StopReason.EXHAUSTED)

    monkeypatch.setattr(module, "pdlp_route", route)
    problem = LINEAR[0].problem
    contenders = make_contenders((PDLP, *BOTH), "cuda", problem, make_options(), None)
    assert [contender.name for contender in contenders] == [PDLP, *BOTH]
    contenders[0].run(Progress())
    assert (seen["pdlp"].threads, seen["pdlp"].device) == (14, "cuda")


@pytest.mark.parametrize(
    ("threads", "beside", "left"), [(0, True, 13), (2, False, 1), (3, False, 1), (5, True, 2)]
)
def test_no_more_threads_work_than_are_asked_for(
    threads: int,
    beside: bool,
    left: int,
    monkeypatch: pytest.MonkeyPatch,
    machine: Callable[[int, bool], None],
) -> None:
    machine(16, False)
    problem, seen = LINEAR[0].problem, []
    nothing = Outcome(SolutionStatus.NOTHING, StopReason.EXHAUSTED)

    def route(problem: Problem, options: Options, *_: object, **__: object) -> Outcome:
        seen.append(options.threads)
        return nothing

    def both(own: object, reference: object, progress: Progress, size: int | None) -> Outcome:
        seen.append(size)
        return nothing

    monkeypatch.setattr(module, "OWN_IPM_NONZEROS", 0)
    monkeypatch.setattr(module, "pdlp_route", route)
    monkeypatch.setattr(module, "fitting_interior_point", both)
    options = make_options(threads=threads)
    for contender in make_contenders((*BOTH, PDLP), "cpu", problem, options, None)[1:]:
        contender.run(Progress())
    assert seen == [problem.num_nonzeros if beside else None, left]


@pytest.mark.parametrize(("memory", "names"), [(1e7, (SIMPLEX,)), (1e12, (SIMPLEX, IPM))])
def test_engines_that_do_not_fit_together_do_not_race(
    memory: float,
    names: tuple[str, ...],
    machine: Callable[[int, bool], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine(16, False)
    monkeypatch.setattr(module, "cpu", lambda: Device("cpu", "a processor", int(memory)))
    plan = plan_contenders(sparse_problem(module.RACE_NONZEROS), make_options())
    assert plan.names == names


def test_pdlp_waits_where_it_has_no_core_of_its_own(
    monkeypatch: pytest.MonkeyPatch, machine: Callable[[int, bool], None]
) -> None:
    began: list[float] = []

    def route(
        problem: Problem,
        options: Options,
        progress: Progress,
        *_: object,
        hedge: bool,
        **_more: object,
    ) -> Outcome:
        began.append(progress.seconds)
        return Outcome(SolutionStatus.NOTHING, StopReason.EXHAUSTED)

    monkeypatch.setattr(module, "pdlp_route", route)
    monkeypatch.setattr(module, "PDLP_WAITS", 0.2)
    for cores in (2, 3):
        machine(cores, False)
        contenders = make_contenders((*BOTH, PDLP), "cpu", LINEAR[0].problem, make_options(), None)
        contenders[-1].run(Progress())
    assert began[0] >= 0.2 > began[1]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_beside_pdlp_interior_point_needs_no_child_on_the_cpu(device, monkeypatch):
    in_child = []

    def noting(*_, in_child: bool, kept=in_child, **__):
        kept.append(in_child)
        return Outcome(SolutionStatus.NOTHING, StopReason.EXHAUSTED)

    monkeypatch.setattr(highs, "solve", noting)
    contenders = make_contenders((*BOTH, PDLP), device, LINEAR[0].problem, make_options(), None)
    contenders[1].run(Progress())
    assert in_child == [device == "cuda"]


@pytest.mark.parametrize("reason", [StopReason.NUMERICAL_TROUBLE, StopReason.CONVERGED])
def test_the_reference_engine_leaves_presolve_out_where_it_brought_trouble(reason, monkeypatch):
    asked = []

    def troubled(problem, options, *_, **__):
        asked.append(options.presolve)
        ended = reason if options.presolve else StopReason.CONVERGED
        return Outcome(SolutionStatus.FEASIBLE, ended, x=np.zeros(problem.num_columns))

    monkeypatch.setattr(highs, "solve", troubled)
    (simplex,) = make_contenders((SIMPLEX,), "cpu", LINEAR[0].problem, make_options(), None)
    assert simplex.run(Progress()).stop_reason is StopReason.CONVERGED
    assert asked == ([True, False] if reason is StopReason.NUMERICAL_TROUBLE else [True])
