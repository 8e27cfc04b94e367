"""The registry of engines: one row for each, with what it treats, where, and the route to it.

Choosing, running and refusing an engine read this table and nothing else about engines; what an
engine's claims rest on comes with its outcome (:class:`solvers.core.outcome.Proof`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpu_bridge.classify import KNAPSACKS, ProblemKind
from gpu_bridge.options import Options
from gpu_bridge.pipeline.routes import Choice, highs, interior_point, knapsack, mip, pdlp, simplex
from solvers.core.device import look_for
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
