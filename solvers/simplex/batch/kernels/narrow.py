"""Small whole numbers in a narrower type, for their way home."""

from __future__ import annotations

from solvers.kernels.family import Argument, Family, Kernel, by_owner

NARROW = Kernel(
    name="narrow",
    arguments=(
        Argument("count", "index"),
        Argument("wide", "index[]"),
        Argument("values", "packed[]", "out"),
    ),
    contract="values (count,) gets what is in wide (count,), which its type has room for.",
    launch=by_owner("count"),
    work=lambda values: int(values["count"]),
    bytes_moved=lambda values: int(values["wide"].nbytes) + int(values["values"].nbytes),
)

FAMILY = Family(
    "solvers.simplex.batch.kernels", "narrow", (NARROW,), foreseen=({"values": "uint8"},)
)
