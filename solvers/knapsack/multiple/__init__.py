"""Exact solution of multiple knapsack problems: items that each go into one of several knapsacks.

``recognise`` finds them among models, ``items`` has the problem and makes it smaller. ``engine``
goes from cheap to dear: ``split.cpp`` and ``subset_sum.h`` divide a choice of items among the
knapsacks, ``prices`` bounds the profit; ``patterns.cpp``, ``listed``, ``cover.cpp`` and
``narrow.h`` search among fillings of single knapsacks, ``completion`` fills one after the other,
``tree.cpp`` goes item by item.
"""
