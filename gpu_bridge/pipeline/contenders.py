"""Which engines race on a linear program, what each of them runs, and the route of the race.

Measured one at a time on the 74 larger linear programs of the benchmark set (one core each),
simplex was the faster of the two algorithms of the reference engine on 52 and interior point on
22, often by a factor of ten; the sum of the better times is half of either's. Nothing about a
model tells beforehand which it will be, so both run where there is a core for each, and PDLP
beside them: on a GPU, or else on the CPU. It is the only one that has an approximate point with
duals while it is at work, which is what a time limit leaves of a model too large for the others.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from gpu_bridge.options import Options
from gpu_bridge.pipeline.interior_points import fitting_interior_point
from gpu_bridge.pipeline.race import Contender, race
from gpu_bridge.pipeline.routes import PDLP, RACE, Choice, interior_point
from gpu_bridge.pipeline.routes.pdlp import mended, pdlp_route
from gpu_bridge.pipeline.routes.shared_presolve import SharedPresolve
from gpu_bridge.pipeline.turns import Turns
from gpu_bridge.report.statistics import memory_needed
from solvers.core.device import cpu, find_device, seen_gpu
from solvers.core.errors import DeviceError, EngineError
from solvers.core.machine import usable_cores
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.process_state import Analyses
from solvers.core.progress import LOOK_AGAIN, Progress

RACE_NONZEROS = 5_000
"""From this size on several engines race; smaller models are solved before a race is set up."""

PDLP_NONZEROS = 20_000
"""From this size on PDLP takes part.

Below it simplex needs less time than copying a model and setting up scaling takes. The race makes
the threshold uncritical: too low costs a GPU some work, not the caller any time.
"""

PDLP_ALONE_NONZEROS = 200_000
"""The size from which PDLP is the one engine if there is a GPU and only one thread allowed.

On an H200 presolve, PDLP and crossover to a vertex were faster than HiGHS's simplex on all five
models beyond it and slower on most below (``benchmarks/results/lp-large-*``).
"""

PDLP_WAITS = 1.0
"""Seconds after which PDLP begins on the CPU where it has no core of its own and the model has
fewer nonzeros than :data:`PDLP_ALONE_NONZEROS`.

Of the fourteen families of ``benchmarks`` at 100,000 nonzeros simplex or interior point ends five
within a second of one core. PDLP ends all of them at 1e-4 within 4.3 s, two of which neither of the
others has solved after 20. It waits longer while our own interior point is at work on a sparse
factor, which ended all that it took on before PDLP did."""

OWN_IPM_NONZEROS = 10_000
"""The size from which our own interior point comes into question for that place in a race. On 27
models for reporting of this size to 36,000 a race of two took 0.92 of the time that it took with
HiGHS's (``benchmarks/halves.py``, by processor times of each alone), and none above 1.1. Below, as
much is gained in parts of a time that is less than 0.1 s."""

MEMORY_SHARE = 0.5
"""Part of the machine's memory that the engines of a race may need together, by estimate."""

GPU_IPM_NONZEROS = 10_000_000
"""The size up to which our own interior point takes part on a GPU: with 4.5 million an energy
system took it 26 s on an H200, and the layout of larger ones needs more of the host's memory than
there may be beside the others."""

SIMPLEX, IPM, GPU_IPM = "simplex", "ipm", "ipm on cuda"


@dataclass(frozen=True)
class Plan:
    """The engines for a linear program, first those that matter most; one means no race.

    ``device`` is where PDLP runs if it takes part, and ``reason`` ends a sentence.
    """

    names: tuple[str, ...]
    device: str
    reason: str


