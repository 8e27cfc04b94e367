"""Compiling everything ahead of time, which otherwise the first solves do.

Loops for the CPU are compiled by Numba and kernels for the GPU by NVRTC, at their first use; both
are kept on disk, so that it happens once for an installation. It takes a minute or two, and
who measures, or serves requests, will want to have it behind. Parts are compiled by processes of
their own side by side. Two that keep the same function at once may lose what one of them has kept,
so that everything is gone through once more at the end, which finds nearly all of it on disk.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import scipy.sparse as sp

from solvers.device import list_devices
from solvers.problem import Problem

SIZE = 160
"""Rows of the models that are solved to have their engines compiled."""


def warm_up(tell: Callable[[str], None] = lambda line: None, *, processes: int = 0) -> None:
    """Compile what the engines need, on every device that can be used.

    Parameters
    ----------
    tell : callable
        Gets a line about each step.
    processes : int
        To compile with; 0 takes one for each core, and 1 none but this one.
    """
    kinds = {device.kind: device.name for device in list_devices() if not device.note}
    for name in kinds.values():
        tell(f"Compiling for {name} ...")
    parts = [(part, kind) for kind in kinds for part in _PARTS]
    workers = min(len(parts), processes or os.cpu_count() or 1)
    if workers > 1:
        spawn = multiprocessing.get_context("spawn")  # a forked process has no use of the GPU
        with ProcessPoolExecutor(workers, mp_context=spawn) as pool:
            for _ in pool.map(_compile, *zip(*parts, strict=True)):
                pass
    for part, kind in parts:
        _compile(part, kind)


def _compile(part: str, device: str) -> None:
    _PARTS[part](device)


def _solve_linear(device: str) -> None:
    for problem in _problems():
        _solve(problem, device)


def _solve(problem: Problem, device: str) -> None:
    """Solve a model as the bridge does, and by the engine alone in every way of storing it."""
    import gpu_bridge
    from gpu_bridge.options import make_options
    from solvers import pdlp
    from solvers.pdlp import Settings
    from solvers.progress import Progress

    gpu_bridge.solve(problem, method="pdlp", device=device, crossover="off")
    if device == "cpu":
        return
    gpu_bridge.solve(problem, method="simplex", device=device)
    options = make_options(device=device, tolerance=1e-4, iteration_limit=2000)
    plain = Settings(barrier_from=0, launches_from=0)
    for settings in (plain, dataclasses.replace(plain, pack_from=0)):
        pdlp.solve(problem, options, Progress(60.0), settings=settings)


def _solve_many(device: str) -> None:
    import gpu_bridge

    base = next(iter(_problems()))
    costs = base.cost * np.linspace(1.0, 1.1, 8)[:, None]
    batch = gpu_bridge.Batch(base, cost=costs)
    for threads in (0, 1):  # loops for all cores, and those of small batches
        answers = gpu_bridge.solve_many(batch, method="simplex", device=device, threads=threads)
        np.isfinite(answers.reduced_cost)  # computed when asked for


def _solve_mip(device: str) -> None:
    """Search a model with every kind of column by every heuristic."""
    import gpu_bridge

    generator = np.random.default_rng(0)
    pattern = sp.random_array((SIZE, 2 * SIZE), density=0.05, rng=generator, format="csr")
    pattern.data[:] = generator.integers(1, 9, pattern.nnz)
    kinds = np.arange(2 * SIZE) % 4
    problem = Problem.from_arrays(
        generator.integers(1, 30, 2 * SIZE),
        pattern,
        row_lower=np.maximum(1.0, np.floor(0.4 * pattern.sum(axis=1))),
        upper=np.where(kinds < 2, 1.0, 7.0),
        integrality=kinds < 3,
    )
    turn_by_turn = device == "cpu"
    gpu_bridge.solve(
        problem,
        method="mip",
        device=device,
        heuristics_only=True,
        deterministic=turn_by_turn,
        work_limit=0.3 if turn_by_turn else None,
        time_limit=60.0 if turn_by_turn else 20.0,
    )


def _solve_equations(device: str) -> None:
    """Search for whole numbers that keep equations, where lattices and substitutions come in."""
    if device != "cpu":
        return
    import gpu_bridge

    generator = np.random.default_rng(0)
    rows, columns = SIZE // 20, SIZE // 2
    matrix = generator.integers(1, 30, (rows, columns)) * (generator.random((rows, columns)) < 0.7)
    right = matrix @ generator.integers(0, 8, columns)
    defined = sp.hstack([sp.csr_array(matrix[:1]), sp.csr_array([[-1.0]])])
    problem = Problem.from_arrays(
        np.zeros(columns + 1),
        sp.vstack([sp.hstack([sp.csr_array(matrix), sp.csr_array((rows, 1))]), defined]),
        row_lower=np.append(right, 0.0),
        row_upper=np.append(right, 0.0),
        upper=np.append(np.full(columns, 15.0), np.inf),
        integrality=np.ones(columns + 1),
    )
    gpu_bridge.solve(
        problem,
        method="mip",
        device=device,
        heuristics_only=True,
        deterministic=True,
        work_limit=0.1,
        time_limit=60.0,
    )


def _meet_sums(device: str) -> None:
    """Look for the columns that make up a sum, by meeting in the middle."""
    if device != "cpu":
        return
    from solvers.mip.budget import Budget
    from solvers.mip.model import MipModel
    from solvers.mip.sums import SumSearch, find_sums

    matrix = np.append(np.arange(1.0, 13.0), 1.0)[None, :]
    upper = np.append(np.ones(12), 9.0)
    slack_cost = np.append(np.zeros(12), 1.0)
    problem = Problem.from_arrays(slack_cost, matrix, 40.0, 40.0, upper=upper, integrality=True)
    model = MipModel.of(problem)
    sums = find_sums(model, model.lower, model.upper)
    assert sums is not None  # one equation of whole numbers with a slack
    SumSearch(sums, lambda *_: True, lambda: (np.inf, None), 0).run(Budget(work=1e6))


def _place_numbers(device: str) -> None:
    """Put numbers in places so that some have a sum, where groups exchange their values."""
    if device != "cpu":
        return
    from solvers.mip.budget import Budget
    from solvers.mip.model import MipModel
    from solvers.mip.search.exchanges import Exchanges, find_groups
    from solvers.mip.search.exchanges.costs import CostExchanges, find_structure

    size = 8
    ones, unit = np.ones((1, size)), np.eye(size)
    summed = np.kron(np.arange(size) < size // 2, np.arange(size))
    sides = np.append(np.ones(2 * size), size * (size - 1) // 4)
    problem = Problem.from_arrays(
        np.zeros(size * size),
        np.vstack([np.kron(unit, ones), np.kron(ones, unit), summed]),
        row_lower=sides,
        row_upper=sides,
        upper=1.0,
        integrality=True,
    )
    model = MipModel.of(problem)
    groups = find_groups(model)
    assert groups is not None  # all columns are in one
    Exchanges(model, groups, lambda *_: True, lambda *_: None, 0).run(Budget(work=1e6))
    structure, placing = find_structure(model), unit.ravel()
    assert structure is not None  # nor is anything else
    CostExchanges(model, structure, lambda *_: True, lambda: placing, 0).run(Budget(work=1e5))


def _solve_knapsack(device: str) -> None:
    """Solve one whose search is long enough for every part of it; most of that is the CPU's."""
    if device != "cpu":
        return
    from solvers.knapsack import Knapsack, solve_knapsack
    from solvers.knapsack.choice import MultipleChoice, solve_choice
    from solvers.knapsack.many import solve_many_knapsacks
    from solvers.knapsack.multiple import MultipleKnapsack, solve_multiple
    from solvers.progress import Progress

    generator = np.random.default_rng(0)
    weight = generator.integers(1, 10**6, 10 * SIZE)
    for profit in (weight + 10**5, weight + 10**5 + generator.integers(-1000, 1000, weight.size)):
        solve_knapsack(Knapsack.binary(profit, weight, int(weight.sum()) // 2), Progress(20.0))
    solve_many_knapsacks([[1, 2]], [[1, 2]], [2], "cpu")
    clusters = 10 ** generator.integers(3, 8, 60) + generator.integers(0, 20, 60)
    half = int(clusters.sum()) // 3
    solve_knapsack(Knapsack.binary(clusters + 3, clusters, half), Progress(5.0))
    weight = generator.integers(1, 10**5, 300)
    classes = np.arange(0, weight.size + 1, 10)
    profit = weight + generator.integers(0, 10, weight.size)
    half = int(weight.sum()) // 10
    solve_choice(MultipleChoice(profit, weight, classes, half), Progress(20.0))
    weight = generator.integers(10, 1000, SIZE // 8)
    few = np.full(4, int(weight.sum()) // 8)
    solve_multiple(MultipleKnapsack(weight + 7, weight, few), Progress(20.0))
    _fill_tables()


def _fill_tables() -> None:
    """Solve knapsack problems by tables: of profits, small and large, and of sums."""
    from solvers.knapsack import Knapsack, solve_knapsack
    from solvers.progress import Progress

    generator = np.random.default_rng(0)
    weight = generator.integers(5000, 10001, 1000)
    profit = weight + generator.integers(980, 1021, weight.size)
    for values in (profit, 10**6 * profit + generator.integers(0, 9, weight.size)):
        solve_knapsack(Knapsack(values, weight, 100_007 // weight, 100_007), Progress(20.0))
    weight = np.append(10 * generator.integers(1, 1000, 12), 3)
    copies = np.append(1_000_009 // weight[:-1], 1)
    solve_knapsack(Knapsack(weight, weight, copies, 1_000_009), Progress(20.0))


def _problems() -> list[Problem]:
    """Return models whose coefficients are stored in each of the ways there are."""
    generator = np.random.default_rng(0)
    columns = 2 * SIZE
    pattern = sp.random_array((SIZE, columns), density=0.2, rng=generator, format="csr")
    count = pattern.nnz
    few = generator.integers(1, 9, count).astype(np.float64)
    several = few + generator.integers(0, 400, count) / 512.0
    short = few + generator.integers(0, 2**20, count) / 2.0**20
    long = generator.uniform(1.0, 9.0, count)
    found = []
    for values in (few, several, short, long):
        matrix = sp.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)
        cost = generator.uniform(-1.0, 1.0, columns)
        found.append(Problem.from_arrays(cost, matrix, -np.inf, 400.0, lower=0.0, upper=10.0))
    return found


_PARTS: dict[str, Callable[[str], None]] = {
    "mip": _solve_mip,
    "linear": _solve_linear,
    "many": _solve_many,
    "equations": _solve_equations,
    "knapsack": _solve_knapsack,
    "placing": _place_numbers,
    "sums": _meet_sums,
}
"""What is compiled by itself, the longest first."""
