"""Local search by walkers side by side: a few for a thread of the CPU, thousands on a GPU.

``kernels/walk.py`` says what a step is. A CPU core walks several times as fast as a warp; what a
GPU adds is thousands of searches that differ in scores, samples, tabu, targets and starts, and that
learn from the best of them in rounds. ``layout`` has the model as they read it and what they
carry, ``fleet`` how many fit, ``run`` the loop, ``restarts`` where they go on.

Models with long rows and columns, or very many, have one walker that the whole GPU drives
(``grid_wide``, ``kernels/grid_walk.py``); it is run as the others are.
"""
