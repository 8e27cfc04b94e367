"""What slacks may make up for, cheapest first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.meet_in_the_middle.recognise import Slack, Sums, WholeArray

SAME = 1e-9
"""Relative difference of costs that counts as none."""


@dataclass(frozen=True, eq=False)
class Deviations:
    """Whole vectors that slacks can add to the sums, and what each costs.

    Parameters
    ----------
    amounts : (v, r) int64
        By rising cost.
    cost : (v,) float64
    is_complete : bool
        Whether there is no other that costs less than the limit.
    """

    amounts: WholeArray
    cost: FloatArray
    is_complete: bool

    def count_below(self, limit: float) -> int:
        """Return how many cost less than a limit."""
        return int(np.searchsorted(self.cost, lowered(limit)))


def lowered(limit: float) -> float:
    """Return what a cost has to be below to be less than the limit by more than rounding."""
    return limit - SAME * max(1.0, abs(limit)) if np.isfinite(limit) else limit


def cheapest_deviations(sums: Sums, limit: float, most: int) -> Deviations:
    """Return the deviations that cost less than ``limit``, at most so many of the cheapest."""
    rows = sums.side.size
    options = [_options(sums, row, limit, most) for row in range(rows)]
    amounts: list[list[int]] = []
    costs: list[float] = []
    waiting = [(0.0, (0,) * rows, 0)]
    top = lowered(limit)
    while waiting and waiting[0][0] < top and len(costs) < most:
        cost, places, last = heapq.heappop(waiting)
        amounts.append([options[row][place][1] for row, place in enumerate(places)])
        costs.append(cost)
        # each vector has one parent: with the last place that is not the first set back by one
        for row in range(last, rows):
            place = places[row] + 1
            if place < len(options[row]):
                more = options[row][place][0] - options[row][place - 1][0]
                child = (*places[:row], place, *places[row + 1 :])
                heapq.heappush(waiting, (cost + more, child, row))
    complete = not (waiting and waiting[0][0] < top)
    table = np.array(amounts, dtype=np.int64).reshape(len(costs), rows)
    return Deviations(table, np.array(costs), complete)


def _options(sums: Sums, row: int, limit: float, most: int) -> list[tuple[float, int]]:
    """Return costs and amounts of one row, by rising cost; no more than can be of use."""
    found = [(0.0, 0)]
    for step in (1, -1):
        amount, cost = 0, 0.0
        for slack in _of(sums, row, step):
            units = 0
            while units < slack.room and cost + slack.price < limit and abs(amount) < most:
                units, amount, cost = units + 1, amount + step, cost + slack.price
                found.append((cost, amount))
    return sorted(found)


def _of(sums: Sums, row: int, step: int) -> list[Slack]:
    """Return the slacks of a row in one direction, cheapest first."""
    mine = [slack for slack in sums.slacks if slack.row == row and slack.step == step]
    return sorted(mine, key=lambda slack: (slack.price, slack.column))


def slack_values(sums: Sums, amount: WholeArray) -> dict[int, float]:
    """Return the units of each slack that together make up an amount (r,), as cheaply as can be."""
    values: dict[int, float] = {}
    for row, wanted in enumerate(amount):
        left = abs(int(wanted))
        for slack in _of(sums, row, 1 if wanted > 0 else -1):
            units = min(left, slack.room)
            values[slack.column] = float(units)
            left -= int(units)
    return values
