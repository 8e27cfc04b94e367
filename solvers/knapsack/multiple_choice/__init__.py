"""Exact solution of multiple-choice knapsack problems: one item of each class, one capacity.

``recognise`` finds them among models, and ``items`` has the problem. ``relaxation``
drops what is dominated, bounds by the hulls of the classes and by what profits are possible at all,
and chooses a first selection. ``stages`` says in what order classes are decided, and has the lists
of undominated states; ``engine`` is the dynamic programme over them, class by class.
"""
