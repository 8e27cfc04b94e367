"""Rounding: dives that fix, propagate and go back."""
