"""New blood vessels grow towards a tumour: four coupled equations, one LU for all time steps.

    python examples/papers/angiogenesis_imex.py [--points 100] [--steps 100] [--plot IMAGE]

The model and the scheme are those of De Luca, Fiorillo and Marcellino, *A GPU-CUDA numerical
algorithm for solving a biological model* (AppliedMath 5, 2025). On 0 <= x <= 1, with the vessel at
x = 0 and the tumour at x = 1, endothelial cells C, protease P, inhibitor I and the matrix between
the cells F follow

    C_t = d_C C_xx - (a_I C I_x)_x - (a_F C F_x)_x - (a_T C T_x / (1 + a_S T))_x + k_1 C (1 - C)
    P_t = d_P P_xx + k_4 T C + k_5 T - k_6 P - k_3 P I
    I_t = d_I I_xx - k_3 P I
    F_t = -k_2 P F,                       T = exp(-(1 - x)^2 / width)

with nothing passing through the ends. What is linear, L U, is diffusion, decay and k_4 T C; all
else is N(U). The IMEX trapezoidal scheme treats L implicitly and N explicitly,

    (I - dt/2 L) U_new = (I + dt/2 L) U + dt N(U),

a system of n = 4 M equations whose matrix never changes. The paper eliminates it anew in every
step; here it is factorised once. Three things differ from the paper on purpose:

* chemotaxis is written as differences of fluxes, which conserve cells to rounding. The paper's
  product rule, C_x I_x + C I_xx, conserves them to the discretisation error only;
* besides its explicit Euler step for N, which makes the whole scheme of first order in time, there
  is one that extrapolates N from two steps (3/2 N - 1/2 N_old) and is of second order, with the
  same matrix;
* the text of the paper that was at hand lacks its formulas and its table of parameters, so the
  terms follow its words. T and the first F are those of Anderson and Chaplain (*Continuous and
  discrete mathematical models of tumor-induced angiogenesis*, 1998); the other first values and the
  constants below are ours, chosen so that a front moves.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from solvers.core.device import Device, cpu, find_device
from solvers.papers.dense_lu import lu

NAMES = ("endothelial cells", "protease", "inhibitor", "extracellular matrix")
DIGITS = 1e-12
"""Solutions by different solvers have to agree to this, relative to their norm."""


@dataclass(frozen=True)
class Parameters:
    """Constants of the model, without dimension."""

    d_c: float = 2e-3
    d_p: float = 5e-3
    d_i: float = 5e-3
    a_i: float = 0.02
    a_f: float = 0.02
    a_t: float = 0.06
    a_s: float = 0.6
    k_1: float = 0.3
    k_2: float = 1.0
    k_3: float = 0.5
    k_4: float = 1.0
    k_5: float = 0.2
    k_6: float = 0.3
    width: float = 0.45


@dataclass(frozen=True)
class Scheme:
    """How to step: by fluxes or the product rule, with N extrapolated or not."""

    product_rule: bool = False
    extrapolated: bool = False


@dataclass(frozen=True)
class Run:
    """The states of a simulation and what it took; masses are of cells, step by step."""

    states: np.ndarray  # (steps + 1, 4, M)
    mass_defect: float  # largest relative error of the balance of cells in a step
    clipped: int  # negative values set to zero
    factorising: float
    stepping: float


def grid(points: int) -> np.ndarray:
    return np.linspace(0.0, 1.0, points)


def attractant(x: Any, p: Parameters) -> Any:
    return np.exp(-((1.0 - x) ** 2) / p.width)


def initial_state(points: int) -> np.ndarray:
    """Cells near the vessel, no protease, some inhibitor, a matrix densest at the vessel."""
    x = grid(points)
    cells = np.exp(-(x**2) / 0.02)
    inhibitor = 0.25 * (1.0 + np.cos(np.pi * x))
    return np.stack([cells, np.zeros(points), inhibitor, 0.75 * np.exp(-(x**2) / 0.45)])


def laplacian(points: int) -> np.ndarray:
    """Second differences; points beyond the ends mirror those within."""
    matrix = np.diag(np.full(points, -2.0))
    matrix += np.diag(np.ones(points - 1), 1) + np.diag(np.ones(points - 1), -1)
    matrix[0, 1] = matrix[-1, -2] = 2.0
    return matrix * (points - 1) ** 2


def linear_operator(points: int, p: Parameters) -> np.ndarray:
    """L (4 M, 4 M): diffusion and decay, and protease made by cells."""
    D, eye, none = laplacian(points), np.eye(points), np.zeros((points, points))
    making = p.k_4 * np.diag(attractant(grid(points), p))
    return np.block(
        [
            [p.d_c * D, none, none, none],
            [making, p.d_p * D - p.k_6 * eye, none, none],
            [none, none, p.d_i * D, none],
            [none, none, none, none],
        ]
    )


def cell_weights(points: int) -> np.ndarray:
    """Weights of the trapezoidal rule: the cells in all of 0 <= x <= 1 are weights @ C."""
    weights = np.full(points, 1.0 / (points - 1))
    weights[[0, -1]] /= 2.0
    return weights


def minus_divergence(xp: Any, carried: Any, towards: Any, product_rule: bool) -> Any:
    """-(carried towards_x)_x, with no flux through the ends."""
    h = 1.0 / (carried.size - 1)
    if product_rule:  # the paper's: -(c_x v_x + c v_xx), c_x and v_x zero at the ends
        slopes = xp.zeros((2, carried.size))
        slopes[0, 1:-1] = (carried[2:] - carried[:-2]) / (2.0 * h)
        slopes[1, 1:-1] = (towards[2:] - towards[:-2]) / (2.0 * h)
        return -slopes[0] * slopes[1] - carried * second_difference(xp, towards)
    flux = 0.5 * (carried[1:] + carried[:-1]) * (towards[1:] - towards[:-1]) / h
    out = xp.empty_like(carried)
    out[0], out[1:-1], out[-1] = -2.0 * flux[0] / h, (flux[:-1] - flux[1:]) / h, 2.0 * flux[-1] / h
    return out


def second_difference(xp: Any, v: Any) -> Any:
    out = xp.empty_like(v)
    out[1:-1] = v[2:] - 2.0 * v[1:-1] + v[:-2]
    out[0], out[-1] = 2.0 * (v[1] - v[0]), 2.0 * (v[-2] - v[-1])
    return out * (v.size - 1) ** 2


def linear_part(xp: Any, U: Any, T: Any, p: Parameters) -> Any:
    """L U by differences, which is what the matrix says and takes no product with it."""
    cells, protease, inhibitor, _ = U
    out = xp.zeros_like(U)
    out[0] = p.d_c * second_difference(xp, cells)
    out[1] = p.k_4 * T * cells + p.d_p * second_difference(xp, protease) - p.k_6 * protease
    out[2] = p.d_i * second_difference(xp, inhibitor)
    return out


def nonlinear_part(xp: Any, U: Any, T: Any, p: Parameters, product_rule: bool) -> Any:
    """N(U) (4, M): what moves and multiplies cells, binding, degradation, secretion."""
    cells, protease, inhibitor, fibres = U
    out = xp.empty_like(U)
    binding = p.k_3 * protease * inhibitor
    out[0] = p.k_1 * cells * (1.0 - cells)
    saturated = p.a_t * cells / (1.0 + p.a_s * T)
    for carried, towards in (
        (p.a_i * cells, inhibitor),
        (p.a_f * cells, fibres),
        (saturated, T),
    ):
        out[0] += minus_divergence(xp, carried, towards, product_rule)
    out[1] = p.k_5 * T - binding
    out[2] = -binding
    out[3] = -p.k_2 * protease * fibres
    return out


def simulate(
    start: np.ndarray,
    end: float,
    steps: int,
    p: Parameters,
    device: Device,
    scheme: Scheme | None = None,
    solver: Callable[[Any], Callable[[Any], Any]] | None = None,
) -> Run:
    """Step from 0 to ``end``; ``solver`` makes of the matrix what solves with it (default: LU)."""
    scheme = scheme or Scheme()
    xp, dt, points = device.xp, end / steps, start.shape[1]
    matrix = np.eye(4 * points) - 0.5 * dt * linear_operator(points, p)
    began = time.perf_counter()
    solve = by_lu(device)(matrix) if solver is None else solver(matrix)
    device.synchronize()
    factorised = time.perf_counter()
    T, weights = (
        device.to_device(attractant(grid(points), p)),
        device.to_device(cell_weights(points)),
    )
    U, old, clipped, states = device.to_device(start), None, 0, [start]
    balance = []  # per step: cells before, born, after
    for _ in range(steps):
        N = nonlinear_part(xp, U, T, p, scheme.product_rule)
        explicit = N if old is None or not scheme.extrapolated else 1.5 * N - 0.5 * old
        side = U + 0.5 * dt * linear_part(xp, U, T, p) + dt * explicit
        born = dt * p.k_1 * (weights @ (U[0] * (1.0 - U[0])))
        before, old = weights @ U[0], N
        U = solve(side.reshape(-1)).reshape(U.shape)
        balance.append([float(before), float(born), float(weights @ U[0])])
        clipped += int((U < 0.0).sum())
        U = xp.maximum(U, 0.0)
        states.append(device.to_host(U))
    stepped = time.perf_counter()
    cells, born, after = np.array(balance).T
    # Extrapolated births are a mean over two steps; their balance is not that of one step.
    defect = np.abs(after - cells - born) / cells if not scheme.extrapolated else np.zeros(1)
    return Run(
        np.stack(states), float(defect.max()), clipped, factorised - began, stepped - factorised
    )


def by_lu(device: Device) -> Callable[[Any], Callable[[Any], Any]]:
    def prepare(matrix: np.ndarray) -> Callable[[Any], Any]:
        factors = lu.factorise(matrix, device)
        return lambda side: lu.solve(factors, side)

    return prepare


def by_inverse(device: Device) -> Callable[[Any], Callable[[Any], Any]]:
    """Multiply with the inverse: one product for two substitutions, whose rows wait in line."""

    def prepare(matrix: np.ndarray) -> Callable[[Any], Any]:
        inverse = lu.inverse(lu.factorise(matrix, device))
        return lambda side: inverse @ side

    return prepare


def by_sparse_lu(matrix: np.ndarray) -> Callable[[Any], Any]:
    """Another order of elimination, hence other rounding; it also uses that most of it is zero."""
    solve: Callable[[Any], Any] = splu(csc_array(matrix)).solve
    return solve


def difference(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def order_in_time(points: int, steps: int, p: Parameters, device: Device, scheme: Scheme) -> float:
    """From three runs with halved steps: log2 of the ratio of successive differences."""
    start = initial_state(points)
    ends = [simulate(start, 1.0, steps * 2**i, p, device, scheme).states[-1] for i in range(3)]
    return float(np.log2(difference(ends[0], ends[1]) / difference(ends[1], ends[2])))


def order_in_space(points: int, steps: int, p: Parameters, device: Device, scheme: Scheme) -> float:
    """From three grids, each with the points of the coarser one and those between them."""
    ends = []
    for i in range(3):
        fine = (points - 1) * 2**i + 1
        run = simulate(initial_state(fine), 1.0, steps, p, device, scheme)
        ends.append(run.states[-1][:, :: 2**i])
    return float(np.log2(difference(ends[0], ends[1]) / difference(ends[1], ends[2])))


def plot(run: Run, end: float, path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    steps, x = run.states.shape[0] - 1, grid(run.states.shape[2])
    figure, panels = plt.subplots(2, 2, figsize=(9, 6), sharex=True, layout="constrained")
    for which, (panel, name) in enumerate(zip(panels.flat, NAMES, strict=True)):
        for share in (0.0, 0.25, 0.5, 1.0):
            at = round(share * steps)
            colour = plt.colormaps["viridis"](0.9 * share)
            panel.plot(x, run.states[at, which], color=colour, label=f"t = {end * at / steps:g}")
        panel.set_title(name)
    panels[0, 0].legend()
    for panel in panels[1]:
        panel.set_xlabel("x (vessel at 0, tumour at 1)")
    figure.savefig(path, dpi=120)
    print(f"Plot in {path}")


def check(what: str, holds: bool) -> None:
    print(f"  {'yes' if holds else 'NO '}  {what}")
    if not holds:
        raise SystemExit("A check failed.")


def main() -> None:
    arguments = parse()
    p, device, start = Parameters(), find_device(arguments.device), initial_state(arguments.points)
    end, steps = arguments.time, arguments.steps
    with device.activate():
        simulate(start, 2.0 * end / steps, 2, p, device)  # compiles and loads
        run = simulate(start, end, steps, p, device)
        product = simulate(start, end, steps, p, device, solver=by_inverse(device))
    if device.kind == "cuda":
        label, other = "LAPACK on the CPU", simulate(start, end, steps, p, cpu())
    else:
        label, other = "sparse LU", simulate(start, end, steps, p, device, solver=by_sparse_lu)
    print(f"{steps} steps with n = {start.size} unknowns on {device.name}:")
    for name, timed in (("LU", run), ("its inverse", product), (label, other)):
        print(f"  {name}: prepared in {timed.factorising:.3g} s, all steps {timed.stepping:.3g} s")
    anew = steps * seconds_to_eliminate(start.size // 4, end / steps, p)
    print(f"  eliminating anew in each step, as in the paper: {anew:.3g} s for the CPU")
    agreement("its inverse", run, product)
    agreement(label, run, other)
    conservation(run, start, end, steps, p)
    orders(p, arguments)
    if arguments.plot:
        plot(run, end, arguments.plot)
    print("All checks hold.")


def seconds_to_eliminate(points: int, dt: float, p: Parameters) -> float:
    matrix = np.eye(4 * points) - 0.5 * dt * linear_operator(points, p)
    began = time.perf_counter()
    np.linalg.solve(matrix, np.ones(4 * points))
    return time.perf_counter() - began


def cells(run: Run) -> np.ndarray:
    return run.states[:, 0] @ cell_weights(run.states.shape[2])


def agreement(label: str, run: Run, other: Run) -> None:
    """Compare states and numbers of cells by two solvers, over all steps (the paper's table 5)."""
    worst = max(difference(a, b) for a, b in zip(run.states, other.states, strict=True))
    check(f"agrees with {label}: largest relative difference {worst:.1e}", worst < DIGITS)
    apart = float(np.abs(cells(run) - cells(other)).max() / cells(run)[0])
    check(f"counts as many cells: relative difference {apart:.1e}", apart < DIGITS)


def conservation(run: Run, start: np.ndarray, end: float, steps: int, p: Parameters) -> None:
    """Check what the scheme keeps: cells, but for those born, which are none with k_1 = 0."""
    balance = f"cells are what they were and what was born: off by {run.mass_defect:.1e}"
    check(balance, run.mass_defect < 1e-13)
    drift = []
    for scheme in (Scheme(), Scheme(product_rule=True)):
        kept = cells(simulate(start, end, steps, replace(p, k_1=0.0), cpu(), scheme))
        drift.append(float(np.abs(kept / kept[0] - 1.0).max()))
    check(f"without births their number stays: off by {drift[0]:.1e}", drift[0] < 1e-13)
    print(f"       (by the product rule: off by {drift[1]:.1e})")
    check(f"no concentration fell below zero ({run.clipped} values)", run.clipped == 0)


def orders(p: Parameters, arguments: argparse.Namespace) -> None:
    """Measure the orders of convergence, on the CPU."""
    coarse, steps = arguments.coarse, arguments.coarse_steps
    plain, extrapolated = Scheme(), Scheme(extrapolated=True)
    first = order_in_time(coarse, steps, p, cpu(), plain)
    check(f"order in time {first:.2f} with N by Euler's step", abs(first - 1.0) < 0.15)
    second = order_in_time(coarse, steps, p, cpu(), extrapolated)
    check(f"order in time {second:.2f} with N extrapolated", abs(second - 2.0) < 0.2)
    space = order_in_space(coarse, steps, p, cpu(), plain)
    check(f"order in space {space:.2f}", abs(space - 2.0) < 0.2)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--points", type=int, default=100, help="grid points M; n = 4 M")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--time", type=float, default=1.0, help="end of the simulation")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda")
    parser.add_argument("--coarse", type=int, default=41, help="coarsest grid of the orders")
    parser.add_argument("--coarse-steps", type=int, default=25, help="fewest steps of the orders")
    parser.add_argument("--plot", default="", metavar="FILE", help="draw the states into a file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
