"""Means over the rows of a matrix as the host has it, for who owns what (``distributed.sides``).

A warp takes a row, whose sum follows the tree of its lanes: twin and device agree but for rounding,
and a launch repeated gives the same bits.
"""

from __future__ import annotations

from solvers.kernels.declaration import BLOCK, WARP, Kernel, Launch, Values, arguments
from solvers.kernels.family import Family


def _launch(values: Values) -> Launch:
    return Launch(-(-int(values["rows"]) * WARP // BLOCK), BLOCK)


AVERAGE = Family(
    "solvers.pdlp.kernels",
    "average",
    (
        Kernel(
            name="average",
            arguments=arguments(
                "int rows; packed[] starts; index[] indices; real[] values; inout real[] mean"
            ),
            contract="mean (rows,) becomes the mean of values over each row's columns, which are "
            "those of indices between starts (rows + 1,), and stays for rows without any.",
            launch=_launch,
            work=lambda values: int(values["indices"].size),
        ),
    ),
    foreseen=({"starts": "int32"},),
)
