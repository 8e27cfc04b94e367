"""The method: a homogeneous primal-dual interior point method.

The simplified homogeneous self-dual embedding of Xu, Hung and Ye (1996) as Andersen and Andersen
("The MOSEK interior point optimizer for linear programming", 2000) use it: from any start the
iterates tend to an optimum where tau stays positive, and to a certificate where it goes to zero.
Each iteration factorises one matrix, predicts, centres and corrects (``directions.py``), and goes
as far as positivity allows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from solvers.core.device import Device
from solvers.core.lp_answer import Answer, LpErrors, Norms, errors, judge
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.interior_point import outcomes
from solvers.interior_point.directions import Newton, predictor_corrector
from solvers.interior_point.linear_system import LinearSystem
from solvers.interior_point.outcomes import certificate
from solvers.interior_point.point import Point, Residuals, centrality, residuals
from solvers.interior_point.standard_form import StandardForm
from solvers.interior_point.starting_point import (
    Known,
    centred,
    starting_point,
    towards_known,
)

BOUNDARY = 0.995
"""Part of the way to the nearest bound that a step goes."""

SHORT_STEP, NEAR = 0.1, 1e-2
"""Below this step, and with errors below this, directions that keep tau are tried, too."""

SHORT_START = 0.3
"""First step from a known point below which the products of the start are made equal instead. From
PDLP's points within 1e-3 an energy system of 365 hours took 37 iterations to 1e-6 so instead of 48,
from those within 1e-4 28 instead of 30. Its first steps are 0.10 and 0.12; one of 8,760 hours, with
0.22, took 66 with equal products from the first iteration on instead of 89. Few of 62 models of
Netlib and the families have so short a step: they took 660 iterations from points within 1e-2
instead of 657, and 386 from those within 1e-4 instead of 383 (with 0.2 655 and 383)."""

CORRECTORS = 2
"""Gondzio's correctors in an iteration at most."""

PATIENCE = 15
"""Iterations without a smaller error after which the method gives up."""

STALE = 8
"""Iterations without a smaller error, near the end, after which the method goes on from its best
point with a stronger regularisation, once. ``gen4`` stayed at 8e-8, as rounding leaves residuals of
equations that depend on each other, which bend each direction. With 6 ``greenbea`` took 54
iterations instead of 42, and with 8 the models of Netlib and ``lp-large`` as many as before."""

MOST_ITERATIONS = 300


@dataclass(frozen=True, eq=False)
class Run:
    """What stays the same during a solve; the form, the system and ``judged`` are on the device."""

    problem: Problem
    form: StandardForm
    judged: Problem
    system: LinearSystem
    options: EngineOptions
    norms: Norms
    progress: Progress
    device: Device
    known: Known | None = None

    def starts(self) -> Generator[Point, None, None]:
        """Yield the point to begin from, then the one for where its first step is short, if any."""
        cold = starting_point(self.form, self.system)
        if self.known is None:
            yield cold
        else:
            near = towards_known(self.form, cold, self.known)
            yield near
            yield centred(self.form, near, cold)

    def answer(self, point: Point) -> Answer:
        """Return a point judged on the host."""
        x, y = self.solution(point)
        to_host = self.device.to_host
        return judge(self.problem, to_host(x), to_host(y), self.norms)

    def solution(self, point: Point) -> tuple[FloatArray, FloatArray]:
        """Return the columns (n,) and row duals (m,) of the problem, on the device."""
        origin = self.form.origin
        x = origin.point(point.x / point.tau)
        return x, origin.row_dual(point.y / point.tau, self.problem.num_rows)


@dataclass(frozen=True, eq=False)
class Standing:
    """An iterate with all that is known of it."""

    point: Point
    residuals: Residuals
    mu: float
    errors: LpErrors
    step: float = 0.0

    @classmethod
    def of(cls, run: Run, point: Point, step: float = 0.0) -> Standing:
        """Judge an iterate on the problem as it is given."""
        form, found = run.form, errors(run.judged, *run.solution(point), run.norms)
        return cls(point, residuals(form, point), centrality(form, point), found, step)


