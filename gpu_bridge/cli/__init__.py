"""The command ``gpu-bridge``: solve | cluster-run | info | devices | options | warm-up.

How it ends says :mod:`gpu_bridge.cli.exit_codes`, whose list ``--help`` shows, too. Errors are one
line on stderr, never a traceback.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from gpu_bridge.cli.exit_codes import CommandError, ExitCode, code_of
from gpu_bridge.cli.parser import Parser, build_parser
from gpu_bridge.cli.standard_streams import StandardStreams
from gpu_bridge.interrupt import uninterrupted_imports
from gpu_bridge.pipeline.memory_limit import check_memory_limits
from solvers.core.errors import GpuBridgeError

WARM_UP = (
    "Nothing is compiled at the first solve any more: 'gpu-bridge warm-up' does nothing, and goes "
    "with the next release."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the program's name; those of ``sys.argv`` if absent.
    """
    with StandardStreams() as streams:
        code, message = _run_heeding_errors(arguments)
        if message:
            streams.complain(message)
        return int(streams.final_code(code))


def _run_heeding_errors(arguments: Sequence[str] | None) -> tuple[ExitCode, str]:
    """Return the exit code of a command, and what is to be said on stderr."""
    try:
        return _run(build_parser(), arguments), ""
    except SystemExit:  # the parser has shown the help
        return ExitCode.OPTIMAL, ""
    except CommandError as error:
        return error.code, str(error)
    except GpuBridgeError as error:
        return code_of(error), str(error)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED, "interrupted."
    except MemoryError:
        return ExitCode.ENGINE_TROUBLE, "there is not enough memory for this model."
    except Exception as error:
        return ExitCode.ENGINE_TROUBLE, _surprise(error)


@uninterrupted_imports()
def _run(parser: Parser, arguments: Sequence[str] | None) -> ExitCode:
    given = parser.parse_words(arguments)
    if given.version:
        return run_version()
    if given.command is None:
        parser.print_help(sys.stderr)
        return ExitCode.USAGE
    check_memory_limits()
    if given.command == "solve":
        from gpu_bridge.cli.solve_command import run_solve

        return run_solve(given)
    if given.command == "cluster-run":
        from gpu_bridge.cli.cluster_command import run_cluster

        return run_cluster(given)
    if given.command == "info":
        from gpu_bridge.cli.info_command import run_info

        return run_info(given)
    if given.command == "warm-up":
        return run_warm_up()
    return run_devices() if given.command == "devices" else run_options()


def _surprise(error: Exception) -> str:
    """Return a sentence on an error that nobody foresaw, with the line that it comes from."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"an error that should not happen: {type(error).__name__}: {error} "
        f"({place.filename}, line {place.lineno}). Please report it, with the model."
    )


def run_devices() -> ExitCode:
    """List the devices; return the exit code."""
    from gpu_bridge.api import devices
    from gpu_bridge.report.log_text import byte_size

    found = devices()
    for device in found:
        free = f", {byte_size(device.memory_free)} free" if device.memory_free else ""
        total = f", {byte_size(device.memory_total)}{free}" if device.memory_total else ""
        note = f" - cannot be used: {device.note}" if device.note else ""
        print(f"{device.kind:<6}{device.name}{total}{note}")
    if all(device.kind == "cpu" for device in found):
        print("No NVIDIA GPU is visible here, so every engine runs on the CPU.")
    return ExitCode.OPTIMAL


def run_options() -> ExitCode:
    """Show the option table; return the exit code."""
    from gpu_bridge.cli.parser import text_table

    print(text_table(), end="")
    return ExitCode.OPTIMAL


def run_warm_up() -> ExitCode:
    """Say that nothing is to be compiled; return the exit code."""
    print(WARM_UP)
    return ExitCode.OPTIMAL


def run_version() -> ExitCode:
    """Show the versions that matter for a report; return the exit code."""
    from gpu_bridge.report.log_text import version_line

    print(version_line())
    return ExitCode.OPTIMAL
