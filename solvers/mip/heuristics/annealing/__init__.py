"""Swap moves for a better objective, once there is a point.

Annealing on models that consist of choices among binaries, one of each group or at most one, and of
slacks, whose values follow from what is chosen: assignments with capacities, selections, targets
missed at a price, makespans. The LP that other searches need for their continuous columns is done
without: a move knows at once what it costs.
"""
