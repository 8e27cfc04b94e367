"""A day of electricity from wind, gas and a battery, in linopy, with the price of each hour."""

from __future__ import annotations

import linopy
import numpy as np
import pandas as pd

import gpu_bridge  # makes "gpuheur" known to linopy

HOURS = pd.RangeIndex(24, name="hour")
DEMAND = pd.Series(620 + 180 * np.sin((np.arange(24) - 9) * np.pi / 12), HOURS)  # MW
WIND = pd.Series(300 + 250 * np.cos(np.arange(24) * np.pi / 8), HOURS)  # MW at most
GAS = {"old": (500.0, 92.0), "new": (400.0, 61.0)}  # MW, euros/MWh
BATTERY = {"power": 150.0, "energy": 500.0, "efficiency": 0.9}


def build() -> linopy.Model:
    model = linopy.Model()
    wind = model.add_variables(0, WIND, name="wind")
    plants = pd.Index(GAS, name="plant")
    largest, cost = (pd.Series([GAS[p][k] for p in GAS], plants) for k in (0, 1))
    gas = model.add_variables(0, largest, coords=[HOURS, plants], name="gas")
    charge = model.add_variables(0, BATTERY["power"], coords=[HOURS], name="charge")
    drain = model.add_variables(0, BATTERY["power"], coords=[HOURS], name="drain")
    level = model.add_variables(0, BATTERY["energy"], coords=[HOURS], name="level")
    model.add_constraints(wind + gas.sum("plant") + drain - charge == DEMAND, name="balance")
    before = level.roll(hour=1)  # the day ends as it begins
    model.add_constraints(
        level - before - BATTERY["efficiency"] * charge + drain == 0, name="store"
    )
    model.add_objective((gas * cost).sum())
    return model


def main() -> None:
    model = build()
    status, condition = model.solve("gpuheur")
    assert (status, condition) == ("ok", "optimal")
    prices = model.constraints["balance"].dual.to_series()
    print(f"The day costs {model.objective.value:,.0f} euros.")
    print(f"Electricity is worth {prices.min():.2f} to {prices.max():.2f} euros/MWh.")
    assert prices.max() <= 92 + 1e-6

    growth = pd.Series([1.0, 1.1, 1.2], pd.Index([2026, 2030, 2034], name="year"))
    demand = growth.to_xarray() * DEMAND.to_xarray()
    years = gpu_bridge.solve_table(model, {"balance.rhs": demand})
    for year, euros in zip(growth.index, years.objective, strict=True):
        print(f"  {year}: {euros:,.0f} euros a day")
    assert np.all(np.diff(years.objective) > 0)

    model.constraints["balance"].update(rhs=DEMAND + 600)  # nobody could supply that
    status, condition = model.solve("gpuheur")  # linopy logs the conflict
    assert (status, condition) == ("warning", "infeasible")


if __name__ == "__main__":
    main()
