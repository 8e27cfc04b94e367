"""Revised simplex for linear programs.

``slack_form`` is the form it works on, ``driver`` and ``phases`` say what is done in which order,
``dense_gpu`` makes the pivots with a dense inverse on a device, and ``solve`` is the entry point.
``batch`` solves many small problems at once.
"""
