"""Exact solution of knapsack problems, in whole numbers.

``items`` has the problem and its answer, ``normal_form`` makes it smaller without changing it,
``states`` and ``core`` are dynamic programming over undominated states around the break item, and
``solve`` is the front door. Importing this package compiles nothing.
"""
