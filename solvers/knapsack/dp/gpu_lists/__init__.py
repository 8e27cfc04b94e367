"""Dynamic programming over lists of states that are too long for one core, on a GPU.

``list_search`` runs the stages of ``solvers/knapsack/dp/core.py`` on a list handed to it, until
nothing of it is left; ``memory`` has the list and what packings are read back from, and
``handover`` says when a list goes to a GPU.
"""
