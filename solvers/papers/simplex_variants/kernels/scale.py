"""Equilibration on the device: geometric means of rows and columns, rounded to powers of two.

The paper names scaling as what a production solver would move to the device (its section 5).
"""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel
from solvers.papers.simplex_variants.kernels.layout import REAL_BYTES, by_size

COMPRESSED = (
    Argument("starts", "index[]"),
    Argument("indices", "index[]"),
    Argument("values", "real[]"),
)

GEOMETRIC = Kernel(
    name="geometric",
    arguments=(
        Argument("size", "int"),
        *COMPRESSED,
        Argument("other", "real[]"),
        Argument("scale", "real[]", "out"),
    ),
    contract="scale (size,) = 1/sqrt(smallest * largest) of each owner's coefficients times "
    "'other', the scales of the other side; 1 where there are none. Agrees with the twin exactly.",
    launch=by_size,
    work=lambda values: int(values["values"].size),
    bytes_moved=lambda values: 2 * int(values["values"].nbytes),
)

APPLY = Kernel(
    name="apply_scales",
    arguments=(
        Argument("size", "int"),
        *COMPRESSED,
        Argument("own", "real[]"),
        Argument("other", "real[]"),
        Argument("scaled", "real[]", "out"),
    ),
    contract="scaled (nnz,) = values times the scales of their owner and of the other side.",
    launch=by_size,
    work=lambda values: int(values["values"].size),
    bytes_moved=lambda values: 3 * REAL_BYTES * int(values["values"].size),
)

SCALE = Family("solvers.papers.simplex_variants.kernels", "scale", (GEOMETRIC, APPLY))
