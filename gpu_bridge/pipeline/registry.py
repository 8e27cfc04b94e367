"""The registry of engines: one row for each, with what it treats, where, and the route to it.

Choosing, running and refusing an engine read this table and nothing else about engines; what an
engine's claims rest on comes with its outcome (:class:`solvers.core.outcome.Proof`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from gpu_bridge.classify import KNAPSACKS, ProblemClass, ProblemKind, classify
from gpu_bridge.options import Options, option_table
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


@dataclass(frozen=True)
class Engine:
    """What an engine treats, and how it is run."""

    kinds: frozenset[ProblemKind]
    devices: frozenset[str]
    """Where it begins, of ``cpu`` and ``cuda``; a knapsack's long lists move on later."""
    run: Route
    options: frozenset[str]
    """Which of the options that only some engines read it reads."""
    treats: str
    """What the sentence that refuses other models says it treats."""
    place: Callable[[Problem, Options], str] = place_by_device
    """Which of them, for a problem for which this engine was asked."""
    in_doubles: bool = True
    """Whether magnitudes that doubles cannot hold together make its claims doubtful."""


FIRST_ORDER = frozenset({"iteration_limit", "crossover"})

OF_RACES = FIRST_ORDER | {"lp_algorithm"}
"""What contenders read: simplex is the reference engine's there, and so may interior point be."""

ENGINES = {
    "highs": Engine(
        frozenset(ProblemKind),
        CPU,
        highs.run,
        frozenset({"iteration_limit", "node_limit", "crossover", "lp_algorithm"}),
        "all models",
    ),
    "pdlp": Engine(
        LINEAR,
        EVERYWHERE,
        pdlp.run,
        FIRST_ORDER,
        "linear programs only",
    ),
    "ipm": Engine(
        LINEAR,
        EVERYWHERE,
        interior_point.run,
        FIRST_ORDER,
        "linear programs only",
    ),
    "simplex": Engine(
        LINEAR,
        EVERYWHERE,
        simplex.run,
        frozenset({"iteration_limit", "simplex_variant"}),
        "linear programs only",
        simplex.place,
    ),
    "mip": Engine(
        frozenset({ProblemKind.MIP, *KNAPSACKS}),
        EVERYWHERE,
        mip.run,
        frozenset({"node_limit", "pool_size", "heuristics_only", "deterministic", "work_limit"}),
        "models with integer variables only",
    ),
    "knapsack": Engine(
        KNAPSACKS,
        CPU,
        knapsack.run,
        frozenset(),
        "models of one capacity constraint over whole-number columns (or of a few dense ones, of "
        "one beside constraints that choose one column each, or of several knapsacks that share "
        "their items) with rational coefficients",
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
    if options.device.startswith("cuda"):
        look_for(options.device)  # says what is missing
    if options.method != "auto":
        return _asked_for(problem, options, found)
    chosen = (rule(problem, options, found) for rule in AUTOMATIC)
    return next(choice for choice in chosen if choice is not None)


def title_of(choice: Choice) -> str:
    """Return which engines run, and where."""
    if choice.on_cluster:
        return f"{choice.method} on a cluster"
    if not choice.contenders:
        return f"{choice.method} on {choice.device}"
    places = [
        name if name != PDLP or choice.device == "cpu" else f"{name} on {choice.device}"
        for name in choice.contenders
    ]
    return f"race of {', '.join(places[:-1])} and {places[-1]}"


def unheeded(options: Options, choice: Choice) -> list[str]:
    """Return which options that were set the engines of a choice do not read."""
    some = frozenset().union(*(engine.options for engine in ENGINES.values()))
    read = OF_RACES if choice.contenders else ENGINES[choice.method].options
    if choice.then:
        read |= ENGINES["mip"].options
    if options.pool_search == "best":
        read |= {"pool_size"}  # points are looked for after any engine
    set_here = (row for row in option_table() if row.name in some - read)
    return [row.name for row in set_here if getattr(options, row.name) != row.default]


def _without_our_own(problem: Problem, options: Options, found: ProblemClass) -> Choice | None:
    """Choose the reference engine where no engine of our own can run, and say why."""
    missing = missing_part()
    return Choice("highs", "cpu", f"{found.sentence}. {missing}") if missing else None


def _exactly(problem: Problem, options: Options, found: ProblemClass) -> Choice | None:
    is_small = problem.num_rows <= EXACT_ROWS and problem.num_columns <= EXACT_ITEMS
    is_hard = found.kind is ProblemKind.KNAPSACK_MULTIDIMENSIONAL and not is_small
    if found.kind not in KNAPSACKS or is_hard or options.heuristics_only:
        return None
    then = found.kind is ProblemKind.KNAPSACK_MULTIPLE
    return Choice("knapsack", "cpu", f"{found.sentence}, which is solved exactly", then=then)


def _with_heuristics(problem: Problem, options: Options, found: ProblemClass) -> Choice | None:
    if found.kind not in ENGINES["mip"].kinds:
        return None
    seen = options.device == "auto" and seen_gpu() is not None  # without loading CuPy
    place = "cuda" if seen else "cpu"
    if options.device.startswith("cuda"):
        place = options.device
    beside = ", without a bound" if options.heuristics_only else " beside branch and bound"
    return Choice("mip", place, f"{found.sentence}; heuristics{beside}")


def _on_gpu(problem: Problem, options: Options, found: ProblemClass) -> Choice | None:
    if found.kind is not ProblemKind.LP or not options.device.startswith("cuda"):
        return None
    return Choice(PDLP, options.device, f"{found.sentence} for the GPU")


def _among_contenders(problem: Problem, options: Options, found: ProblemClass) -> Choice | None:
    if found.kind is not ProblemKind.LP:
        return None
    from gpu_bridge.pipeline.contenders import plan_contenders  # for linear programs only

    plan = plan_contenders(problem, options)
    if len(plan.names) > 1:
        return Choice(RACE, plan.device, f"{found.sentence}; {plan.reason}", plan.names)
    method = PDLP if plan.names == (PDLP,) else "highs"
    return Choice(method, plan.device, f"{found.sentence}, {plan.reason}")


def _by_reference(problem: Problem, options: Options, found: ProblemClass) -> Choice | None:
    return Choice("highs", "cpu", f"{found.sentence}, which the reference engine solves")


AUTOMATIC: tuple[Callable[[Problem, Options, ProblemClass], Choice | None], ...] = (
    _without_our_own,
    _exactly,
    _with_heuristics,
    _on_gpu,
    _among_contenders,
    _by_reference,
)
"""How ``method='auto'`` chooses: the first of these that has an answer."""


def _asked_for(problem: Problem, options: Options, found: ProblemClass) -> Choice:
    """Return the engine that was asked for."""
    engine = ENGINES[options.method]
    if found.kind not in engine.kinds:
        instead = ", or relax=True for its relaxation" if engine.kinds == LINEAR else ""
        raise OptionError(
            f"method='{options.method}' treats {engine.treats}, and this is {found.sentence}; use "
            f"method='auto'{instead}."
        )
    place = engine.place(problem, options) if "cuda" in engine.devices else "cpu"
    return Choice(options.method, place, f"{found.sentence}; the method was asked for")


def missing_part() -> str:
    """Return why no engine of our own can run here; empty where they can."""
    try:
        import solvers.native  # noqa: F401 (raises where it cannot be used)
    except EngineError as error:
        return str(error)
    return ""
