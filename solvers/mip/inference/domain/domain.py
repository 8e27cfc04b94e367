"""The box that the columns may still lie in, narrowed by decisions and what follows from them."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.inference.domain.state import (
    CAPPED,
    CONFLICT,
    INFEASIBLE,
    STRICT,
    TRAIL,
    WORK,
    Box,
    copied,
    empty_box,
    reserved,
)
from solvers.mip.model import IndexArray, MipModel
from solvers.native.mip_inference_domain import (
    decide,
    mark,
    propagate,
    sum_all,
    undo,
    wake,
    wake_all,
)

CAP_PER_NONZERO = 20
"""Entries that one propagation may visit, for each entry of the matrix."""

SMALLEST_CAP = 100_000
"""The same at least, for small models."""


class Domain:
    """Bounds of every column with the activities of every row, a trail and a queue of rows.

    Each change is propagated at once. ``model`` and ``box`` are for loops in C++
    (``propagate.h``), which have to find room on the trail: :meth:`reserve`.

    Parameters
    ----------
    model : MipModel
    box : Box
        Owned by the domain from here on.
    """

    def __init__(self, model: MipModel, box: Box) -> None:
        self.model = model
        self.box = box
        self.cap = max(SMALLEST_CAP, CAP_PER_NONZERO * model.num_nonzeros)

    @classmethod
    def of(cls, model: MipModel, widened: float = 0.0) -> Domain:
        """Return the model's own bounds; nothing is propagated yet.

        ``widened`` moves the sides of all rows outward, relative to ``max(1, |side|)``.
        """
        box = empty_box(model, widened)
        sum_all(model, box)
        return cls(model, box)

    @property
    def lower(self) -> FloatArray:
        """Lower bounds (n,): a view that follows the domain and cannot be written to."""
        return _view(self.box.bounds[0])

    @property
    def upper(self) -> FloatArray:
        """Upper bounds (n,): a view that follows the domain and cannot be written to."""
        return _view(self.box.bounds[1])

    @property
    def is_infeasible(self) -> bool:
        """Whether propagation has shown that the box holds no feasible point."""
        return bool(self.box.counts[INFEASIBLE])

    @property
    def conflict_row(self) -> int:
        """Row where the last contradiction showed; -1 for none, or for a decision out of bounds."""
        return int(self.box.counts[CONFLICT])

    @property
    def work(self) -> int:
        """Entries of the matrix visited so far."""
        return int(self.box.counts[WORK])

    @property
    def times_capped(self) -> int:
        """How many propagations ended before their fixed point, at the cap on work."""
        return int(self.box.counts[CAPPED])

    def propagate(self, rows: IndexArray | None = None) -> bool:
        """Propagate the given rows, or all, and what follows; False if there is no point left."""
        self.reserve()
        if rows is None:
            wake_all(self.box)
        else:
            wake(self.box, np.ascontiguousarray(rows, dtype=np.int32))
        return propagate(self.model, self.box, self.cap, STRICT)

    def fix(self, j: int, value: float) -> bool:
        """Fix a column and propagate; False if that leaves no point."""
        return self.tighten(j, value, value)

    def tighten(self, j: int, low: float, high: float) -> bool:
        """Narrow a column to [low, high] within its bounds and propagate; False if impossible.

        Bounds of integer columns have to be whole.
        """
        self.reserve()
        return decide(self.model, self.box, int(j), float(low), float(high), self.cap, STRICT)

    def mark(self) -> int:
        """Return a place to come back to."""
        return mark(self.box)

    def undo(self, place: int) -> None:
        """Go back to what :meth:`mark` returned ``place`` for; bounds are the same bit for bit."""
        undo(self.model, self.box, place)

    def forget(self) -> None:
        """Make the present box the one that is never undone: all marks lose their meaning."""
        mark(self.box)  # a new level: what it changes has to be recorded again
        self.box.counts[TRAIL] = 0

    def reserve(self) -> None:
        """Make room on the trail for one more level."""
        self.box = reserved(self.box)

    def copy(self) -> Domain:
        """Return an independent domain with the same bounds and trail; the model is shared."""
        other = Domain(self.model, copied(self.box))
        other.cap = self.cap
        return other


def _view(values: FloatArray) -> FloatArray:
    view = values.view()
    view.flags.writeable = False
    return view
