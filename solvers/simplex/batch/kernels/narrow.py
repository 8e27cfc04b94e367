"""Small whole numbers in a narrower type, for their way home."""

from __future__ import annotations

from solvers.kernels.family import Family, Kernel, arguments, by_owner

NARROW = Kernel(
    name="narrow",
    arguments=arguments("index count; index[] wide; out packed[] values"),
    contract="values (count,) gets what is in wide (count,), which its type has room for.",
    launch=by_owner("count"),
    work=lambda values: int(values["count"]),
    traffic=lambda values: int(values["wide"].nbytes) + int(values["values"].nbytes),
)

FAMILY = Family(
    "solvers.simplex.batch.kernels", "narrow", (NARROW,), foreseen=({"values": "uint8"},)
)
