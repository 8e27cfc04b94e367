"""Revised simplex: vertex solutions with a basis and exact duals, on CPU and GPU.

``form`` writes a problem in slack form, ``state`` holds basis, point and reduced costs, ``core``
says what an implementation of the pivots offers; ``solve`` is the front door.
"""
