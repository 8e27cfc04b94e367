"""``gpu-bridge solve``: read, check the outputs, solve, write, say what came out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gpu_bridge.cli.exit_codes import CommandError, ExitCode, ending_with
from gpu_bridge.cli.parser import given_options
from gpu_bridge.cli.standard_streams import STANDARD_OUTPUT
from gpu_bridge.options import make_options
from gpu_bridge.outcome import Outcome
from gpu_bridge.paths import as_path, printable, same_file
from gpu_bridge.report.log_output import DROPPED, dropped_streams
from gpu_bridge.report.log_text import footer_lines, labelled
from solvers.core.errors import (
    CrossedBoundsError,
    GpuBridgeError,
    OptionError,
    UnsupportedModelError,
)
from solvers.core.outcome import SolutionStatus, Start, StopReason
from solvers.core.problem import Problem


def run_solve(arguments: argparse.Namespace) -> ExitCode:
    """Run ``gpu-bridge solve`` and return its exit code.

    Raises
    ------
    CommandError
        With the code and the line for stderr, when there is no answer.
    """
    from gpu_bridge.api import read, solve

    options = _checked_options(arguments)
    _check_outputs(arguments, options)
    try:
        problem = read(arguments.model)
    except CrossedBoundsError as error:
        from gpu_bridge.outcome import crossed_bounds_outcome

        outcome = crossed_bounds_outcome(error)
    else:
        start = _start(arguments.start, problem)
        with ending_with(ExitCode.USAGE, UnsupportedModelError):
            outcome = solve(problem, start=start, **options)
    _tell_of_broken_log(outcome)
    written, failures = write_outputs(_outputs(outcome, arguments))
    if not options["log"] or not outcome.log:
        _show_result(outcome)
    if written and not arguments.quiet:
        print(labelled("Written", ", ".join(written)))
    if failures:
        raise CommandError(ExitCode.CANNOT_WRITE, " ".join(failures))
    return exit_code(outcome)


def exit_code(outcome: Outcome) -> ExitCode:
    """Return the exit code for an answer; a proof counts more than an interruption."""
    unproven = (SolutionStatus.FEASIBLE, SolutionStatus.APPROXIMATE, SolutionStatus.NOTHING)
    if outcome.solution_status in unproven and outcome.stop_reason is StopReason.INTERRUPTED:
        return ExitCode.INTERRUPTED
    return ExitCode[outcome.solution_status.name]


def _checked_options(arguments: argparse.Namespace) -> dict[str, Any]:
    options: dict[str, Any] = {"log": not arguments.quiet}
    if arguments.pool is not None:
        if arguments.solution is None:
            raise OptionError("--pool needs --solution, which names the files it writes.")
        options["pool_size"] = arguments.pool
    options.update(given_options(arguments))
    make_options(options)
    return options


def _check_outputs(arguments: argparse.Namespace, options: dict[str, Any]) -> None:
    """Refuse outputs that cannot be written, or that would overwrite an input, before the work."""
    from gpu_bridge.files import check_writable
    from gpu_bridge.report.page import require_jinja
    from gpu_bridge.report.plot import check_picture_format

    outputs: dict[str, str | None] = {
        "--solution": arguments.solution,
        "--json": arguments.json,
        "--plot": arguments.plot,
        "--report": arguments.report,
        "--log-file": options.get("log_file"),
    }
    for number in range(2, (arguments.pool or 1) + 1):
        outputs[f"--pool ({number})"] = pool_path(arguments.solution, number)
    given = {flag: path for flag, path in outputs.items() if path is not None}
    inputs = [as_path(path) for path in (arguments.model, arguments.start) if path is not None]
    with ending_with(ExitCode.CANNOT_WRITE):
        _check_apart(inputs, given)
        for path in given.values():
            check_writable(path)
    with ending_with(ExitCode.UNAVAILABLE, GpuBridgeError), ending_with(ExitCode.USAGE):
        if arguments.plot is not None:
            check_picture_format(arguments.plot)
        if arguments.report is not None:
            require_jinja()


def _check_apart(inputs: list[Path], outputs: dict[str, str]) -> None:
    """Refuse an output that would overwrite an input or another output."""
    seen = [(path, "an input file") for path in inputs]
    for flag, path in outputs.items():
        for other, what in seen:
            if same_file(as_path(path), other):
                raise OptionError(
                    f"{flag} '{printable(path)}' would overwrite {what}; choose another path."
                )
        seen.append((as_path(path), flag))


def _start(path: str | None, problem: Problem) -> Start | None:
    if path is None:
        return None
    from gpu_bridge.files import read_solution

    return Start(x=read_solution(path, problem))


def pool_path(solution: str, number: int) -> str:
    """Return the file for a further point: a.sol becomes a-2.sol for the second."""
    path = Path(solution)
    return str(path.with_name(f"{path.stem}-{number}{path.suffix}"))


Output = tuple[str, Callable[[], object]]
"""The path of a file, and what writes it."""


def write_outputs(outputs: Iterable[Output]) -> tuple[list[str], list[str]]:
    """Write what was asked for; return the paths written, and why others were not."""
    written, failures = [], []
    for path, write in outputs:
        try:
            write()
        except GpuBridgeError as error:
            failures.append(str(error))
        else:
            written.append(printable(path))
    return written, failures


def _outputs(outcome: Outcome, arguments: argparse.Namespace) -> Iterator[Output]:
    """Yield each file that was asked for, and what writes it."""
    from gpu_bridge.files import write_json, write_solution
    from gpu_bridge.solution_pool import pool_solutions

    solution = arguments.solution
    if solution is not None:
        yield solution, partial(write_solution, outcome, solution)
        points = pool_solutions(outcome)[: arguments.pool or 1]
        for number, entry in enumerate(points[1:], start=2):
            path = pool_path(solution, number)
            further = replace(outcome, x=entry.x, objective=entry.objective)
            yield path, partial(write_solution, further, path)
    if arguments.json is not None:
        yield arguments.json, partial(write_json, outcome, arguments.json)
    if arguments.plot is not None:
        yield arguments.plot, partial(outcome.plot, arguments.plot)
    if arguments.report is not None:
        yield arguments.report, partial(outcome.report, arguments.report)


def _tell_of_broken_log(outcome: Outcome) -> None:
    """Say on stderr which stream of the log broke; of standard output it is said at the end."""
    for line in dropped_streams(outcome.log):
        if not line.startswith(f"{DROPPED}'{STANDARD_OUTPUT}'"):
            print(f"gpu-bridge: {line}", file=sys.stderr)


def _show_result(outcome: Outcome) -> None:
    lines = footer_lines(outcome)
    explanation = "" if outcome.primal_ray is not None else outcome.explanation
    if explanation and not (outcome.message and outcome.message in explanation):
        lines += ["", explanation]
    print("\n".join(lines))
