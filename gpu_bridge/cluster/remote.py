"""What workers get as code and not by name, because it runs before anything of ours is there.

It looks whether the node has this package in the driver's version. So it imports nothing but the
standard library, and takes and returns plain data.
"""

from __future__ import annotations

from typing import Any

ANSWER, OTHER_VERSION, MISSING = "answer", "other version", "missing"
"""What a call returns first: its answer follows, or why there is none, and the node's name."""


def call(version: str, module: str, name: str, *arguments: Any) -> tuple[Any, ...]:
    """Call a function of ours on a worker, if the worker has the driver's version of it."""
    import importlib
    import socket

    try:
        found = importlib.import_module("gpu_bridge").__version__
    except ImportError as error:
        return MISSING, str(error), socket.gethostname()
    if found != version:
        return OTHER_VERSION, found, socket.gethostname()
    return ANSWER, getattr(importlib.import_module(module), name)(*arguments)


class Exchange:
    """The best point and the bound of members that solve one model; an actor of Ray's.

    Objectives and bounds are minimised. Some members have a part of the model each, a leaf of a few
    branching decisions; the least bound of all leaves is one of the model. A call costs a member
    about a millisecond.

    Parameters
    ----------
    leaves : int
        How many parts there are; 0 if the model is not parted.
    """

    def __init__(self, leaves: int) -> None:
        self._version = 0
        self._point: tuple[float, Any, str] | None = None
        self._bound = float("-inf")
        self._leaves = [float("-inf")] * leaves
        self._is_over = False

    def meet(
        self, version: int, point: tuple[float, Any, str] | None, bound: float, leaf: int | None
    ) -> tuple[bool, int, tuple[float, Any, str] | None, float]:
        """Tell a point and a bound, and hear of what is better.

        Parameters
        ----------
        version : int
            What the caller was told last.
        point : (float, (n,) array, str) or None
            Objective, values and source of a better point, if the caller has found one.
        bound : float
            What it has proven of the model, or of its leaf; inf where that has no better point.
        leaf : int or None

        Returns
        -------
        (bool, int, point or None, float)
            Whether it is over, a version, the best point where it is new and another's, the bound.
        """
        if point is not None and (self._point is None or point[0] < self._point[0]):
            self._point, self._version = point, self._version + 1
        if leaf is None:
            self._bound = max(self._bound, bound)
        else:
            self._leaves[leaf] = max(self._leaves[leaf], bound)
        proven = max(self._bound, min(self._leaves, default=float("-inf")))
        is_new = self._version > version and self._point is not point
        return self._is_over, self._version, self._point if is_new else None, proven

    def end(self) -> None:
        """Let everybody hear that it is over."""
        self._is_over = True
