"""The command ``gpu-bridge``: solve | info | devices | options | warm-up.

``gpu-bridge solve`` ends with 0 for an optimal answer, 1 for a feasible point without a proof,
2 for infeasible, 3 for unbounded and 4 for nothing found; mistakes in usage end with 64, bad
model files with 65, a missing device or package with 69, trouble in an engine with 70, outputs
that cannot be written with 73 and interruption with 130. :mod:`gpu_bridge.cli.exit_codes` holds
the whole list, which ``--help`` shows too. Errors are one line on stderr, never a traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from gpu_bridge.cli.exit_codes import CommandError, ExitCode
from gpu_bridge.cli.parser import Parser, build_parser
from solvers.errors import GpuBridgeError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the program's name; those of ``sys.argv`` if absent.
    """
    try:
        code = _run(build_parser(), arguments)
        sys.stdout.flush()
        return int(code)
    except CommandError as error:
        return _complain(str(error), error.code)
    except GpuBridgeError as error:
        return _complain(str(error), ExitCode.ENGINE_TROUBLE)
    except KeyboardInterrupt:
        return _complain("interrupted.", ExitCode.INTERRUPTED)
    except MemoryError:
        return _complain("there is not enough memory for this model.", ExitCode.ENGINE_TROUBLE)
    except BrokenPipeError:
        # Python flushes stdout once more at its end and would complain about the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.CLOSED_PIPE


def _run(parser: Parser, arguments: Sequence[str] | None) -> ExitCode:
    given = parser.parse_words(arguments)
    if given.version:
        from gpu_bridge.cli.listings import run_version

        return run_version()
    if given.command == "solve":
        from gpu_bridge.cli.solve_command import run_solve

        return run_solve(given)
    if given.command == "info":
        from gpu_bridge.cli.info_command import run_info

        return run_info(given)
    if given.command is None:
        parser.print_help(sys.stderr)
        return ExitCode.USAGE
    from gpu_bridge.cli import listings

    if given.command == "warm-up":
        return listings.run_warm_up()
    return listings.run_devices() if given.command == "devices" else listings.run_options()


def _complain(message: str, code: ExitCode) -> int:
    print(f"gpu-bridge: {message}", file=sys.stderr)
    return int(code)
