"""Optimisation engines over one sparse standard form; knows nothing of Pyomo or PuLP."""
