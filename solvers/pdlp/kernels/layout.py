"""Laying a matrix out in slices on the device, a piece of its entries at a time.

Device and twin agree exactly, with each other and with ``solvers.sparse.slices.in_slices``.
"""

from __future__ import annotations

from solvers.kernels.declaration import BLOCK, Kernel, Launch, Values, structure
from solvers.kernels.family import Family

ENTRIES_OF_BLOCK = 2048
"""Entries for each block of threads, which looks for their rows together."""


def _launch(values: Values) -> Launch:
    return Launch(-(-int(values["count"]) // ENTRIES_OF_BLOCK), BLOCK)


LAY_OUT = Kernel(
    name="lay_out",
    arguments=(
        *structure(
            "laid",
            "int slices, height; index[] meta; int first_row, last_row, codes; real[] table; "
            "inout packed[] laid_indices, laid_values",
            prefix="",
        ),
        *structure(
            "placed",
            "int rows; packed[] starts; index[] position, column_position",
            prefix="",
        ),
        *structure(
            "piece",
            "int piece, piece_entries, count; index[] indices; real[] values",
            prefix="",
        ),
    ),
    contract="The entries, 'count' of them from piece * piece_entries on, of a matrix by rows, "
    "which begin at starts (rows + 1,), go to their places in 'slices' slices, fillers not "
    "counted, whose entries are laid_indices and laid_values. Row i has the position[i]-th place "
    "(rows,) of all, column j is column_position[j]; the slices hold the places from first_row on, "
    "before last_row, and rows at others are passed over. Values become places in table where "
    "there are 'codes', whose zero stands in front of the others, which ascend.",
    launch=_launch,
    work=lambda values: 32 * int(values["count"]),
)

LAYOUT = Family(
    "solvers.pdlp.kernels",
    "layout",
    (LAY_OUT,),
    foreseen=tuple(
        {"starts": "int32", "laid_indices": index, "laid_values": value}
        for value in ("float64", "float32", "uint8", "uint16")
        for index in ("int32", "uint16")
    ),
)