def solve_form(run: Run) -> Outcome:
    """Iterate until the answer is optimal on the problem, a proof is found or a limit comes.

    What begins near a known point and ends in numerical trouble is begun again without it, and the
    nearer of both points comes back. An iterate that has broken down is known by its error, without
    NumPy's warnings.
    """
    with np.errstate(all="ignore"):
        outcome = _iterate(run)
        if run.known is None or outcome.stop_reason is not StopReason.NUMERICAL_TROUBLE:
            return outcome
        run.progress.log("From the point that was known it ended in numerical trouble; without it.")
        run.system.forget()
        return outcomes.nearer(outcome, _iterate(dataclasses.replace(run, known=None)))


def _iterate(run: Run) -> Outcome:
    starts = run.starts()
    try:
        now = best = Standing.of(run, next(starts))
    except ArithmeticError:
        reason = run.progress.should_stop() or StopReason.NUMERICAL_TROUBLE
        return outcomes.nothing(run.system, reason)
    best_at = iteration = 0
    first_mu, began = now.mu, run.progress.seconds
    while True:
        outcomes.report(run.progress, iteration, now.errors, now.step, run.system)
        if now.errors.worst < best.errors.worst:
            best, best_at = now, iteration
        if now.errors.worst <= run.options.tolerance:
            return outcomes.optimal(run.answer(now.point), iteration, run.system)
        ray = certificate(run.problem, run.form, now.point, run.device)
        if ray is not None:
            return outcomes.proof(ray, iteration, run.system)
        is_stale = iteration - best_at >= STALE and best.errors.worst < NEAR
        if is_stale and not run.system.is_strengthened:
            run.system.strengthen()
            now, best_at = best, iteration
        average = (run.progress.seconds - began) / max(1, iteration)
        limit = _reason_to_stop(run, iteration, iteration - best_at, average)
        run.system.follow(now.mu / first_mu, now.errors.worst)
        following = None if limit is not None else _next(run, now)
        if following is None:
            reason = limit or run.progress.should_stop() or StopReason.NUMERICAL_TROUBLE
            answer = run.answer(best.point)
            return outcomes.stopped(answer, run.options.tolerance, reason, iteration, run.system)
        now = following
        iteration += 1
        if iteration == 1:
            if now.step < SHORT_START:
                now = next((Standing.of(run, start) for start in starts), now)
            starts.close()  # it holds the points that it was made of


def _next(run: Run, now: Standing) -> Standing | None:
    """Return the next iterate; None where the system cannot be solved."""
    try:
        direction, step = _direction(run, now)
        while run.system.is_useless and run.progress.should_stop() is None:
            run.system.strengthen()
            direction, step = _direction(run, now)
        step = min(1.0, BOUNDARY * step)
        return Standing.of(run, normalised(now.point.moved(direction, step)), step)
    except ArithmeticError:  # a pivot, or what a direction is divided by, is zero
        return None


def _direction(run: Run, now: Standing) -> tuple[Point, float]:
    """Return a direction and the longest step along it."""
    newton = Newton.at(run.form, now.point, now.residuals, run.system)
    direction, step = predictor_corrector(newton, CORRECTORS)
    if step < SHORT_STEP and now.errors.worst < NEAR:
        other, reach = predictor_corrector(newton, CORRECTORS, keep_tau=True)
        if reach > step:
            return other, reach
    return direction, step


def normalised(point: Point) -> Point:
    """Return the same ray of the embedding with the larger of tau and kappa near one.

    The embedding is homogeneous: only ratios mean something.
    """
    size = max(point.tau, point.kappa)
    if 1e-3 <= size <= 1e3:
        return point
    scale = 1.0 / size
    return Point(
        scale * point.x,
        scale * point.t,
        scale * point.y,
        scale * point.z,
        scale * point.v,
        scale * point.tau,
        scale * point.kappa,
    )


def _reason_to_stop(run: Run, iteration: int, since_best: int, seconds: float) -> StopReason | None:
    """Return why to stop: a limit, no progress, or no time for one more iteration.

    A factorisation cannot be stopped, so that what would outlast the limit is not begun.
    """
    reason = run.progress.should_stop()
    if reason is not None:
        return reason
    if run.progress.time_left < seconds:
        return StopReason.TIME_LIMIT
    if run.options.iteration_limit is not None and iteration >= run.options.iteration_limit:
        return StopReason.ITERATION_LIMIT
    if since_best > PATIENCE or iteration >= MOST_ITERATIONS:
        return StopReason.NUMERICAL_TROUBLE
    return None
