"""Every kernel of a solve on two machines: each call is repeated with the same arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from solvers.kernels.declaration import Kernel
from solvers.kernels.family import Family
from solvers.simplex.dense_gpu.control import ENTRIES, FLIPS

UNORDERED = (("flips", "flip_steps", FLIPS), ("places", "amounts", ENTRIES))
"""Results whose order is the device's own, and the word that says how many there are."""

SCRATCH = tuple(name for pair in UNORDERED for name in pair[:2])

CALLS, LATER = 8, 16
"""Calls of a kernel that are all repeated in one solve, and of how many later ones one is."""

MAKERS = ("choose_column", "choose_entering")
"""Kernels that leave such results."""

Repeat = Callable[[Family, str, tuple[Any, ...]], Sequence[Any]]
"""Runs a kernel elsewhere on copies of its arguments, and returns host copies of all of them."""


class SideBySide:
    """Stands in for ``Family.__getitem__``: runs twins, and compares what a repetition makes."""

    def __init__(self, repeat: Repeat, original: Callable[[Family, str], Any]) -> None:
        self._repeat, self._original = repeat, original
        self.calls: Counter[str] = Counter()

    def kernel(self, family: Family, name: str) -> Callable[..., None]:
        """Return the twin of a kernel, with a comparison."""
        twin = self._original(family, name)

        def call(*values: Any) -> None:
            self.calls[name] += 1
            if self.calls[name] > CALLS and self.calls[name] % LATER:
                twin(*values)
                return
            elsewhere = self._repeat(family, name, values)
            twin(*values)
            compare(family.kernels[name], values, elsewhere)

        return call


def compare(kernel: Kernel, twin: Sequence[Any], device: Sequence[Any]) -> None:
    """Assert that two calls left the same, up to the order of sums."""
    ours, theirs = kernel.by_name(twin), kernel.by_name(device)
    for argument in kernel.arguments:
        if argument.direction == "in" or argument.name in SCRATCH:
            continue
        one, other = ours[argument.name], theirs[argument.name]
        where = f"{kernel.name}: {argument.name}"
        if argument.kind == "index[]":
            np.testing.assert_array_equal(other, one, err_msg=where)
        else:
            scale = np.abs(one[np.isfinite(one)]).max(initial=1.0)
            np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-11 * scale, err_msg=where)
    for first, second, word in UNORDERED:
        if first in ours and kernel.name in MAKERS:
            count = max(0, int(ours["control"][word]))
            made, expected = (
                sorted(zip(of[first][:count].tolist(), of[second][:count].tolist(), strict=True))
                for of in (theirs, ours)
            )
            assert made == expected, f"{kernel.name}: {first}"
