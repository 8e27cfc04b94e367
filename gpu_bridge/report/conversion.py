"""What the conversion of a large model is at, before there is a solve whose log could say it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, TextIO

from gpu_bridge.options import Options
from gpu_bridge.report.log_output import safe
from gpu_bridge.report.log_text import labelled

EVERY = 1.0
"""Seconds between two messages, and before the first: most conversions end without one."""

ROWS = 20_000
"""Rows of a model that are read between two looks at the clock."""

Tell = Callable[[str], None]
"""Takes in a few words what comes next, or how far it is."""


def silent(words: str) -> None:
    """Say nothing."""


def conversion_log(options: Options, streams: Sequence[TextIO] = ()) -> Tell:
    """Return a function that tells ``streams``, and the terminal if the options ask for a log."""
    asked = [sys.stdout] if options.log and sys.stdout is not None else []
    where = [safe(stream) for stream in (*streams, *asked)]
    if not where:
        return silent
    told_at = time.monotonic()

    def tell(words: str) -> None:
        nonlocal told_at
        now = time.monotonic()
        if now - told_at < EVERY:
            return
        told_at = now
        for stream in where:
            stream.write(labelled("Converting", words) + "\n")
            stream.flush()

    return tell


def in_parts(rows: Iterable[Any]) -> Iterable[list[Any]]:
    """Yield some rows after the other, so that there is a chance to tell of them in between."""
    left = iter(rows)
    while part := list(islice(left, ROWS)):
        yield part
