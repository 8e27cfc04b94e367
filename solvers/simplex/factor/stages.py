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
    sizes, slot_of_row, slot_of_position = (
        pivots.sizes,
        pivots.slot_of_row,
        pivots.slot_of_position,
    )
    for which in range(sizes.size):
        sizes[which] = 0
    for which in range(basic.size):
        slot_of_row[which] = -1
        slot_of_position[which] = -1
    peel(columns, n, basic, pivots, peeling)
    peeled = sizes[COUNT]
    if peeled == basic.size:
        return DONE
    full = load(columns, n, basic, pivots, nucleus)
    if full == DONE:
        full = factorise_nucleus(nucleus, pivots)
    sizes[NUCLEUS_SIZE] = sizes[COUNT] - peeled
    return int(full)
