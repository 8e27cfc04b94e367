"""The portfolio of dives: all strategies, then all again with other seeds, until time is up.

Fix-propagate-repair lives off its variety: some models fall to a single order only (Salvagnin,
Roberti, Fischetti 2025, section 6), so no strategy is dropped, whatever it has found so far. For
the schedule each turn begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.fix_and_propagate.dive import Diver, DiveResult
from solvers.mip.heuristics.fix_and_propagate.strategy import LP_FREE, LP_GUIDED, Strategy
from solvers.mip.inference.cliques import Cliques
from solvers.mip.inference.domain import Domain
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.heuristic import UNFINISHED, Heuristic, HeuristicContext, Needs, Report
from solvers.mip.solutions.incumbents import Submit, is_nearly_feasible


@dataclass
class Dives:
    """What a run of the portfolio has come to.

    Parameters
    ----------
    dives : int
        Dives ended, cut ones included.
    consistent : int
        Dives that fixed all integer columns without a contradiction.
    improved : int
        Submissions that gave a new best point.
    closest : (n,) float64, optional
        The point with the fewest broken rows among the inconsistent ones: a start for others.
    closest_rows : int
        How many rows that one breaks.
    successes : dict
        How many consistent dives each strategy had.
    """

    dives: int = 0
    consistent: int = 0
    improved: int = 0
    closest: FloatArray | None = None
    closest_rows: int = np.iinfo(np.int64).max
    successes: dict[Strategy, int] = field(default_factory=dict)


def run_portfolio(
    model: MipModel,
    submit: Submit,
    budget: Budget,
    seed: int,
    strategies: Sequence[Strategy] | None = None,
    reference: FloatArray | None = None,
    cliques: Cliques | None = None,
    domain: Domain | None = None,
    max_rounds: int | None = None,
) -> Dives:
    """Dive with each strategy in turn, round after round, and submit what comes out.

    Submitted is every new point whose integers were fixed without a contradiction and, at the end
    of each round, the closest of the other points if it is new and breaks few rows.

    Parameters
    ----------
    strategies : sequence of Strategy, optional
        ``LP_GUIDED`` followed by ``LP_FREE`` with a reference point, else ``LP_FREE``.
    reference : (n,) float64, optional
        Point for the guided strategies; those are left out without one.
    cliques : Cliques, optional
        For the order by cliques.
    domain : Domain, optional
        Propagated box to dive from, so that it need not be made; it is not changed.
    max_rounds : int, optional
        How often each strategy is used at most; as often as the budget allows by default.
    """
    done = Dives()
    if domain is None:
        domain = Domain.of(model)
        domain.propagate()
        budget.charge(domain.work)
    if domain.is_infeasible:
        domain = Domain.of(model)  # a contradiction within tolerances must not stop the dives
    if strategies is None:
        strategies = LP_FREE if reference is None else (*LP_GUIDED, *LP_FREE)
    usable = [s for s in strategies if reference is not None or not s.needs_reference]
    diver = Diver(model, domain, reference, cliques)
    known: set[bytes] = set()
    rounds = 0
    while usable and not budget.spent() and rounds != max_rounds:
        for place, strategy in enumerate(usable):
            if budget.spent():
                break
            number = 0 if rounds == 0 and seed == 0 else 1 + seed + 1009 * rounds + 9176 * place
            found = diver.dive(strategy, number, budget)
            _take(model, submit, strategy, found, done, known)
        _submit_closest(model, submit, done, known)
        rounds += 1
    return done


def _take(
    model: MipModel,
    submit: Submit,
    strategy: Strategy,
    found: DiveResult,
    done: Dives,
    known: set[bytes],
) -> None:
    done.dives += 1
    if found.integers_feasible:
        done.consistent += 1
        done.successes[strategy] = done.successes.get(strategy, 0) + 1
        if _is_new(model, found.x, known):
            done.improved += submit(found.x, f"dive {strategy}")
    elif found.is_complete and found.violated_rows < done.closest_rows:
        done.closest, done.closest_rows = found.x, found.violated_rows


def _submit_closest(model: MipModel, submit: Submit, done: Dives, known: set[bytes]) -> None:
    if done.closest is None or not is_nearly_feasible(done.closest_rows, model.num_rows):
        return
    if _is_new(model, done.closest, known):
        done.improved += submit(done.closest, "dive, with broken rows")


def _is_new(model: MipModel, x: FloatArray, known: set[bytes]) -> bool:
    """Whether no point with these integer values has been submitted before; note it."""
    from hashlib import blake2b

    key = blake2b(x[model.integers].tobytes(), digest_size=16).digest()
    if key in known:
        return False
    known.add(key)
    return True


class Dive(Heuristic[HeuristicContext, HeuristicContext]):
    """Dives by strategies that need no relaxation, beginning with another one in each turn."""

    name = "dive"

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Dive by one strategy after the other."""
        _dive(state, LP_FREE, budget, seed)
        return UNFINISHED


class GuidedDive(Heuristic[HeuristicContext, HeuristicContext]):
    """Dives by strategies that follow the relaxation's point."""

    name = "guided dive"
    needs = Needs(relaxation=True)

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Dive by one strategy after the other."""
        _dive(state, LP_GUIDED, budget, seed, state.reference())
        return UNFINISHED


def _dive(
    context: HeuristicContext,
    every: Sequence[Strategy],
    budget: Budget,
    seed: int,
    reference: FloatArray | None = None,
) -> None:
    begin = seed % len(every)
    done = run_portfolio(
        context.model,
        context.submit,
        budget,
        seed,
        (*every[begin:], *every[:begin]),
        reference=reference,
        cliques=context.cliques,
        domain=context.domain,
    )
    if done.closest is not None:
        context.acceptance.infeasible_points(done.closest, done.closest_rows)
