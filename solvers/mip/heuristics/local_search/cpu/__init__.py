"""Local search on the CPU: Feasibility Jump and Local-MIP, one walker per thread.

``walker.Walker`` is one point that moves in slices; ``walk.walk`` is what a thread runs: slices,
styles, restarts and submissions until its budget is spent. The loops (``steps.cpp``) hold no
interpreter lock. Sources: Luteberget and Sartor, "Feasibility Jump", MPC 2023; Lin, Zou and Cai,
"An Efficient Local Search Solver for Mixed Integer Programming", CP 2024; compound moves and
dependent continuous columns are this project's own.
"""