def plan_contenders(problem: Problem, options: Options) -> Plan:
    """Choose the engines for a linear program where the caller leaves it to us.

    No more engines run than threads are asked for. Where nobody asks, PDLP on the CPU comes on top.
    """
    nonzeros = problem.num_nonzeros
    if nonzeros < RACE_NONZEROS:
        return Plan((SIMPLEX,), "cpu", "too small for a race")
    cores = options.threads or usable_cores()
    gpu = options.device == "auto" and nonzeros >= PDLP_NONZEROS and seen_gpu() is not None
    if cores == 1:
        large = gpu and nonzeros >= PDLP_ALONE_NONZEROS
        if large and find_device("auto").kind == "cuda":  # if CuPy works with it
            return Plan((PDLP,), "cuda", "for the GPU alone, as there is one thread")
        return Plan((SIMPLEX,), "cpu", "for one engine, as there is one thread")
    names = [SIMPLEX, IPM] if options.lp_algorithm == "auto" else [SIMPLEX]
    if gpu:
        ours = [GPU_IPM] if IPM in names and nonzeros <= GPU_IPM_NONZEROS else []
        wanted = [PDLP, *names, *ours][:cores]
    else:
        wanted = _with_pdlp_on_cpu(names, cores, nonzeros, options)
    names = _fitting(wanted, problem, "pdlp on cuda" if gpu else "pdlp on cpu")
    if len(names) > 1:
        reason = "the first verified answer wins"
    else:
        reason = "of which one engine fits" if len(wanted) > 1 else "by the algorithm asked for"
    return Plan(tuple(names), "cuda" if gpu else "cpu", reason)


def _with_pdlp_on_cpu(names: list[str], cores: int, nonzeros: int, options: Options) -> list[str]:
    """Add PDLP to the engines of a large model, or put it in the place of the last one."""
    if nonzeros < PDLP_NONZEROS:
        return names
    if cores > len(names) or not options.threads:
        return [*names, PDLP]
    return [*names[: cores - 1], PDLP] if nonzeros >= PDLP_ALONE_NONZEROS else names


def _fitting(names: list[str], problem: Problem, first_order: str) -> list[str]:
    """Leave out the last engines where all of them would need too much memory; keep the first."""
    need = {item.engine: item.host_bytes for item in memory_needed(problem)}
    room = MEMORY_SHARE * cpu().memory_total
    kept: list[str] = []
    for name in names:
        room -= need[first_order if name == PDLP else "highs"]
        if not kept or room >= 0:
            kept.append(name)
    return kept


def make_contenders(
    names: tuple[str, ...],
    device: str,
    problem: Problem,
    options: Options,
    start: Start | None,
    analyses: Analyses | None = None,
) -> list[Contender]:
    """Return contenders of these names, with PDLP on ``device`` and what threads the others leave.

    ``analyses`` are what earlier solves of the same structure have left.

    Beside PDLP on a GPU the reference engine runs in a child process. In threads of this one it
    asks at every iteration whether to stop, which takes the interpreter's lock, and PDLP's blocks
    of a millisecond take it too. Simplex on a small model is stopped without being asked. On the
    CPU interior point asks here: beside PDLP it waited 0.02 to 0.09 s for the lock on `greenbea`
    and `pds-06`, ten threads for each core, and a child takes 0.1 to 0.2 s to load.

    HiGHS's interior point has a core beside ours or waits for its end: on two cores both at once,
    beside simplex, took 1.1 to 1.4 times as long (`ch`, `df2177`, `ge`, `pds-06`).
    """
    cores = options.threads or usable_cores()
    analyses = analyses or Analyses()
    presolved = SharedPresolve()
    own_at_work, turns = threading.Event(), Turns(problem.num_nonzeros, options.tolerance)
    two = device == "cpu" and IPM in names and problem.num_nonzeros >= OWN_IPM_NONZEROS
    beside = cores > len(names)
    spare = max(1, cores - len(names) + (0 if two and beside else 1))
    at_once = device != "cpu" or len(names) <= cores or problem.num_nonzeros >= PDLP_ALONE_NONZEROS

    def reference(progress: Progress, algorithm: str, start: Start | None) -> Outcome:
        in_child = algorithm == SIMPLEX or PDLP in names
        return _reference(algorithm, problem, options, progress, start, in_child)

    runs: dict[str, Callable[[Progress], Outcome]] = {
        SIMPLEX: lambda progress: reference(progress, SIMPLEX, start),
        # an interior point method has no use for a start, and would lose presolve by it
        IPM: lambda progress: (
            _interior_point(problem, options, progress, analyses, own_at_work, beside)
            if device == "cpu"
            else reference(progress, IPM, None)
        ),
        GPU_IPM: lambda progress: _beside_pdlp(
            problem, options, progress, analyses, turns, presolved
        ),
        PDLP: lambda progress: _first_order(
            problem,
            dataclasses.replace(options, device=device, threads=spare),
            progress if at_once else _waited(progress, own_at_work),
            start,
            turns,
            options.device == "auto",
            presolved,
        ),
    }
    return [Contender(name, runs[name]) for name in names]


