"""Rounding: dives that fix, propagate, go back and repair; bulk rounding along a point."""
