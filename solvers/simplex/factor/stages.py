"""The stages of a factorisation, one after another."""

from __future__ import annotations

from solvers.simplex.factor.arrays import Int64Array
from solvers.simplex.factor.inner import outer
from solvers.simplex.factor.markowitz import factorise_nucleus
from solvers.simplex.factor.nucleus import Nucleus, load
from solvers.simplex.factor.peel import Peeling, peel
from solvers.simplex.factor.pivots import COUNT, DONE, PEELED, Pivots
from solvers.simplex.form import Compressed


@outer
def choose_pivots(
    columns: Compressed,
    n: int,
    basic: Int64Array,
    pivots: Pivots,
    peeling: Peeling,
    nucleus: Nucleus,
) -> int:
    """Choose the pivots of a basis, from the beginning.

    Returns ``DONE``, which file is too small, or ``FILLED_UP``: ``dense.factorise_dense`` goes on.
    Rows and positions whose slot is -1 after ``DONE`` have no pivot: the basis is singular.
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
    sizes[PEELED] = sizes[COUNT]
    if sizes[COUNT] == basic.size:
        return DONE
    full = load(columns, n, basic, pivots, nucleus)
    if full == DONE:
        full = factorise_nucleus(nucleus, pivots)
    return int(full)
