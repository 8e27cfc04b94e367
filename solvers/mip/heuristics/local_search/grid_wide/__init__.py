"""The walker that a whole GPU drives, for models with long rows and columns or very many.

``kernels/grid_walk.py`` says what a round is, ``state`` what the walker carries and which models it
suits. It is run as the other walkers are (``gpu/fleet.py``).
"""
