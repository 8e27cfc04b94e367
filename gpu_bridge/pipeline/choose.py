"""Which engine takes a problem, by structure, size and device, and the sentence that says why."""

from __future__ import annotations

import dataclasses

from gpu_bridge.classify import KNAPSACKS, ProblemClass, ProblemKind, classify
from gpu_bridge.options import Options
from gpu_bridge.pipeline.registry import ENGINES
from gpu_bridge.pipeline.routes import PDLP, RACE, Choice
from solvers.core.device import look_for, seen_gpu
from solvers.core.errors import EngineError, OptionError
from solvers.core.problem import Problem

EXACT_ROWS, EXACT_ITEMS = 10, 500
"""Rows and items of a multidimensional knapsack problem up to which ``auto`` has it solved exactly:
where a proof is seconds or minutes away; larger ones keep heuristics beside branch and bound."""


def choose(problem: Problem, options: Options) -> Choice:
    """Pick an engine by structure, size and device.

    Raises
    ------
    OptionError
        The method asked for cannot treat this kind of problem.
        Or a cluster where every run has to be the same.
    DeviceError
        A GPU was asked for where there is none.
    """
    found = classify(problem)
    if is_for_cluster(problem, options):
        choice = _here(problem, dataclasses.replace(options, device="cpu"), found)
        if choice.method == "mip":
            return dataclasses.replace(choice, on_cluster=True)
    return _here(problem, options, found)


def is_for_cluster(problem: Problem, options: Options) -> bool:
    """Whether a problem goes to a cluster if nothing better is known for its kind.

    Raises
    ------
    OptionError
        Every run is to be the same, which members on several nodes do not keep.
    """
    if options.cluster is None or not problem.is_mip:
        return False
    if options.deterministic:
        raise OptionError(
            f"deterministic=True does not go with cluster='{options.cluster}', where members hear "
            "of each other as the clock has it; leave one of the two out."
        )
    return options.method in ("auto", "mip")


def _here(problem: Problem, options: Options, found: ProblemClass) -> Choice:
    """Pick an engine that runs in this process."""
    on_gpu = options.device.startswith("cuda")
    if on_gpu:
        look_for(options.device)  # says what is missing
    if options.method != "auto":
        return _asked_for(problem, options, found)
    missing = missing_part()
    if missing:
        return Choice("highs", "cpu", f"{found.sentence}. {missing}")
    if _is_for_exact_engine(problem, found.kind) and not options.heuristics_only:
        then = found.kind is ProblemKind.KNAPSACK_MULTIPLE
        return Choice("knapsack", "cpu", f"{found.sentence}, which is solved exactly", then=then)
    if found.kind is ProblemKind.MIP or found.kind in KNAPSACKS:
        seen = options.device == "auto" and seen_gpu() is not None  # without loading CuPy
        place = options.device if on_gpu else "cuda" if seen else "cpu"
        return Choice("mip", place, f"{found.sentence}; {_mip_reason(options)}")
    if found.kind is not ProblemKind.LP:
        return Choice("highs", "cpu", f"{found.sentence}, which the reference engine solves")
    if on_gpu:
        return Choice(PDLP, options.device, f"{found.sentence} for the GPU")
    from gpu_bridge.pipeline.contenders import plan_contenders  # for linear programs only

    plan = plan_contenders(problem, options)
    if len(plan.names) > 1:
        return Choice(RACE, plan.device, f"{found.sentence}; {plan.reason}", plan.names)
    method = PDLP if plan.names == (PDLP,) else "highs"
    return Choice(method, plan.device, f"{found.sentence}, {plan.reason}")


def _asked_for(problem: Problem, options: Options, found: ProblemClass) -> Choice:
    """Return the engine that was asked for."""
    engine = ENGINES[options.method]
    if found.kind not in engine.kinds:
        raise OptionError(
            f"method='{options.method}' treats {engine.treats}, and this is {found.sentence}; use "
            f"method='auto'{engine.instead}."
        )
    place = engine.place(problem, options)
    return Choice(options.method, place, f"{found.sentence}; the method was asked for")


def missing_part() -> str:
    """Return why no engine of our own can run here; empty where they can."""
    try:
        import solvers.native  # noqa: F401 (raises where it cannot be used)
    except EngineError as error:
        return str(error)
    return ""


def _is_for_exact_engine(problem: Problem, kind: ProblemKind) -> bool:
    if kind is ProblemKind.KNAPSACK_MULTIDIMENSIONAL:
        return problem.num_rows <= EXACT_ROWS and problem.num_columns <= EXACT_ITEMS
    return kind in KNAPSACKS


def _mip_reason(options: Options) -> str:
    if options.heuristics_only:
        return "heuristics, without a bound"
    return "heuristics beside branch and bound"