def _first_order(
    problem: Problem,
    options: Options,
    progress: Progress,
    start: Start | None,
    turns: Turns,
    unasked: bool,
    presolved: SharedPresolve,
) -> Outcome:
    """Run PDLP."""
    own = turns.first_order(progress)
    return pdlp_route(
        problem, options, own, start, hedge=True, unasked=unasked, presolved=presolved
    )


def _waited(progress: Progress, other_at_work: threading.Event) -> Progress:
    """Return ``progress`` once the race has lasted for a while without another, or is over."""
    begin = progress.seconds + PDLP_WAITS
    while progress.should_stop() is None and (progress.seconds < begin or other_at_work.is_set()):
        time.sleep(LOOK_AGAIN)
    return progress


def _interior_point(
    problem: Problem,
    options: Options,
    progress: Progress,
    analyses: Analyses,
    own_at_work: threading.Event,
    beside: bool,
) -> Outcome:
    """Run our own method where its factor has few entries, that of the reference engine else.

    ``beside`` says whether both may be at work.
    """

    def reference(own: Progress) -> Outcome:
        return _reference(IPM, problem, options, own, None, False)

    def ours(own: Progress, begin: Callable[[bool], None]) -> Outcome | None:
        own_at_work.set()
        try:
            return interior_point.run_where_sparse(
                problem, options, own, analyses, begin, beside=beside
            )
        finally:
            own_at_work.clear()

    if problem.num_nonzeros < OWN_IPM_NONZEROS:
        return reference(progress)
    return fitting_interior_point(
        ours, reference, progress, problem.num_nonzeros if beside else None
    )


def _beside_pdlp(
    problem: Problem,
    options: Options,
    progress: Progress,
    analyses: Analyses,
    turns: Turns,
    presolved: SharedPresolve,
) -> Outcome:
    """Run our own interior point on the GPU, where PDLP is likely to take longer."""
    turns.prepare(progress)
    try:
        return interior_point.run_on_gpu(
            problem, options, progress, analyses, lambda: turns.begin(progress), presolved
        )
    finally:
        turns.end()


def _reference(
    algorithm: str,
    problem: Problem,
    options: Options,
    progress: Progress,
    start: Start | None,
    in_child: bool,
) -> Outcome:
    from solvers import highs

    if options.lp_algorithm != "auto":
        algorithm = options.lp_algorithm
    chosen = dataclasses.replace(options, lp_algorithm=algorithm, threads=1)

    def solved(chosen: Options) -> Outcome:
        found = highs.solve(problem, chosen, progress, start, in_child=in_child, retry=False)
        return mended(problem, found, options, progress)

    found = solved(chosen)
    troubled = found.stop_reason is StopReason.NUMERICAL_TROUBLE
    if not (troubled and options.presolve) or progress.should_stop() is not None:
        return found
    careful = solved(dataclasses.replace(chosen, presolve=False))
    return careful if careful.stop_reason is StopReason.CONVERGED else found


def run_race(
    problem: Problem, options: Options, choice: Choice, progress: Progress, start: Start | None
) -> Outcome:
    """Run the contenders of a choice side by side."""
    contenders = make_contenders(
        choice.contenders, choice.device, problem, options, start, choice.analyses
    )
    try:
        return race(problem, contenders, options, progress)
    except (DeviceError, EngineError) as failure:  # of every one of them; there is a second opinion
        progress.log(f"No engine has an answer: {failure}")
        return Outcome(SolutionStatus.NOTHING, StopReason.NUMERICAL_TROUBLE, engine=RACE)
