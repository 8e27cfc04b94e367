"""Revised simplex for linear programs.

``solve`` is the entry point, ``state`` the form it works on, ``phases`` says what is done in which
order, ``answer`` what follows, and ``dense_gpu`` makes the pivots with a dense inverse on a device.
``batch`` solves many small problems at once.
"""
