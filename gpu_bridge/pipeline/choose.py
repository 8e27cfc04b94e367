"""Which engine takes a problem, by structure, size and device, and the sentence that says why."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_bridge.classify import ProblemClass, ProblemKind, classify
from gpu_bridge.options import Options
from gpu_bridge.pipeline.contenders import PDLP, plan_contenders
from gpu_bridge.pipeline.routes.simplex import simplex_place
from solvers.core.device import look_for, seen_gpu
from solvers.core.errors import EngineError, OptionError
from solvers.core.problem import Problem

KNAPSACKS = frozenset(
    {
        ProblemKind.KNAPSACK,
        ProblemKind.KNAPSACK_CHOICE,
        ProblemKind.KNAPSACK_MULTIPLE,
        ProblemKind.KNAPSACK_ROWS,
    }
)

EXACT_ROWS, EXACT_ITEMS = 10, 500
"""Rows and items of a multidimensional knapsack problem up to which ``auto`` has it solved exactly:
where a proof is seconds or minutes away; larger ones keep heuristics beside branch and bound."""


@dataclass(frozen=True)
class Capability:
    """What an engine can treat, and where."""

    kinds: frozenset[ProblemKind]
    devices: frozenset[str]


ENGINES = {
    "highs": Capability(frozenset(ProblemKind), frozenset({"cpu"})),
    "pdlp": Capability(frozenset({ProblemKind.EMPTY, ProblemKind.LP}), frozenset({"cpu", "cuda"})),
    "simplex": Capability(
        frozenset({ProblemKind.EMPTY, ProblemKind.LP}), frozenset({"cpu", "cuda"})
    ),
    "mip": Capability(frozenset({ProblemKind.MIP, *KNAPSACKS}), frozenset({"cpu", "cuda"})),
    "knapsack": Capability(KNAPSACKS, frozenset({"cpu"})),
}
"""The capability table: which engine takes which kind of problem on which device."""


@dataclass(frozen=True)
class Choice:
    """The engine that will answer, where it runs, and why it was picked.

    In a race ``method`` is ``race``, ``contenders`` names the engines, and ``device`` is the
    fastest one that any of them uses. With ``then`` branch and bound goes on where the engine does
    not end in its share of the time.
    """

    method: str
    device: str
    reason: str
    contenders: tuple[str, ...] = ()
    then: bool = False

    @property
    def title(self) -> str:
        """Which engines run, and where."""
        if not self.contenders:
            return f"{self.method} on {self.device}"
        places = [
            name if name != PDLP or self.device == "cpu" else f"{name} on {self.device}"
            for name in self.contenders
        ]
        return f"race of {', '.join(places[:-1])} and {places[-1]}"


def choose(problem: Problem, options: Options) -> Choice:
    """Pick an engine by structure, size and device.

    Raises
    ------
    OptionError
        The method asked for cannot treat this kind of problem.
    DeviceError
        A GPU was asked for where there is none.
    """
    found = classify(problem)
    on_gpu = options.device.startswith("cuda")
    if on_gpu:
        look_for(options.device)  # says what is missing
    if options.method != "auto":
        engine = ENGINES[options.method]
        if found.kind not in engine.kinds:
            raise OptionError(_unfit(options.method, found))
        place = "cpu"
        if options.method == "simplex":
            place = simplex_place(problem, options)
        elif "cuda" in engine.devices:
            place = options.device if on_gpu else _place(options)
        return Choice(options.method, place, f"{found.sentence}; the method was asked for")
    missing = missing_part()
    if missing:
        return Choice("highs", "cpu", f"{found.sentence}. {missing}")
    if _is_for_exact_engine(problem, found.kind) and not options.heuristics_only:
        then = found.kind is ProblemKind.KNAPSACK_MULTIPLE
        return Choice("knapsack", "cpu", f"{found.sentence}, which is solved exactly", then=then)
    if found.kind in ENGINES["mip"].kinds:
        seen = options.device == "auto" and seen_gpu() is not None  # without loading CuPy
        place = options.device if on_gpu else "cuda" if seen else "cpu"
        return Choice("mip", place, f"{found.sentence}; {_mip_reason(options)}")
    if found.kind is not ProblemKind.LP:
        return Choice("highs", "cpu", f"{found.sentence}, which the reference engine solves")
    if on_gpu:
        return Choice("pdlp", options.device, f"{found.sentence} for the GPU")
    plan = plan_contenders(problem, options)
    if len(plan.names) > 1:
        return Choice("race", plan.device, f"{found.sentence}; {plan.reason}", plan.names)
    method = "pdlp" if plan.names == (PDLP,) else "highs"
    return Choice(method, plan.device, f"{found.sentence}, {plan.reason}")


def missing_part() -> str:
    """Return why no engine of our own can run here; empty where they can."""
    try:
        import solvers.native  # noqa: F401 (raises where it cannot be used)
    except EngineError as error:
        return str(error)
    return ""


def _place(options: Options) -> str:
    """Return the kind of device that is meant, without loading CuPy."""
    device = look_for(options.device)
    return "cpu" if device.note else device.kind


def _is_for_exact_engine(problem: Problem, kind: ProblemKind) -> bool:
    if kind is ProblemKind.KNAPSACK_ROWS:
        return problem.num_rows <= EXACT_ROWS and problem.num_columns <= EXACT_ITEMS
    return kind in KNAPSACKS


def _unfit(method: str, found: ProblemClass) -> str:
    if method == "knapsack":
        return (
            f"method='{method}' treats models of one capacity constraint over whole-number columns "
            "(or of a few dense ones, of one beside constraints that "
            "choose one column each, or of several knapsacks that share their items) with rational "
            f"coefficients, and this is {found.sentence}; use method='auto'."
        )
    if ProblemKind.MIP in ENGINES[method].kinds:
        return (
            f"method='{method}' treats models with integer variables only, and this is "
            f"{found.sentence}; use method='auto'."
        )
    return (
        f"method='{method}' treats linear programs only, and this is {found.sentence}; use "
        "method='auto', or relax=True for its relaxation."
    )


def _mip_reason(options: Options) -> str:
    if options.heuristics_only:
        return "heuristics, without a bound"
    return "heuristics beside branch and bound"
