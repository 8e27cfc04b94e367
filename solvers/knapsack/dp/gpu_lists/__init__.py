"""Dynamic programming over lists of states that are too long for one core, on a GPU.

``search`` runs the stages of ``solvers/knapsack/dp/core.py`` on a list that is handed to it, until
nothing of it is left; ``memory`` has the list, ``trail`` what packings are read off from, and
``choose`` says when a list goes to a GPU.
"""
