"""Exact solution of knapsack problems with several capacities.

``recognise`` finds these problems among models, and ``engine`` packs them. ``items`` has the
problem and what can be left out of it. ``node.h`` and ``relaxation.h`` are linear programs with few
rows, ``tree.cpp`` the search below one node, ``tree`` the cases by number of items, and
``worker_pool`` many trees side by side.

``primal_heuristics`` are searches for packings beside the trees: parallel tempering on a GPU or the
CPU (``parallel_tempering``), and a memetic search (``memetic``), which combines good packings by
exact searches in neighbourhoods of them.
"""
