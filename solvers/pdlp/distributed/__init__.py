"""One linear program over several GPUs of a host, for :mod:`solvers.pdlp`.

Each GPU owns a range of the rows and a range of the columns (``sides``), and holds A by its rows
and A' by its columns (``matrix``). A half of an iteration runs on what a GPU owns, by the same
kernels as on one GPU; then it sends what other GPUs read of its elements (``communication``), and
nothing else. Sums of a check go round, too, and every GPU draws the same conclusions from them, so
that the control array is the same everywhere. A vector (``vectors``) holds on each GPU the elements
that it owns, and behind them copies of those of others that it reads.

The elements that other GPUs read come first in each half: while they travel, the rest is computed.

Every row is summed as on one GPU, so the iterates are those of one GPU bit for bit, until rounding
in the sums of a check leads to a step size that differs in its last place.
"""
