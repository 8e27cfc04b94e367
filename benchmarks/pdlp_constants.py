"""Effects of PDLP's constants: iterations to a tolerance with one of them changed at a time.

    python -m benchmarks.pdlp_constants FILES_OR_FOLDERS... [--variants default "check 64" ...]
        [--presolve light] [--cap 30000] [--min-nonzeros 200] [--max-nonzeros 40000]

Every model is reduced, then solved by the plain copy of the method in ``benchmarks.pdlp_lab`` with
the default recipe and with each variant; one run gives the iterations to 1e-4 and to 1e-6, with
residuals against the norms of the model before its reduction. A model that is not solved within
the cap counts as the cap. The table has, per variant, the models solved and the shifted geometric
mean (100 iterations) over all models, relative to the first variant's.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import gpu_bridge
from benchmarks.pdlp_lab import Lab, Recipe, variant
from benchmarks.presolve import model_files
from benchmarks.record import Column, print_table, write_record
from solvers import presolve
from solvers.core.device import cpu
from solvers.core.errors import GpuBridgeError
from solvers.core.problem import Problem
from solvers.core.progress import Progress

TOLERANCES = (1e-4, 1e-6)

SHIFT = 100.0

VARIANTS: dict[str, Recipe] = dict(
    [
        variant("default"),
        variant(
            "the engine",
            scaling="curtis-reid",
            curtis_reid_ridge=0.2,
            standstill=0.9,
            proportional=1.0,
            integral=0.0,
            balance=0.25,
        ),
        variant("check 32", check_interval=32),
        variant("check 64", check_interval=64),
        variant("check 100", check_interval=100),
        variant("check 128", check_interval=128),
        variant("necessary 0.8", necessary=0.8),
        variant("restarts 0.2 0.6 0.2", necessary=0.6, artificial=0.2),
        variant("sufficient 0.1", sufficient=0.1),
        variant("sufficient 0.4", sufficient=0.4),
        variant("artificial 0.2", artificial=0.2),
        variant("artificial 0.5", artificial=0.5),
        variant("no restart at the first check", first_check_restarts=False),
        variant("no geometric scaling", scaling="none"),
        variant("4 geometric passes", geometric_passes=4),
        variant("Curtis-Reid scaling", scaling="curtis-reid"),
        variant("Curtis-Reid, 5 passes", scaling="curtis-reid", curtis_reid_passes=5),
        variant("no Ruiz scaling", ruiz_passes=0),
        variant("no Pock-Chambolle scaling", pock_chambolle=0.0, ruiz_passes=10),
        variant("weight 1", first_weight="one"),
        variant("proportional 0.5", proportional=0.5),
        variant("proportional 0.7", proportional=0.7),
        variant("integral 0.1", integral=0.1),
        variant("derivative 0.1", derivative=0.1),
        variant("weight of HPR-LP", weight_rule="hpr"),
        variant("balance 0.25", balance=0.25),
        variant("balance -0.25", balance=-0.25),
        variant("largest imbalance 1e4", largest_imbalance=1e4),
        variant("reflection 0.9", reflection=0.9),
        variant("check 64, Curtis-Reid", check_interval=64, scaling="curtis-reid"),
        variant("check 64, restarts 0.2 0.6 0.2", check_interval=64, necessary=0.6, artificial=0.2),
    ]
)


def main() -> None:
    """Run the variants on the models and record the table."""
    arguments = _arguments()
    models = load(arguments)
    rows: list[dict[str, Any]] = []
    for name in arguments.variants:
        for model, problem, whole in models:
            run = Lab(problem, VARIANTS[name], whole).solve(
                TOLERANCES, arguments.cap, arguments.time_limit
            )
            row: dict[str, Any] = {"variant": name, "model": model, "restarts": run.restarts}
            for tolerance in TOLERANCES:
                row[f"iterations {tolerance:g}"] = run.iterations[tolerance]
                row[f"solved {tolerance:g}"] = run.solved[tolerance]
            rows.append(row)
        print(summary(rows, name, arguments.variants[0]), flush=True)
    totals = [summary(rows, name, arguments.variants[0]) for name in arguments.variants]
    print_table(
        f"PDLP's constants on {len(models)} models",
        [Column(title) for title in totals[0]],
        [list(total.values()) for total in totals],
    )
    options = {key: value for key, value in vars(arguments).items() if key != "files"}
    content = {"options": options, "totals": totals, "rows": rows}
    write_record("pdlp-constants", content, device=cpu())


def summary(rows: list[dict[str, Any]], name: str, base: str) -> dict[str, Any]:
    """Return a variant's line of the table."""
    line: dict[str, Any] = {"variant": name}
    for tolerance in TOLERANCES:
        own = [row for row in rows if row["variant"] == name]
        first = [row for row in rows if row["variant"] == base]
        key = f"iterations {tolerance:g}"
        line[f"solved {tolerance:g}"] = sum(row[f"solved {tolerance:g}"] for row in own)
        line[f"mean {tolerance:g}"] = _mean([row[key] for row in own])
        line[f"ratio {tolerance:g}"] = line[f"mean {tolerance:g}"] / _mean(
            [row[key] for row in first]
        )
    return line


def load(arguments: argparse.Namespace) -> list[tuple[str, Problem, Problem]]:
    """Return name, reduced and whole problem of every model of the sizes asked for."""
    found = []
    for path in model_files(arguments.files):
        try:
            whole = gpu_bridge.read(path).relaxation()
        except GpuBridgeError as error:
            print(f"{path.name}: {error}")
            continue
        if arguments.min_nonzeros <= whole.num_nonzeros <= arguments.max_nonzeros:
            reduction = presolve.apply(whole, Progress(), arguments.presolve)
            if reduction.settled is None and reduction.problem.num_nonzeros:
                found.append((path.name.partition(".")[0], reduction.problem, whole))
    return found


def _mean(counts: list[int]) -> float:
    return float(np.exp(np.log(np.array(counts) + SHIFT).mean()) - SHIFT)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", help="MPS or LP files, or folders of them")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--presolve", default="light", choices=presolve.KINDS)
    parser.add_argument("--cap", type=int, default=30_000)
    parser.add_argument("--time-limit", type=float, default=60.0, help="of one run, in seconds")
    parser.add_argument("--min-nonzeros", type=int, default=200)
    parser.add_argument("--max-nonzeros", type=int, default=40_000)
    return parser.parse_args()


if __name__ == "__main__":
    main()
