"""What once compiled everything ahead of time, kept for scripts that call it."""

from __future__ import annotations

from collections.abc import Callable

NOTE = (
    "Nothing is compiled at the first solve any more: 'gpu-bridge warm-up' does nothing, and goes "
    "with the next release."
)


def warm_up(tell: Callable[[str], None] = lambda line: None, *, processes: int = 0) -> None:
    """Tell that nothing is left to do.

    Parameters
    ----------
    tell : callable
        Gets a line.
    processes : int
        Has no meaning any more.
    """
    tell(NOTE)
