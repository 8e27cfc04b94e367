"""The walker that a whole GPU drives, for models with long rows and columns or very many.

``kernels/grid_walk.py`` says what a round is, ``state`` what the walker carries, ``choose`` for
which models it is the right one, ``fleet`` runs it as the other walkers are run.
"""
