"""Sparse formats, their products with vectors, and the roofline that bounds these.

``survey`` builds and times a matrix in every format beside its prediction, the fastest first;
``build`` makes one of them, and ``multiply`` uses it.
"""

from solvers.papers.sparse_formats.formats import build, from_scipy, multiply
from solvers.papers.sparse_formats.machine import measure_machine
from solvers.papers.sparse_formats.roofline import survey

__all__ = ["build", "from_scipy", "measure_machine", "multiply", "survey"]
