"""Rounding: dives that fix, propagate, go back and repair."""
