"""The option table as text: for ``gpu-bridge options`` and for ``docs/options.md``."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from gpu_bridge.option_names import ANY, OTHERS, SWITCH, TABLE, OtherName
from gpu_bridge.options import option_table


def markdown_table() -> str:
    """Return the option table as a Markdown table, one row per option, sorted by name."""
    lines = [
        "| Option | Type | Default | Values | What it does |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in option_table():
        values = row.range.replace("|", "\\|")
        sentence = row.sentence.replace("|", "\\|")
        lines.append(
            f"| `{row.name}` | {row.kind} | `{default_text(row.default)}` | {values} | {sentence} |"
        )
    return "\n".join(lines) + "\n"


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


def names_table() -> str:
    """Return what other solvers call our options as Markdown: an option a row."""
    lines = ["| Option | Elsewhere |", "| --- | --- |"]
    for row in option_table():
        rows = [other for other in TABLE if other.option == row.name]
        if rows:
            lines.append(f"| `{row.name}` | {_by_solver(rows, with_values=True)} |")
    return "\n".join(lines) + "\n"


def absent_table() -> str:
    """Return as Markdown which options of other solvers have no counterpart, and what to do."""
    hints: dict[str, list[OtherName]] = {}
    for other in TABLE:
        if other.option is None:
            hint = f"{other.hint} (a warning)" if other.steers else other.hint
            hints.setdefault("ignored" if other.harmless == ANY else hint, []).append(other)
    lines = ["| Elsewhere | Here |", "| --- | --- |"]
    for hint, rows in hints.items():
        lines.append(f"| {_by_solver(rows, with_values=False)} | {hint} |")
    return "\n".join(lines) + "\n"


def _by_solver(rows: Sequence[OtherName], with_values: bool) -> str:
    found: dict[str, list[str]] = {}
    for row in rows:
        names = [f"`{name}`" for name in row.names]
        if with_values and row.values and not row.is_word:
            names[-1] += _values_text(row.values)
        found.setdefault(row.solver, []).extend(names)
    return "; ".join(f"{solver}: {', '.join(names)}" for solver, names in found.items())


def _values_text(values: Mapping[str, Any]) -> str:
    """Return which values are which of ours; on, off, 0 and 1 need no words for a flag."""
    meant: dict[str, list[str]] = {}
    for their, own in values.items():
        shown = default_text(own)
        needless = (their in SWITCH and isinstance(own, bool)) or not their
        if not needless and their not in (shown, OTHERS):
            meant.setdefault(shown, []).append(their)
    parts = [f"{', '.join(several)} for `{own}`" for own, several in meant.items()]
    return f" ({'; '.join(parts)})" if parts else ""


def default_text(default: Any) -> str:
    """Return a default as one would write it on a command line."""
    if default is None or isinstance(default, bool):
        return str(default).lower()
    return str(default)
