"""The entry point: a knapsack problem solved by breadth-first branch and bound."""

from __future__ import annotations

from solvers.core.device import Device, cpu, find_device
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.dp.core import flags_to_copies
from solvers.knapsack.efficiency import by_efficiency
from solvers.knapsack.engine import Tell, solve_model
from solvers.knapsack.items import Knapsack, Packing
from solvers.knapsack.normal_form import normal_form
from solvers.papers.knapsack_branch_and_bound.run import DEFAULT, TreeSettings, branch_and_bound

ENGINE = "knapsack-branch-and-bound"


def solve(
    problem: Problem, options: EngineOptions | None = None, progress: Progress | None = None
) -> Outcome:
    """Solve a model that :func:`~solvers.knapsack.recognise` takes for a knapsack problem.

    Parameters
    ----------
    problem : Problem
    options : EngineOptions, optional
        ``device`` and ``threads`` are read.
    progress : Progress, optional
        Keeps the time limit; when it is up, the best packing comes with a valid bound.

    Returns
    -------
    Outcome
        In the minimised sense, not yet verified.

    Raises
    ------
    EngineError
        The model is not a knapsack problem, or its numbers are too large.
    """
    given = EngineOptions() if options is None else options
    kept = Progress() if progress is None else progress

    def pack(knapsack: Knapsack, _: Tell) -> Packing:
        return solve_by_tree(knapsack, find_device(given.device), kept, threads=given.threads)

    return solve_model(problem, kept, ENGINE, pack)


def solve_by_tree(
    given: Knapsack,
    device: Device | None = None,
    progress: Progress | None = None,
    settings: TreeSettings = DEFAULT,
    *,
    threads: int = 0,
) -> Packing:
    """Find a packing of largest profit as the paper does, and prove that it is one.

    Parameters
    ----------
    given : Knapsack
    device : Device, optional
        A GPU for long lists, or the CPU alone.
    progress : Progress, optional
        Keeps the time limit; when it is up, or memory is, the best packing so far comes with a
        valid bound.
    settings : TreeSettings
    threads : int
        CPU threads; 0 means all.

    Raises
    ------
    EngineError
        A product of weight and profit leaves 64 bits behind.
    """
    stopping = Progress() if progress is None else progress
    form = normal_form(given)
    if not form.is_feasible:
        return Packing(None, 0, 0, "no packing fits")
    items = by_efficiency(form.knapsack)
    found = branch_and_bound(
        items,
        cpu() if device is None else device,
        lambda: stopping.should_stop() is not None,
        settings,
        threads=threads,
    )
    x = form.packing_back(flags_to_copies(items, found.flags, form.knapsack.num_items))
    packed, weight = given.value_of(x)
    if weight > given.capacity or packed != form.profit_back(found.profit):
        raise EngineError(f"A packing of weight {weight} was said to be worth {packed}.")
    path = f"breadth-first branch and bound, {found.on_gpu} levels on the GPU"
    return Packing(x, packed, form.profit_back(found.bound), path, found.nodes)
