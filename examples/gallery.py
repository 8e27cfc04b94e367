"""Draw the pictures of docs/gallery.md: each solves an example's model and shows its answer.

python examples/gallery.py [--output docs/images] [--only job_shop ...]
"""

from __future__ import annotations

import argparse
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pyomo.environ as pyo

import gpu_bridge as gb

HERE = Path(__file__).parent
TEAL, GREY = "#00796b", "#b0bec5"


def example(name: str) -> dict[str, Any]:
    """Return what an example defines, without running its ``main``."""
    return runpy.run_path(str(HERE / f"{name}.py"))


def solved(model: pyo.ConcreteModel, **options: Any) -> pyo.ConcreteModel:
    """Return the model with its optimum."""
    pyo.assert_optimal_termination(pyo.SolverFactory("gpuheur").solve(model, **options))
    return model


def job_shop(axes: plt.Axes) -> None:
    """Draw who uses which machine when."""
    given = example("pyomo/job_shop")
    model = solved(given["build"](latest=80), timelimit=120)
    colours = plt.get_cmap("Set2").colors
    for (job, machine), hours in given["HOURS"].items():
        begin = model.start[job, machine].value
        axes.barh(machine + 1, hours, left=begin, color=colours[job], edgecolor="white")
        axes.text(begin + hours / 2, machine + 1, job + 1, ha="center", va="center", fontsize=7)
    axes.set(xlabel="hour", ylabel="machine", title=f"Done after {model.done.value:.0f} hours")
    axes.invert_yaxis()


def facility_location(axes: plt.Axes) -> None:
    """Draw which warehouse serves which shop."""
    given = example("pyomo/facility_location")
    model = solved(given["build"](), timelimit=120)
    for warehouse, (x, y, *_) in given["WAREHOUSES"].items():
        rented = model.rented[warehouse].value > 0.5
        axes.plot(x, y, "s", color=TEAL if rented else GREY, markersize=9)
        axes.annotate(warehouse, (x, y), xytext=(6, 5), textcoords="offset points", fontsize=8)
        for shop, (u, v, _) in given["SHOPS"].items():
            if model.serves[warehouse, shop].value > 0.5:
                axes.plot([x, u], [y, v], color=TEAL, linewidth=0.8)
    places = np.array([data[:2] for data in given["SHOPS"].values()])
    axes.plot(*places.T, "o", color="black", markersize=3)
    cost = pyo.value(model.cost)
    axes.set(xlabel="km", ylabel="km", title=f"Warehouses to rent: {cost:,.0f} euros a week")


def unit_commitment(axes: plt.Axes) -> None:
    """Draw what each power station delivers in each hour."""
    given = example("pyomo/unit_commitment")
    model = solved(given["build"](), timelimit=30, rel_gap=1e-3)
    hours = np.arange(len(given["LOAD"]))
    below = np.zeros(hours.size)
    for number, station in enumerate(given["STATIONS"]):
        output = np.array([model.output[station, t].value for t in hours])
        colour = plt.get_cmap("viridis")(number / 5)
        axes.bar(hours, output, bottom=below, width=1.0, color=colour, label=station)
        below += output
    axes.step(hours, given["LOAD"], where="mid", color="black", linewidth=1, label="load")
    axes.set(xlabel="hour", ylabel="MW", title=f"A day's power: {pyo.value(model.cost):,.0f} euros")
    axes.legend(fontsize=7, ncol=4, loc="lower right")


def price_scenarios(axes: plt.Axes) -> None:
    """Draw what a tonne of milk is worth in 200 scenarios, solved in one call."""
    model = example("pyomo/price_scenarios")["build"]()
    generator = np.random.default_rng(7)
    milk, butter = generator.uniform(1100, 1700, 200), generator.uniform(4500, 8000, 200)
    results = gb.solve_table(model, {"milk": milk, "price[butter]": butter})
    worth = results.dual(model.milk_used)
    points = axes.scatter(milk, butter, c=worth, s=14, cmap="viridis")
    plt.colorbar(points, ax=axes, label="euros for a further tonne of milk")
    axes.set(xlabel="milk in tonnes", ylabel="price of butter", title="200 scenarios in one call")


PICTURES: dict[str, Callable[[plt.Axes], None]] = {
    picture.__name__: picture
    for picture in (job_shop, facility_location, unit_commitment, price_scenarios)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("docs/images"), help="folder")
    parser.add_argument("--only", nargs="+", choices=PICTURES, default=list(PICTURES))
    given = parser.parse_args()
    plt.switch_backend("Agg")
    given.output.mkdir(parents=True, exist_ok=True)
    for name in given.only:
        figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
        PICTURES[name](axes)
        path = given.output / f"gallery-{name.replace('_', '-')}.png"
        figure.savefig(path, dpi=80)
        plt.close(figure)
        print(f"{path} drawn")


if __name__ == "__main__":
    main()
