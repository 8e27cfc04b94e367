"""Exact solution of knapsack problems, in whole numbers.

``recognise`` finds them among models, and ``items`` has the problem and its answer. ``search`` goes
from cheap to dear: ``normal_form`` makes a problem smaller without changing it, ``greedy``,
``exchanges`` and ``fill`` find packings, ``intercepts`` and ``surrogate`` bound them, and ``core``
with ``states`` is dynamic programming over undominated states, from the break item outwards, which
ends every argument, unless ``tables`` do so for less. ``engine`` is the front door. Importing this
package compiles nothing.
"""

from __future__ import annotations

from solvers.knapsack.engine import solve
from solvers.knapsack.items import Knapsack, Packing
from solvers.knapsack.recognise import recognise
from solvers.knapsack.search import solve_knapsack

__all__ = ["Knapsack", "Packing", "recognise", "solve", "solve_knapsack"]
