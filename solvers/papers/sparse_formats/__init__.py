"""Sparse formats, their products with vectors, and the roofline that bounds these.

``survey`` builds and times a matrix in every format beside its prediction; ``choose.choose`` keeps
the fastest, and ``product.multiply`` uses it.
"""

from solvers.papers.sparse_formats.choose import survey
from solvers.papers.sparse_formats.convert import from_scipy
from solvers.papers.sparse_formats.formats import multiply
from solvers.papers.sparse_formats.machine import measure_machine

__all__ = ["from_scipy", "measure_machine", "multiply", "survey"]
