"""Where the log of a solve goes, by what the options ask for."""

from __future__ import annotations

import io
import sys
from contextlib import ExitStack
from typing import Any, TextIO

from gpu_bridge.options import Options
from solvers.errors import FileFormatError, OptionError


def checked_streams(streams: Any) -> list[TextIO]:
    """Return the streams that a caller gave, each something that text can be written to.

    Raises
    ------
    OptionError
        Something else was given.
    """
    if hasattr(streams, "write"):
        raise OptionError(
            f"'streams' takes a list of text streams; put the {type(streams).__name__} into one."
        )
    if isinstance(streams, (str, bytes)) or not hasattr(streams, "__iter__"):
        raise OptionError(
            f"'streams' takes a list of text streams, such as [sys.stdout]; {streams!r} is a "
            f"{type(streams).__name__}. For a file give its path as 'log_file'."
        )
    found = list(streams)
    for stream in found:
        if not hasattr(stream, "write") or isinstance(stream, (io.RawIOBase, io.BufferedIOBase)):
            raise OptionError(
                f"'streams' takes text streams, open for writing; one of them is a "
                f"{type(stream).__name__}: {stream!r}."
            )
    return found


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
