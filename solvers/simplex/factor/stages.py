"""The stages of a factorisation, one after another."""

from __future__ import annotations

from solvers.kernels.twin import compiled
from solvers.simplex.factor.arrays import Int64Array
from solvers.simplex.factor.markowitz import factorise_nucleus
from solvers.simplex.factor.nucleus import Nucleus, load
from solvers.simplex.factor.peel import Peeling, peel
from solvers.simplex.factor.pivots import COUNT, DONE, NUCLEUS_SIZE, Pivots
from solvers.simplex.form import Compressed


@compiled
def choose_pivots(
    columns: Compressed,
    n: int,
    basic: Int64Array,
    pivots: Pivots,
    peeling: Peeling,
    nucleus: Nucleus,
) -> int:
    """Choose the pivots of a basis, from the beginning.

    Returns ``DONE``, or which file is too small. Rows and positions whose slot is -1 then have no
    pivot: the basis is singular.
    """
    pivots.sizes[:] = 0
    pivots.slot_of_row[:] = -1
    pivots.slot_of_position[:] = -1
    peel(columns, n, basic, pivots, peeling)
    peeled = pivots.sizes[COUNT]
    if peeled == basic.size:
        return DONE
    full = load(columns, n, basic, pivots, nucleus)
    if full == DONE:
        full = factorise_nucleus(nucleus, pivots)
    pivots.sizes[NUCLEUS_SIZE] = pivots.sizes[COUNT] - peeled
    return int(full)
