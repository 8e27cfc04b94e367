"""Standard output and error of a command, whose work goes on when they break."""

from __future__ import annotations

import errno
import os
import sys
from typing import TextIO, cast

from gpu_bridge.cli.exit_codes import ExitCode
from gpu_bridge.report.log_output import SafeStream, safe

STANDARD_OUTPUT = "standard output"


class StandardStreams:
    """Puts safe streams in the places of ``sys.stdout`` and ``sys.stderr`` while a block runs.

    Afterwards what cannot be written any more is thrown away, or the interpreter would try again at
    its end, complain, and change the exit code.
    """

    def __enter__(self) -> StandardStreams:
        self._before = sys.stdout, sys.stderr
        _fill_closed_descriptors()
        self._output, self._errors = SafeStream(sys.stdout, STANDARD_OUTPUT), safe(sys.stderr)
        sys.stdout, sys.stderr = cast("TextIO", self._output), cast("TextIO", self._errors)
        return self

    def __exit__(self, *error: object) -> None:
        sys.stdout, sys.stderr = self._before
        for stream in (self._output, self._errors):
            if stream.failure is not None:
                _throw_away(stream)

    def complain(self, message: str) -> None:
        """Write one line on standard error."""
        line = " ".join(message.split("\n"))
        self._errors.write(f"gpu-bridge: {line}\n")

    def final_code(self, code: ExitCode) -> ExitCode:
        """Return the exit code of a command: that of its answer, if it could be written.

        Says on standard error why it could not be, unless the reader went away on purpose.
        """
        failure = self._output.failure
        if failure is None or code >= ExitCode.USAGE:
            return code
        if isinstance(failure, BrokenPipeError) or getattr(failure, "errno", 0) == errno.EPIPE:
            return ExitCode.CLOSED_PIPE
        reason = getattr(failure, "strerror", None) or failure
        self.complain(f"{STANDARD_OUTPUT} cannot be written: {reason}.")
        return ExitCode.CANNOT_WRITE


def _fill_closed_descriptors() -> None:
    """Open what the shell has closed (``>&-``), lest a file of the solve gets its number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)


def _throw_away(stream: SafeStream) -> None:
    try:
        number = stream.stream.fileno() if stream.stream is not None else None
    except (OSError, ValueError, AttributeError):  # no file of the system, or closed
        return
    if number is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
