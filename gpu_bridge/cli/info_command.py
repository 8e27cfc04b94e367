"""``gpu-bridge info``: what a model looks like and what would be done with it."""

from __future__ import annotations

import argparse

from gpu_bridge.cli.exit_codes import ExitCode, ending_with
from gpu_bridge.cli.parser import given_options
from gpu_bridge.options import Options, make_options
from gpu_bridge.paths import as_path, printable, same_file
from gpu_bridge.report.log_text import byte_size, labelled, model_lines, range_advice
from gpu_bridge.report.statistics import (
    LengthStatistics,
    ModelStatistics,
    memory_needed,
    model_statistics,
)
from solvers.core.errors import CrossedBoundsError, GpuBridgeError, OptionError, ProblemError
from solvers.core.problem import Problem


def run_info(arguments: argparse.Namespace) -> ExitCode:
    """Describe a model and the engine it would get; return the exit code."""
    from gpu_bridge.api import read

    options = make_options(given_options(arguments))
    _check_plot(arguments)
    try:
        problem = read(arguments.model)
    except CrossedBoundsError as error:
        print(labelled("Infeasible", str(error)))
        return ExitCode.INFEASIBLE
    if options.relax:
        problem = problem.relaxation()
    statistics = model_statistics(problem)
    lines = [*model_lines(statistics), *_length_lines(statistics)]
    lines += [labelled("Advice", text) for text in range_advice(statistics)]
    lines += [*_engine_lines(problem, options), *_memory_lines(problem)]
    print("\n".join(lines))
    if arguments.roofline:
        _show_roofline(problem, options, arguments.plot)
    return ExitCode.OPTIMAL


def _check_plot(arguments: argparse.Namespace) -> None:
    """Refuse a picture that cannot be drawn or written, before the work."""
    if arguments.plot is None:
        return
    if not arguments.roofline:
        raise OptionError("--plot draws the roofline; give --roofline too.")
    from gpu_bridge.files import check_writable
    from gpu_bridge.report.plot import check_picture_format

    with ending_with(ExitCode.CANNOT_WRITE):
        picture = check_writable(arguments.plot)
    if same_file(picture, as_path(arguments.model)):
        raise OptionError(f"--plot '{printable(picture)}' would overwrite the model.")
    with ending_with(ExitCode.UNAVAILABLE, GpuBridgeError), ending_with(ExitCode.USAGE):
        check_picture_format(arguments.plot)


def _show_roofline(problem: Problem, options: Options, plot: str | None) -> None:
    from gpu_bridge.report.roofline import plot_roofline, roofline_lines, roofline_report
    from solvers.core.device import find_device

    with ending_with(ExitCode.USAGE, ProblemError):
        report = roofline_report(problem, find_device(options.device))
    print("\n".join(roofline_lines(report)))
    if plot is not None:
        with ending_with(ExitCode.CANNOT_WRITE):
            plot_roofline(report, plot)


def _engine_lines(problem: Problem, options: Options) -> list[str]:
    from gpu_bridge.classify import classify
    from gpu_bridge.pipeline.brief import DECISION, is_worth_a_try
    from gpu_bridge.pipeline.registry import choose, title_of

    choice = choose(problem, options)
    chosen = f"{title_of(choice)}: {choice.reason}"
    engines = {"Engine": chosen}
    if options.method == "auto" and is_worth_a_try(problem, options):
        engines = {"Engine": DECISION, "Otherwise": chosen}
    return [
        labelled("Structure", classify(problem).sentence),
        *(labelled(label, text) for label, text in engines.items()),
    ]


def _memory_lines(problem: Problem) -> list[str]:
    needs = []
    for need in memory_needed(problem):
        if problem.is_mip and need.engine != "highs":
            continue
        device = f" and {byte_size(need.device_bytes)} on the GPU" if need.device_bytes else ""
        needs.append(f"about {byte_size(need.host_bytes)}{device} for {need.engine}")
    return [labelled("Memory", "\n".join(needs))]


def _length_lines(statistics: ModelStatistics) -> list[str]:
    return [
        labelled("Per row", _length_text(statistics.row_length)),
        labelled("Per column", _length_text(statistics.column_length)),
    ]


def _length_text(lengths: LengthStatistics) -> str:
    return (
        f"{lengths.shortest} to {lengths.longest} nonzeros, half of them at most {lengths.median:g}"
    )
