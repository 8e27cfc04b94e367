"""What the roofline model needs of a machine: how fast it reads, from memory and from cache."""

from __future__ import annotations

from solvers.kernels.declaration import Kernel, arguments, by_owner
from solvers.kernels.family import Family

STREAM_READ = Kernel(
    name="stream_read",
    arguments=arguments("index readers, size; int repeats; real[] source; out real[] sums"),
    contract="sums[i] becomes the sum of source[(i + r * readers) % size] over r below 'repeats'; "
    "i < readers <= size. All elements are read equally often where repeats * readers is a "
    "multiple of size.",
    launch=by_owner("readers"),
    work=lambda values: int(values["readers"]) * int(values["repeats"]),
)

BANDWIDTH = Family("solvers.papers.sparse_formats.kernels", "bandwidth", (STREAM_READ,))
