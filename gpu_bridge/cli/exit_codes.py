"""What the command ``gpu-bridge`` answers to the shell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from solvers.core.errors import (
    DeviceError,
    FileFormatError,
    GpuBridgeError,
    OptionError,
    ProblemError,
    UnsupportedModelError,
)


class ExitCode(IntEnum):
    """Exit codes; those from 64 on follow ``sysexits.h`` where it has one."""

    OPTIMAL = 0
    FEASIBLE = 1
    INFEASIBLE = 2
    UNBOUNDED = 3
    NOTHING = 4
    APPROXIMATE = 5
    USAGE = 64
    BAD_MODEL = 65
    UNAVAILABLE = 69
    ENGINE_TROUBLE = 70
    CANNOT_WRITE = 73
    INTERRUPTED = 130
    CLOSED_PIPE = 141


SENTENCES = {
    ExitCode.OPTIMAL: "optimal (solve), or the command did its work",
    ExitCode.FEASIBLE: "a feasible point, not proven optimal",
    ExitCode.INFEASIBLE: "the model is infeasible",
    ExitCode.UNBOUNDED: "the model is unbounded",
    ExitCode.NOTHING: "a limit or numerical trouble came before any verified point",
    ExitCode.APPROXIMATE: "a point near an optimum that misses the tolerance asked for",
    ExitCode.USAGE: "wrong usage: an unknown command, a bad option or option value",
    ExitCode.BAD_MODEL: "the model or start file is missing, broken or of an unknown kind",
    ExitCode.UNAVAILABLE: "the device or a package that was asked for is not there",
    ExitCode.ENGINE_TROUBLE: "an engine failed and left no answer",
    ExitCode.CANNOT_WRITE: "an output cannot be written; those that can be are",
    ExitCode.INTERRUPTED: "interrupted; the best point so far was written",
    ExitCode.CLOSED_PIPE: "the reader of the output went away; files were written",
}


class CommandError(Exception):
    """Ends a command with a code and one line on stderr."""

    def __init__(self, code: ExitCode, message: str) -> None:
        super().__init__(message)
        self.code = code


FAULTS: tuple[tuple[type[GpuBridgeError], ExitCode], ...] = (
    (OptionError, ExitCode.USAGE),
    (DeviceError, ExitCode.UNAVAILABLE),
    (FileFormatError, ExitCode.BAD_MODEL),
    (ProblemError, ExitCode.BAD_MODEL),
    (UnsupportedModelError, ExitCode.BAD_MODEL),
    (GpuBridgeError, ExitCode.ENGINE_TROUBLE),
)
"""With which code an error ends a command; the first that fits."""


def code_of(error: GpuBridgeError) -> ExitCode:
    """Return the exit code for an error that nothing else is known of."""
    return next(code for kind, code in FAULTS if isinstance(error, kind))


@contextmanager
def ending_with(code: ExitCode, kind: type[GpuBridgeError] = FileFormatError) -> Iterator[None]:
    """End the command with ``code`` where an error of a kind comes out of the block."""
    try:
        yield
    except kind as error:
        raise CommandError(code, str(error)) from error


def exit_code_help() -> str:
    """Return the list of exit codes for the help text."""
    lines = [f"  {code.value:>3}  {SENTENCES[code]}" for code in ExitCode]
    return "\n".join(["exit codes:", *lines])
