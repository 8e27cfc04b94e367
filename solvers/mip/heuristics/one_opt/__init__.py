"""One-opt and two-opt: moves of one and of two columns that improve a feasible point.

``improve(model, x, budget, seed)`` returns a point at least as good, feasible if the first was.
"""
