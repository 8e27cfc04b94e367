"""Solve without a modelling package: from matrices, from a file, and many problems at once.

The model is a small refinery: how much of each crude to buy for the fuels that are asked for.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import gpu_bridge as gb

CRUDES = ["light", "medium", "heavy"]
FUELS = ["petrol", "diesel", "heating oil"]
PRICE = np.array([78.0, 69.0, 58.0])  # euros per barrel of crude
YIELD = np.array([[0.44, 0.32, 0.18], [0.33, 0.38, 0.32], [0.16, 0.22, 0.38]])  # fuel x crude
DEMAND = np.array([24_000.0, 26_000.0, 17_000.0])  # barrels of each fuel
AVAILABLE = np.array([60_000.0, 45_000.0, 50_000.0])  # barrels of each crude


def refinery(demand: np.ndarray) -> gb.Problem:
    """Return: minimise price'x, yield x >= demand, 0 <= x <= available."""
    return gb.Problem.from_arrays(
        cost=PRICE,
        matrix=YIELD,
        row_lower=demand,
        upper=AVAILABLE,
        name="refinery",
        column_names=CRUDES,
        row_names=FUELS,
    )


def from_matrices() -> None:
    problem = refinery(DEMAND)
    outcome = gb.solve(problem)
    print(f"{outcome.solution_status} ({outcome.engine} on {outcome.device})")
    print(f"The crude costs {outcome.objective:,.0f} euros")
    for name, barrels, distance in zip(CRUDES, outcome.x, outcome.reduced_cost, strict=True):
        print(f"  {name:<12}{barrels:10,.0f} barrels, reduced cost {distance:6.2f}")
    for name, price in zip(FUELS, outcome.row_dual, strict=True):
        print(f"  {name:<12}{price:10.2f} euros for one more barrel")

    # The dual objective: sides of the rows and bounds that hold, each at its price.
    at_limit = np.minimum(outcome.reduced_cost, 0.0) @ AVAILABLE
    assert abs(outcome.row_dual @ DEMAND + at_limit - outcome.objective) < 1e-6 * outcome.objective
    assert np.all(YIELD @ outcome.x >= DEMAND * (1 - 1e-6))

    first_order = gb.solve(problem, method="pdlp", tolerance=1e-8)
    print(f"The first-order engine with crossover agrees: {first_order.objective:,.0f} euros")
    assert abs(first_order.objective - outcome.objective) < 1e-6 * outcome.objective


def from_a_file() -> None:
    path = Path(__file__).parent / "data" / "ran13x13.mps.gz"
    problem = gb.read(path)
    print(f"{path.name}: {problem.num_rows} rows, {problem.num_columns} columns")
    relaxed = gb.solve(problem, relax=True)
    short = gb.solve(problem, time_limit=2.0, seed=1)
    print(f"After {short.seconds:.1f} s: {short.stop_reason}")
    print(f"  best point {short.objective:g}, bound {short.bound:g}, gap {short.gap:.1%}")
    # The known optimum, 3252, lies between every bound and every point.
    assert relaxed.objective <= 3252 + 1e-6
    assert short.bound - 1e-6 <= 3252 <= short.objective + 1e-6

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "solve.log"
        better = gb.solve(problem, start=gb.Start(x=short.x), time_limit=2.0, log_file=str(log))
        assert log.read_text()
    print(f"Two seconds more from that point: {better.objective:g}")
    assert better.objective <= short.objective + 1e-6


def many_problems() -> None:
    scales = [0.8, 0.9, 1.0, 1.1, 2.5]
    outcomes = gb.solve_many([refinery(scale * DEMAND) for scale in scales])
    for scale, outcome in zip(scales, outcomes, strict=True):
        if outcome.solution_status is gb.SolutionStatus.OPTIMAL:
            print(f"  {scale:4.0%} of the demand: {outcome.objective:12,.0f} euros")
        else:
            print(f"  {scale:4.0%} of the demand: {outcome.solution_status}")
            print(outcome.conflict)
    assert outcomes[-1].solution_status is gb.SolutionStatus.INFEASIBLE
    assert outcomes[0].objective < outcomes[2].objective


def main() -> None:
    from_matrices()
    from_a_file()
    many_problems()


if __name__ == "__main__":
    main()
