"""``gpu-bridge solve``: read, check the outputs, solve, write, say what came out."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpu_bridge.cli.exit_codes import CommandError, ExitCode
from gpu_bridge.cli.parser import given_options
from gpu_bridge.footer_text import footer_lines
from gpu_bridge.log_text import labelled
from gpu_bridge.options import make_options
from gpu_bridge.outcome import Outcome
from solvers.errors import (
    CrossedBoundsError,
    DeviceError,
    EngineError,
    FileFormatError,
    GpuBridgeError,
    OptionError,
    ProblemError,
    UnsupportedModelError,
)
from solvers.outcome import SolutionStatus, Start, StopReason
from solvers.problem import Problem


def run_solve(arguments: argparse.Namespace) -> ExitCode:
    """Run ``gpu-bridge solve`` and return its exit code.

    Raises
    ------
    CommandError
        With the code and the line for stderr, when there is no answer.
    """
    options = _checked_options(arguments)
    _check_outputs(arguments, options)
    try:
        problem = read_model(arguments.model)
    except CrossedBoundsError as error:
        from gpu_bridge.crossed_bounds import crossed_bounds_outcome

        outcome = crossed_bounds_outcome(error)
    else:
        outcome = _solve(problem, _start(arguments.start, problem), options)
    written = _write_outputs(outcome, arguments)
    if not options["log"] or not outcome.log:
        _show_result(outcome)
    if written and not arguments.quiet:
        print(labelled("Written", ", ".join(written)), flush=True)
    return exit_code(outcome)


def exit_code(outcome: Outcome) -> ExitCode:
    """Return the exit code for an answer; a proof counts more than an interruption."""
    if outcome.solution_status in (SolutionStatus.FEASIBLE, SolutionStatus.NOTHING) and (
        outcome.stop_reason is StopReason.INTERRUPTED
    ):
        return ExitCode.INTERRUPTED
    return ExitCode[outcome.solution_status.name]


def read_model(path: str) -> Problem:
    """Read a model file.

    Raises
    ------
    CrossedBoundsError
        The model's own bounds contradict each other, which is an answer, not a mistake in form.
    CommandError
        The file cannot be used.
    """
    from gpu_bridge.api import read

    try:
        return read(path)
    except CrossedBoundsError:
        raise
    except (FileFormatError, ProblemError, UnsupportedModelError) as error:
        raise CommandError(ExitCode.BAD_MODEL, str(error)) from error


def _checked_options(arguments: argparse.Namespace) -> dict[str, Any]:
    options: dict[str, Any] = {"log": not arguments.quiet}
    if arguments.pool is not None:
        if arguments.solution is None:
            raise CommandError(
                ExitCode.USAGE, "--pool needs --solution, which names the files it writes."
            )
        options["pool_size"] = arguments.pool
    try:
        options.update(given_options(arguments))
        make_options(options)
    except OptionError as error:
        raise CommandError(ExitCode.USAGE, str(error)) from error
    return options


def _check_outputs(arguments: argparse.Namespace, options: dict[str, Any]) -> None:
    """Refuse outputs that cannot be written, or that would overwrite an input, before the work."""
    from gpu_bridge.adapters.files import check_writable
    from gpu_bridge.plot import check_picture_format

    outputs: dict[str, str | None] = {
        "--solution": arguments.solution,
        "--json": arguments.json,
        "--plot": arguments.plot,
        "--log-file": options.get("log_file"),
    }
    for number in range(2, (arguments.pool or 1) + 1):
        outputs[f"--pool ({number})"] = pool_path(arguments.solution, number)
    given = {flag: path for flag, path in outputs.items() if path is not None}
    inputs = [path for path in (arguments.model, arguments.start) if path is not None]
    seen: dict[str, str] = {os.path.realpath(path): "an input file" for path in inputs}
    for flag, path in given.items():
        other = seen.setdefault(os.path.realpath(path), flag)
        if other != flag:
            raise CommandError(
                ExitCode.USAGE, f"{flag} '{path}' would overwrite {other}; choose another path."
            )
    try:
        for path in given.values():
            check_writable(path)
    except FileFormatError as error:
        raise CommandError(ExitCode.CANNOT_WRITE, str(error)) from error
    if arguments.plot is not None:
        try:
            check_picture_format(arguments.plot)
        except FileFormatError as error:
            raise CommandError(ExitCode.USAGE, str(error)) from error
        except GpuBridgeError as error:
            raise CommandError(ExitCode.UNAVAILABLE, str(error)) from error


def _start(path: str | None, problem: Problem) -> Start | None:
    if path is None:
        return None
    from gpu_bridge.adapters.files import read_solution

    try:
        return Start(x=read_solution(path, problem))
    except (FileFormatError, ProblemError) as error:
        raise CommandError(ExitCode.BAD_MODEL, str(error)) from error


def _solve(problem: Problem, start: Start | None, options: dict[str, Any]) -> Outcome:
    from gpu_bridge.api import solve

    try:
        return solve(problem, start=start, **options)
    except (OptionError, UnsupportedModelError) as error:
        raise CommandError(ExitCode.USAGE, str(error)) from error
    except DeviceError as error:
        raise CommandError(ExitCode.UNAVAILABLE, str(error)) from error
    except EngineError as error:
        raise CommandError(ExitCode.ENGINE_TROUBLE, str(error)) from error


def pool_path(solution: str, number: int) -> str:
    """Return the file for a further point: a.sol becomes a-2.sol for the second."""
    path = Path(solution)
    return str(path.with_name(f"{path.stem}-{number}{path.suffix}"))


def _write_outputs(outcome: Outcome, arguments: argparse.Namespace) -> list[str]:
    """Write what was asked for and return the paths."""
    from gpu_bridge.adapters.files import write_json, write_solution
    from gpu_bridge.pool import pool_solutions

    written = []
    try:
        if arguments.solution is not None:
            write_solution(outcome, arguments.solution)
            written.append(arguments.solution)
            points = pool_solutions(outcome)[: arguments.pool or 1]
            for number, entry in enumerate(points[1:], start=2):
                path = pool_path(arguments.solution, number)
                write_solution(replace(outcome, x=entry.x, objective=entry.objective), path)
                written.append(path)
        if arguments.json is not None:
            write_json(outcome, arguments.json)
            written.append(arguments.json)
        if arguments.plot is not None:
            outcome.plot(arguments.plot)
            written.append(arguments.plot)
    except FileFormatError as error:
        raise CommandError(ExitCode.CANNOT_WRITE, str(error)) from error
    return written


def _show_result(outcome: Outcome) -> None:
    lines = footer_lines(outcome)
    explanation = "" if outcome.conflict is None else str(outcome.conflict)
    if explanation and not (outcome.message and outcome.message in explanation):
        lines += ["", explanation]
    print("\n".join(lines), flush=True)
