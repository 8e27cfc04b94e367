"""Breadth-first branch and bound on CPU and GPU, after Boukedjar, Lalami and El Baz.

"Parallel branch and bound on a CPU-GPU system" (PDP 2012) treats all nodes of a level at once: item
k is left out of every node that has it, new bounds are computed for the new nodes, and nodes that
cannot beat the best packing go. Short lists are treated on the CPU, long ones on the GPU.

``kernels/nodes`` has branching, bounds and compaction, ``nodes`` a list and ``engine`` the loop
over items. Beyond the paper the compaction is done on the device, equal nodes are merged (they are
most of any long list), and the items of the best packing are recovered from where each node came
from.

``engine`` is the entry point: ``solve`` for a model, ``solve_by_tree`` for a ``Knapsack``.
"""

from solvers.papers.knapsack_branch_and_bound.engine import TreeSettings, solve, solve_by_tree

__all__ = ["TreeSettings", "solve", "solve_by_tree"]
