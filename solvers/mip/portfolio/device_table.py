"""What runs on the GPU beside the CPU's turns: walkers all the time, the rest in bursts."""

from __future__ import annotations

from collections.abc import Callable

from solvers.mip.heuristics.feasibility_pump import PumpBatch
from solvers.mip.heuristics.feasibility_pump.propagating import by_propagation
from solvers.mip.heuristics.feasibility_pump.walking import by_walker
from solvers.mip.heuristics.local_search.on_gpu import DeviceWalks
from solvers.mip.inference.probing import BatchProber, build_cache
from solvers.mip.inference.propagation import DeviceModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic_context import HeuristicContext
from solvers.mip.portfolio.resumable import Improve
from solvers.mip.portfolio.scheduler import Activity, Turns, Work
from solvers.mip.portfolio.table import PROBING_SHARE, UNLIMITED, take_cache
from solvers.mip.portfolio.worker import run_worker

PUMP_WORKERS = 2
"""Threads that round for the pumps on the GPU."""


def device_works(context: HeuristicContext) -> dict[str, Callable[[Budget], object]]:
    """Return what runs on the GPU beside the CPU's turns, each in a thread of its own."""
    if context.device.kind == "cpu":
        return {}
    walks = DeviceWalks(context)
    return {
        "walkers on the GPU": walks.on_model.work,
        "walkers on the GPU without defined": walks.on_aggregated.work,
        "turns on the GPU": _device_turns(context),
    }


def _device_turns(context: HeuristicContext) -> Callable[[Budget], object]:
    """Return the turns of the heuristics that use the GPU in bursts."""

    def share(without: float, with_point: float) -> Callable[[], float]:
        return lambda: with_point if context.has_point else without

    def work(budget: Budget) -> None:
        with context.device.activate():
            there = DeviceModel.of(context.model, context.device)
            pumps = _DevicePumps(context, share(2.0, 0.5))
            improving = Improve(context, there)
            turns = Turns(
                [
                    Activity(
                        "probing on the GPU",
                        _device_probe(context, there),
                        share(1.0, 1.0),
                        PROBING_SHARE * min(budget.seconds_left, UNLIMITED),
                        most=1,
                        once=True,
                    ),
                    Activity("dives on the GPU", _device_dives(context, there), share(2.0, 1.0)),
                    Activity("pumps on the GPU", pumps.work, pumps.share, shortest=1.0),
                    Activity("improve on the GPU", improving.work, improving.share),
                ]
            )
            run_worker(turns, context, budget)

    return work


class _DevicePumps:
    """Pumps in lockstep on the GPU, once the relaxation is solved."""

    def __init__(self, context: HeuristicContext, share: Callable[[], float]) -> None:
        self._context = context
        self._share = share
        self._batch: PumpBatch | None = None

    def share(self) -> float:
        """Return what the pumps are due, which is nothing when they are over."""
        over = self._batch is not None and self._batch.counts.is_over
        return 0.0 if over or self._context.root is None else self._share()

    def work(self, budget: Budget, seed: int) -> None:
        """Let the pumps go on."""
        if self._batch is None:
            self._batch = self._make(seed)
        self._batch.run(budget)

    def _make(self, seed: int) -> PumpBatch:
        context, acceptance = self._context, self._context.acceptance
        return PumpBatch(
            context.model,
            acceptance.submit,
            seed,
            rounder_of=lambda _: by_propagation(context.model, lambda: context.cache),
            search_of=lambda number: by_walker(context.model, number, acceptance.pool),
            pool=acceptance.pool,
            root=context.root,
            device=context.device,
            workers=PUMP_WORKERS,
        )


def _device_probe(context: HeuristicContext, there: DeviceModel) -> Work:
    def work(budget: Budget, seed: int) -> None:
        prober = BatchProber(context.model, there)
        take_cache(
            context, build_cache(context.model, prober, budget, seed, cliques=context.cliques)
        )

    return work


def _device_dives(context: HeuristicContext, there: DeviceModel) -> Work:
    def work(budget: Budget, seed: int) -> None:
        from solvers.mip.heuristics.diving.batched import run_dives

        run_dives(
            there,
            context.model,
            context.acceptance.submit,
            budget,
            seed,
            reference=context.reference(),
            cliques=context.cliques,
            box=(context.domain.lower, context.domain.upper),
        )

    return work
