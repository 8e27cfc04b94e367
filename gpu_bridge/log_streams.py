"""Where the log of a solve goes, by what the options ask for."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TextIO

from gpu_bridge.options import Options
from solvers.errors import FileFormatError


def asked_streams(options: Options, stack: ExitStack) -> list[TextIO]:
    """Return the streams of ``options.log`` and ``options.log_file``, closed with ``stack``.

    Raises
    ------
    FileFormatError
        The file cannot be written.
    """
    streams: list[TextIO] = [sys.stdout] if options.log else []
    if options.log_file is not None:
        try:
            log_file = open(options.log_file, "w", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise FileFormatError(
                f"The log file '{options.log_file}' cannot be written: {error.strerror}."
            ) from error
        streams.append(stack.enter_context(log_file))
    return streams
