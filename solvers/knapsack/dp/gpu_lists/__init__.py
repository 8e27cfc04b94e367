"""Dynamic programming over lists of states that are too long for one core, on a GPU.

``list_search`` says when a list goes to a GPU, and runs the stages of
``solvers/knapsack/dp/core.py`` on it until nothing of it is left; ``memory`` has the list and what
packings are read back from.
"""
