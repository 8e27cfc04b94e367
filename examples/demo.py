"""Three MIPLIB models through three doors: Pyomo, PuLP and a file. ``make demo`` runs this.

Each solve shows its log as it goes and leaves a picture of incumbent and bound over time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import miplib_in_pulp
import miplib_in_pyomo

import gpu_bridge as gb

DATA = Path(__file__).parent / "data"
KNOWN_OPTIMA = {"aflow30a": 1158.0, "ran13x13": 3252.0, "rout": 1077.56}


def solve_file(path: Path, time_limit: float) -> gb.Outcome:
    """Solve a model file as it stands."""
    return gb.solve(path, log=True, time_limit=time_limit)


DEMOS: list[tuple[str, str, Callable[[Path, float], gb.Outcome]]] = [
    ("Pyomo", "aflow30a", miplib_in_pyomo.solve),
    ("PuLP", "ran13x13", miplib_in_pulp.solve),
    ("an MPS file", "rout", solve_file),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each model")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)

    lines = []
    for door, name, solve in DEMOS:
        print(f"\n=== {name}, a MIPLIB model, from {door} ===\n", flush=True)
        outcome = solve(DATA / f"{name}.mps.gz", given.time_limit)
        picture = given.output / f"{name}.png"
        outcome.plot(picture)
        lines.append(
            f"{name:<10} {door:<12} {outcome.solution_status.name.lower():<9}"
            f"{outcome.objective:12.2f}{outcome.bound:12.2f}{KNOWN_OPTIMA[name]:12.2f}"
            f"{outcome.seconds:8.1f}  {picture}"
        )
        # Without a proof the point may be worse than the optimum, but never better.
        optimum = KNOWN_OPTIMA[name]
        assert not outcome.objective < optimum * (1 - 1e-6), "better than the known optimum"
        assert not outcome.bound > optimum * (1 + 1e-6), "a bound beyond the known optimum"

    print(
        "\nmodel      door         answer      objective       bound     optimum seconds  picture"
    )
    print("\n".join(lines))


if __name__ == "__main__":
    main()
