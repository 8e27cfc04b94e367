"""The answers to many knapsack problems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.core.errors import ProblemError
from solvers.knapsack.items import IntArray

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ManyPackings:
    """Answers to k problems that have N items together.

    Parameters
    ----------
    starts : (k + 1,) int64 array
        Items ``starts[i]`` to ``starts[i + 1]`` are those of problem i.
    packed : (N,) bool or int64 array
        Whether each item is packed, or how many copies of it where copies were given.
    profit : (k,) int64 array
        Of the packings; 0 where there is none.
    bound : (k,) int64 array
        What no packing exceeds; 2^62 where nothing is known.
    feasible : (k,) bool array
        Whether there is a packing.
    proven : (k,) bool array
        Whether the packing is proven to be best, or that there is none.
    states : (k,) int64 array
        States looked at.
    device : str
        Where the problems were solved.
    alone : int
        How many of them were too large, or too hard, to be solved together.
    """

    starts: IntArray
    packed: npt.NDArray[np.bool_] | IntArray
    profit: IntArray
    bound: IntArray
    feasible: BoolArray
    proven: BoolArray
    states: IntArray
    device: str
    alone: int = 0

    def __len__(self) -> int:
        return int(self.profit.size)

    def of(self, k: int) -> npt.NDArray[np.bool_] | IntArray:
        """Return what is packed of the items of problem k."""
        return self.packed[self.starts[k] : self.starts[k + 1]]

    @property
    def rows(self) -> npt.NDArray[np.bool_] | IntArray:
        """What is packed as (k, n), if all problems have n items.

        Raises
        ------
        ProblemError
            They have not.
        """
        sizes = np.diff(self.starts)
        least, most = int(sizes.min(initial=2**62)), int(sizes.max(initial=0))
        if sizes.size and least < most:
            raise ProblemError(
                f"The problems have from {least} to {most} items, so their packings are not the "
                "rows of one array; use of(k)."
            )
        return self.packed.reshape(len(self), most)
