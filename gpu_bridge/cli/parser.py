"""The grammar of the command line; flags for options are made from the option table."""

from __future__ import annotations

import argparse
import difflib
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from gpu_bridge.cli.exit_codes import CommandError, ExitCode, exit_code_help
from gpu_bridge.option_values import OptionRow
from gpu_bridge.options import option_rows, option_table
from solvers.core.errors import OptionError

OPTION_PREFIX = "option_"
NOT_FLAGS = frozenset({"log"})
"""Options of the table that the command line sets itself: the log is on unless --quiet."""

FILE_FLAGS = (
    *("--solution", "--pool", "--json", "--plot", "--report", "--start", "--quiet"),
    *("--option", "--roofline", "--solutions", "--table"),
)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are ours: one line and the documented exit code."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of exiting with argparse's own code, which means infeasible here."""
        raise CommandError(ExitCode.USAGE, f"{message} (see '{self.prog} --help')")

    def parse_words(self, words: Sequence[str] | None) -> argparse.Namespace:
        """Parse all words; one that is not known is refused with the nearest flag there is."""
        words = sys.argv[1:] if words is None else words
        given, unknown = self.parse_known_args(list(_with_our_flags(words)))
        if unknown:
            word = unknown[0].partition("=")[0]
            flags = ["--" + row.name.replace("_", "-") for row in option_table()]
            near = difflib.get_close_matches(word, [*flags, *FILE_FLAGS], n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            if near == [word]:
                hint = ": it belongs to another command"
            self.error(f"'{word}' is not known here{hint}")
        return given


def build_parser() -> Parser:
    """Return the parser of ``gpu-bridge``."""
    parser = Parser(
        prog="gpu-bridge",
        description="Solve linear and mixed-integer models from MPS and LP files, on a GPU where "
        "there is one.",
        **_with_exit_codes(),
    )
    parser.add_argument("--version", action="store_true", help="show the versions and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    _add_solve(commands)
    _add_cluster(commands)
    _add_info(commands)
    for name, help_text in (
        ("devices", "list the devices that engines can run on"),
        ("options", "show the table of options"),
        ("warm-up", "does nothing any more: everything is compiled"),
    ):
        commands.add_parser(name, help=help_text, description=help_text, allow_abbrev=False)
    return parser


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the table that were given, by flag or by ``--option name=value``.

    Raises
    ------
    OptionError
        An unknown name, a wrong type or a value out of range, a ``--option`` without an equals
        sign, or an option given twice with different values.
    """
    from gpu_bridge.option_translation import is_known, stands_alone

    values: dict[str, Any] = {}
    for row in option_table():
        text = getattr(arguments, OPTION_PREFIX + row.name, None)
        if text is not None:
            values[row.name] = text
    for pair in arguments.option or ():
        name, equals, text = pair.partition("=")
        name = name.strip()
        if not equals and not stands_alone(name):
            raise OptionError(f"--option needs NAME=VALUE; '{pair}' was given.")
        if not is_known(name, option_rows()):
            name = name.replace("-", "_")
        if name in values and values[name] != text:
            raise OptionError(f"Option '{name}' was given twice: {values[name]} and {text}.")
        values[name] = text  # of a word none, and not True, which is a value of ours: of `relax`
    return values


def _with_our_flags(words: Sequence[str]) -> Iterator[str]:
    """Give the words of a command, with the flags of other solvers as ``--option NAME=VALUE``."""
    rows = [row for row in option_table() if row.name not in NOT_FLAGS]
    ours = {f"--{no}{row.name.replace('_', '-')}" for row in rows for no in ("", "no-")}
    ours |= {*FILE_FLAGS, "--version", "--help", "-h"}
    remaining = iter(words)
    for word in remaining:
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-") or word.partition("=")[0] in ours:
            yield word
            continue
        from gpu_bridge.option_translation import is_known, stands_alone

        if not is_known(name, option_rows()):
            yield word
            continue
        if not equals and not stands_alone(name):
            value = next(remaining, "")
        yield from ("--option", f"{name}={value}" if equals or not stands_alone(name) else name)


def _with_exit_codes(before: str = "") -> dict[str, Any]:
    """Return what parsers have in common whose help ends with the exit codes."""
    return {
        "epilog": before + exit_code_help(),
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }


def _add_solve(commands: Any) -> None:
    solve = commands.add_parser(
        "solve",
        help="solve a model and write its answer",
        description="Solve the model in an MPS or LP file (plain or .gz), show the log and the "
        "result.",
        **_with_exit_codes(),
    )
    solve.add_argument("model", metavar="MODEL", help="MPS or LP file, plain or .gz")
    files = solve.add_argument_group("files")
    files.add_argument("--solution", metavar="FILE.sol", help="write the point in MIPLIB's format")
    files.add_argument(
        "--pool",
        metavar="N",
        type=_at_least_one,
        help="with --solution: write up to N distinct points, best first, the others as "
        "FILE-2.sol, FILE-3.sol, ...",
    )
    files.add_argument("--json", metavar="FILE.json", help="write everything known as JSON")
    files.add_argument("--plot", metavar="FILE.png", help="draw incumbent and bound over time")
    files.add_argument("--report", metavar="FILE.html", help="write a page about the solve")
    files.add_argument("--start", metavar="FILE.sol", help="start from the point in this file")
    solve.add_argument("--quiet", action="store_true", help="show the result without the log")
    _add_options(solve)


def _add_cluster(commands: Any) -> None:
    run = commands.add_parser(
        "cluster-run",
        help="solve models on a Ray cluster",
        description="Solve the models in MPS and LP files (plain or .gz) on the nodes of a Ray "
        "cluster, several each on a worker, one mixed-integer model in many ways at once.",
        **_with_exit_codes("Ends with the largest of the models' exit codes.\n\n"),
    )
    run.add_argument("models", metavar="MODEL", nargs="+", help="MPS or LP files, plain or .gz")
    files = run.add_argument_group("files")
    files.add_argument(
        "--solutions", metavar="FOLDER", help="write each point as MODEL.sol in this folder"
    )
    files.add_argument("--table", metavar="FILE.csv", help="write a line about each answer")
    run.add_argument("--quiet", action="store_true", help="show the results without the log")
    _add_options(run)


def _at_least_one(text: str) -> int:
    """Read a number of files.

    Raises
    ------
    argparse.ArgumentTypeError
        It is no whole number from 1 on.
    """
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number of at least 1")
    return int(text)


def _add_info(commands: Any) -> None:
    info = commands.add_parser(
        "info",
        help="describe a model: statistics, structure, engine and memory",
        description="Describe the model in a file and say which engine would solve it, and why.",
        **_with_exit_codes(),
    )
    info.add_argument("model", metavar="MODEL", help="MPS or LP file, plain or .gz")
    info.add_argument(
        "--roofline",
        action="store_true",
        help="time products with the matrix in every format, beside what the device allows",
    )
    info.add_argument("--plot", metavar="FILE.png", help="draw the roofline (with --roofline)")
    _add_options(info)


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("options (also as --option NAME=VALUE)")
    for row in option_table():
        if row.name not in NOT_FLAGS:
            _add_flag(group, row)
    group.add_argument(
        "--option", action="append", metavar="NAME=VALUE", help="set any option of the table"
    )


def _add_flag(group: Any, row: OptionRow) -> None:
    flag = "--" + row.name.replace("_", "-")
    destination = OPTION_PREFIX + row.name
    values = f" [{row.range}]" if row.range and row.type != "bool" else ""
    help_text = f"{row.sentence}{values} (default: {default_text(row.default)})"
    help_text = help_text.replace("%", "%%")
    if row.type == "bool":
        action = argparse.BooleanOptionalAction
        group.add_argument(flag, dest=destination, action=action, default=None, help=help_text)
    elif row.type.startswith("bool"):
        word = {"nargs": "?", "const": "true", "metavar": "WORD"}
        group.add_argument(flag, dest=destination, help=help_text, **word)
        no = f"--no-{flag.removeprefix('--')}"
        group.add_argument(no, dest=destination, action="store_const", const="false")
    else:
        metavar = "FILE" if row.name.endswith("_file") else "VALUE"
        group.add_argument(flag, dest=destination, metavar=metavar, help=help_text)


def text_table() -> str:
    """Return the option table for a terminal: a line of facts and a sentence for each option."""
    lines = []
    for row in option_table():
        facts = f"{row.kind}, default {default_text(row.default)}"
        if row.range:
            facts += f", {row.range}"
        lines.append(f"{row.name:<23} {facts}")
        lines += textwrap.wrap(
            row.sentence, 96, initial_indent=" " * 24, subsequent_indent=" " * 24
        )
    return "\n".join(lines) + "\n"


def default_text(default: Any) -> str:
    """Return a default as one would write it on a command line."""
    if default is None or isinstance(default, bool):
        return str(default).lower()
    return str(default)
