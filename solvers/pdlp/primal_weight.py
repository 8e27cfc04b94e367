"""The primal weight omega: how the step is shared between the primal and the dual side.

tau = eta / omega and sigma = eta omega. At each restart a PID controller brings
log(||dual distance|| / ||primal distance||) - log(omega) towards zero, distances being those
travelled since the last restart (cuPDLPx, arXiv 2507.14051, section 3.3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from solvers.pdlp.settings import Settings


@dataclass(frozen=True)
class PrimalWeight:
    """The weight, the controller's memory, and the weight that balanced the residuals best."""

    value: float
    error_sum: float = 0.0
    last_error: float = 0.0
    best: float = 1.0
    best_imbalance: float = math.inf


def first_weight(scaled_cost_norm: float, scaled_side_norm: float) -> PrimalWeight:
    """Return the weight to begin with: (1 + ||c||) / (1 + ||b||) of the scaled problem."""
    value = (1.0 + scaled_cost_norm) / (1.0 + scaled_side_norm)
    return PrimalWeight(value, best=value)


def note_balance(
    weight: PrimalWeight, relative_primal: float, relative_dual: float
) -> PrimalWeight:
    """Remember the weight if primal and dual residual were never closer to each other."""
    found = _imbalance(relative_primal, relative_dual)
    if found is None or found >= weight.best_imbalance:
        return weight
    return replace(weight, best=weight.value, best_imbalance=found)


def next_weight(
    weight: PrimalWeight,
    primal_distance: float,
    dual_distance: float,
    relative_primal: float,
    relative_dual: float,
    settings: Settings,
) -> PrimalWeight:
    """Return the weight for the next epoch from the distances travelled in the last."""
    low, high = settings.shortest_distance, settings.longest_distance
    telling = low < primal_distance < high and low < dual_distance < high
    imbalance = _imbalance(relative_primal, relative_dual)
    if imbalance is not None and imbalance > math.log10(settings.largest_imbalance):
        telling = False
    if not telling:
        return replace(weight, value=weight.best, error_sum=0.0, last_error=0.0)
    error = math.log(dual_distance) - math.log(primal_distance) - math.log(weight.value)
    error_sum = settings.integral_memory * weight.error_sum + error
    change = (
        settings.proportional * error
        + settings.integral * error_sum
        + settings.derivative * (error - weight.last_error)
    )
    return replace(
        weight, value=weight.value * math.exp(change), error_sum=error_sum, last_error=error
    )


def _imbalance(relative_primal: float, relative_dual: float) -> float | None:
    """Return |log10(dual / primal)|, or None when one of them is exactly zero.

    Where every column has both bounds no dual point is ever infeasible: the ratio tells nothing
    about the weight then. Taking it for an imbalance froze the weight and cost 20 times the
    iterations on such models.
    """
    if relative_primal <= 0.0 or relative_dual <= 0.0:
        return None
    return abs(math.log10(relative_dual / relative_primal))
