"""The registry of engines: one row for each, with what it treats, where, and the route to it.

Choosing, running and refusing an engine read this table and nothing else about engines; what an
engine's claims rest on comes with its outcome (:class:`solvers.core.outcome.Proof`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from gpu_bridge.classify import KNAPSACKS, ProblemClass, ProblemKind, classify
from gpu_bridge.options import Options
from gpu_bridge.pipeline.routes import (
    PDLP,
    RACE,
    Choice,
    highs,
    interior_point,
    knapsack,
    mip,
    pdlp,
    simplex,
)
from solvers.core.device import look_for, seen_gpu
from solvers.core.errors import EngineError, OptionError
from solvers.core.outcome import Outcome, Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress

Route = Callable[[Problem, Options, Choice, Progress, Start | None], Outcome]
"""Presolves, runs an engine and undoes presolve; returns what is not verified yet."""

LINEAR = frozenset({ProblemKind.EMPTY, ProblemKind.LP})
CPU, EVERYWHERE = frozenset({"cpu"}), frozenset({"cpu", "cuda"})


def place_by_device(problem: Problem, options: Options) -> str:
    """Return the device that the options mean, without loading CuPy."""
    if options.device.startswith("cuda"):
        return options.device
    device = look_for(options.device)
    return "cpu" if device.note else device.kind


def place_on_cpu(problem: Problem, options: Options) -> str:
    """Return the CPU, whatever the options say."""
    return "cpu"


@dataclass(frozen=True)
class Engine:
    """What an engine treats, and how it is run.

    Parameters
    ----------
    kinds : set of ProblemKind
    devices : set of str
        ``cpu`` and ``cuda``, as far as it runs there.
    run : callable
    treats : str
        What the sentence that refuses other models says it treats.
    place : callable
        The device for a problem where this engine was asked for.
    in_doubles : bool
        Whether magnitudes that doubles cannot hold together make its claims doubtful.
    instead : str
        What that sentence proposes besides ``method='auto'``.
    """

    kinds: frozenset[ProblemKind]
    devices: frozenset[str]
    run: Route
    treats: str
    place: Callable[[Problem, Options], str] = place_by_device
    in_doubles: bool = True
    instead: str = ""


ENGINES = {
    "highs": Engine(frozenset(ProblemKind), CPU, highs.run, "all models", place_on_cpu),
    "pdlp": Engine(
        LINEAR,
        EVERYWHERE,
        pdlp.run,
        "linear programs only",
        instead=", or relax=True for its relaxation",
    ),
    "ipm": Engine(
        LINEAR,
        EVERYWHERE,
        interior_point.run,
        "linear programs only",
        instead=", or relax=True for its relaxation",
    ),
    "simplex": Engine(
        LINEAR,
        EVERYWHERE,
        simplex.run,
        "linear programs only",
        simplex.place,
        instead=", or relax=True for its relaxation",
    ),
    "mip": Engine(
        frozenset({ProblemKind.MIP, *KNAPSACKS}),
        EVERYWHERE,
        mip.run,
        "models with integer variables only",
    ),
    "knapsack": Engine(
        KNAPSACKS,
        CPU,
        knapsack.run,
        "models of one capacity constraint over whole-number columns (or of a few dense ones, of "
        "one beside constraints that choose one column each, or of several knapsacks that share "
        "their items) with rational coefficients",
        place_on_cpu,
        in_doubles=False,
    ),
}
"""Every method of the option table but ``auto``."""


# Which engine takes a problem, by structure, size and device, and the sentence that says why.


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
