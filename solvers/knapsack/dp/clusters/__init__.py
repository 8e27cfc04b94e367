"""Items whose weights come in clusters: from the lightest cluster upwards, exactly.

The weights of hard instances like those of Jooken, Leyman and De Causmaecker ("A new class of hard
problem instances for the 0-1 knapsack problem", 2022) lie in a few narrow ranges far apart. What
sums they have is then a matter of how many items of each range are packed, and the linear
relaxation, which packs parts of items, knows nothing of the gaps between these sums.

``detect`` finds the ranges, ``completions`` lists what heavier clusters can add at most, with one
state for each sum that numbers of items have, and ``search`` goes up through the items, with every
state pruned that none of these completes to a packing good enough. ``stages`` has the loops.
"""

from __future__ import annotations

from solvers.knapsack.dp.clusters.cluster_search import Climbed, climb_clusters

__all__ = ["Climbed", "climb_clusters"]
