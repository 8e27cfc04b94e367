"""Every kernel of a solve on two machines: each call is repeated with the same arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from solvers.kernels.family import Family, Kernel

UNORDERED = ("flips", "flip_steps")
"""Results whose order is the device's own."""

SCRATCH = ("selected", "group", *UNORDERED)
"""Arrays that hold what only the kernel itself understands."""

CALLS = 12
"""Calls of a kernel that are repeated in one solve; later ones are like them."""

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
            if self.calls[name] > CALLS:
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
    if kernel.name == "choose_column":
        count = int(ours["control"][7])
        flipped = [
            sorted(
                zip(of["flips"][:count].tolist(), of["flip_steps"][:count].tolist(), strict=True)
            )
            for of in (ours, theirs)
        ]
        assert flipped[0] == flipped[1]
