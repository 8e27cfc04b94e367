"""Knapsack problems with several capacities, solved exactly."""
