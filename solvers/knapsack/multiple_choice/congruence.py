"""What profits are possible at all, given weights: a bound that rounds down much farther.

Weight and profit of every selection are sums of the items' pairs (weight, profit), which lie on a
lattice. Where that is not all pairs of whole numbers, there is a modulus g and a factor a with
``profit = a * weight`` modulo g for every selection; strongly correlated problems, where each step
is worth its weight and a constant more, have that constant as g and a = 1. A profit p at weight
w <= capacity then satisfies p - a w = 0 modulo g, and if no step is less steep than a, p is at most
the largest number up to the relaxation's value that is a * capacity modulo g: p - a w is at most
the relaxation's value less a * capacity, because the relaxation loses at least a for each unit of
weight that it does without.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from solvers.knapsack.items import LARGEST
from solvers.knapsack.multiple_choice.items import MultipleChoice
from solvers.knapsack.multiple_choice.relaxation import Relaxation

FEW = 64
"""Items looked at one by one, after which most problems are known to have no modulus but 1."""


@dataclass(frozen=True)
class Congruence:
    """An optimum is bounded by numbers that are ``residue`` modulo ``modulus``.

    Bounds that are rounded like that have to count ``factor`` for each unit of weight left over.
    """

    modulus: int = 1
    residue: int = 0
    factor: int = 0

    def rounded_down(self, bound: int) -> int:
        """Return the largest number up to ``bound`` that bounds a profit."""
        return bound - (bound - self.residue) % self.modulus


def congruence(choice: MultipleChoice, relaxation: Relaxation) -> Congruence:
    """Return the congruence of a problem in normal form; modulus 1 where there is none."""
    unit, factor, modulus = 0, 0, 0
    start = np.minimum(FEW, choice.num_items)
    pairs = zip(choice.weight[:start].tolist(), choice.profit[:start].tolist(), strict=True)
    for weight, profit in pairs:
        unit, factor, modulus = _with_pair(unit, factor, modulus, weight, profit)
        if modulus == 1:
            return Congruence()
    if unit != 1 or factor * int(choice.weight.max(initial=0)) >= LARGEST:
        return Congruence()
    rest = np.gcd.reduce(choice.profit - factor * choice.weight)
    modulus = math.gcd(modulus, int(rest))
    factor %= max(modulus, 1)
    # steps are sorted: the last is the least steep
    steep = int(relaxation.profit[-1]) >= factor * int(relaxation.weight[-1])
    if modulus < 2 or not steep:
        return Congruence()
    return Congruence(modulus, factor * choice.capacity % modulus, factor)


def _with_pair(
    unit: int, factor: int, modulus: int, weight: int, profit: int
) -> tuple[int, int, int]:
    """Add a pair to the lattice that (unit, factor) and (0, modulus) generate."""
    while weight:
        times = unit // weight
        unit, factor, weight, profit = (
            weight,
            profit,
            unit - times * weight,
            factor - times * profit,
        )
    modulus = math.gcd(modulus, profit)
    return unit, factor % modulus if modulus else factor, modulus
