"""``gpu-bridge cluster-run``: many model files over the nodes of a cluster, or one in many ways."""

from __future__ import annotations

import argparse
import csv
import io
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gpu_bridge.cli.exit_codes import CommandError, ExitCode, ending_with
from gpu_bridge.cli.parser import given_options
from gpu_bridge.cli.solve_command import Output, exit_code, write_outputs
from gpu_bridge.options import make_options
from gpu_bridge.outcome import Outcome
from gpu_bridge.paths import as_path, printable
from gpu_bridge.report.log_text import clock, number, percentage
from solvers.core.errors import OptionError

TITLE = f"{'Status':<12}{'Objective':>16}{'Gap':>10}{'Time':>10}  Model"
COLUMNS = ("model", "status", "stop_reason", "objective", "bound", "gap", "seconds", "message")


def run_cluster(arguments: argparse.Namespace) -> ExitCode:
    """Run ``gpu-bridge cluster-run`` and return the largest of the models' exit codes.

    Raises
    ------
    CommandError
        With the code and the line for stderr, when there are no answers.
    """
    options: dict[str, Any] = {"cluster": "auto", "log": not arguments.quiet}
    options.update(given_options(arguments))
    make_options(options)
    _check_outputs(arguments)
    outcomes = _solve(arguments.models, options)
    _, failures = write_outputs(_outputs(outcomes, arguments))
    if failures:
        raise CommandError(ExitCode.CANNOT_WRITE, " ".join(failures))
    return max(exit_code(outcome) for outcome in outcomes)


def _solve(paths: Sequence[str], options: dict[str, Any]) -> list[Outcome]:
    """Solve the models, and show a line about each as soon as all before it are known."""
    from gpu_bridge.api import solve, solve_many

    def show(place: int, outcome: Outcome) -> None:
        if place == 0:
            print(TITLE)
        print(_line(outcome, paths[place]), flush=True)

    if len(paths) > 1:
        return list(solve_many(paths, on_outcome=show, **options))
    outcome = solve(paths[0], **options)
    show(0, outcome)
    return [outcome]


def _line(outcome: Outcome, path: str) -> str:
    status = outcome.solution_status.name.lower()
    figures = f"{number(outcome.objective):>16}{percentage(outcome.gap):>10}"
    return f"{status:<12}{figures}{clock(outcome.seconds):>10}  {printable(path)}"


def _solution_paths(arguments: argparse.Namespace) -> Iterator[Path]:
    """Give the solution file of each model, in the order of the models."""
    folder = as_path(arguments.solutions)
    for path in arguments.models:
        name = as_path(path).name
        for suffix in (".gz", ".mps", ".lp"):
            name = name.removesuffix(suffix)
        yield folder / f"{name}.sol"


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse outputs that cannot be written, or that would overwrite something, before the work."""
    from gpu_bridge.files import check_writable

    seen = {os.path.realpath(path): f"the model '{printable(path)}'" for path in arguments.models}
    outputs: list[tuple[Path, str]] = []
    if arguments.table is not None:
        outputs.append((as_path(arguments.table), "the table"))
    if arguments.solutions is not None:
        paths = _solution_paths(arguments)
        outputs += zip(paths, (f"the point of '{one}'" for one in arguments.models), strict=True)
    for path, what in outputs:
        with ending_with(ExitCode.CANNOT_WRITE):
            check_writable(path)
        owner = seen.setdefault(os.path.realpath(path), what)
        if owner != what:
            raise OptionError(
                f"'{printable(path)}' would be {what}, and is {owner}; choose another path."
            )


def _outputs(outcomes: Sequence[Outcome], arguments: argparse.Namespace) -> Iterator[Output]:
    """Yield each file that was asked for, and what writes it."""
    from gpu_bridge.files import write_solution, write_whole

    if arguments.table is not None:
        table = _table(outcomes, arguments.models).encode()
        yield arguments.table, partial(write_whole, arguments.table, table)
    if arguments.solutions is not None:
        for path, outcome in zip(_solution_paths(arguments), outcomes, strict=True):
            if outcome.solution_status.has_values:
                yield str(path), partial(write_solution, outcome, path)


def _table(outcomes: Sequence[Outcome], paths: Sequence[str]) -> str:
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(COLUMNS)
    for path, one in zip(paths, outcomes, strict=True):
        words = one.solution_status.name.lower(), one.stop_reason.name.lower()
        rows.writerow(
            [printable(path), *words, one.objective, one.bound, one.gap, one.seconds, one.message]
        )
    return text.getvalue()
