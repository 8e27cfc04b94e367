"""Revised simplex for GPUs: vertex solutions with a basis and exact duals.

``form`` writes a problem in slack form, ``state`` holds basis, point and reduced costs,
``resident`` makes the pivots; ``solve`` is the front door. ``batch`` solves many small problems,
``paper`` keeps the four variants of the paper.
"""
