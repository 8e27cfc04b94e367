"""Blend feed from five ingredients with SciPy's calls, and read what a limit is worth."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint

from gpu_bridge.adapters.scipy import linprog, milp

INGREDIENTS = ("maize", "soya", "barley", "fishmeal", "lime")
COST = np.array([190.0, 410.0, 175.0, 920.0, 60.0])  # euros/t
PROTEIN = np.array([0.09, 0.46, 0.11, 0.63, 0.0])  # t/t
CALCIUM = np.array([0.0003, 0.003, 0.0007, 0.05, 0.38])
TONNES, BAG = 20.0, 0.5


def main() -> None:
    blend = linprog(
        COST,
        A_ub=[-PROTEIN, CALCIUM, -CALCIUM],
        b_ub=[-0.18 * TONNES, 0.012 * TONNES, -0.008 * TONNES],
        A_eq=[np.ones(5)],
        b_eq=[TONNES],
        bounds=[(0, 12), (0, None), (0, 9), (0, 1), (0, None)],
    )
    assert blend.success
    print(f"20 t of feed cost {blend.fun:,.2f} euros:")
    for name, amount in zip(INGREDIENTS, blend.x, strict=True):
        print(f"  {name:9} {amount:6.2f} t")
    print(f"A tonne of protein more would cost {-blend.ineqlin.marginals[0]:,.2f} euros.")

    bags = milp(
        COST * BAG,
        integrality=np.ones(5),
        bounds=Bounds(0, np.array([24, np.inf, 18, 2, np.inf])),
        constraints=[
            LinearConstraint(PROTEIN * BAG, 0.18 * TONNES),
            LinearConstraint(CALCIUM * BAG, 0.008 * TONNES, 0.012 * TONNES),
            LinearConstraint(np.ones(5) * BAG, TONNES, TONNES),
        ],
        options={"mip_rel_gap": 0},
    )
    assert bags.success
    print(f"In whole bags of 500 kg they cost {bags.fun:,.2f} euros.")
    assert bags.fun >= blend.fun


if __name__ == "__main__":
    main()
