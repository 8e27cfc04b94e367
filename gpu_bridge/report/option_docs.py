"""The option table as text: for ``gpu-bridge options`` and for ``docs/options.md``."""

from __future__ import annotations

import textwrap
from typing import Any

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


def text_table(width: int = 96) -> str:
    """Return the option table for a terminal: a line of facts and a sentence for each option."""
    lines = []
    for row in option_table():
        facts = f"{row.kind}, default {default_text(row.default)}"
        if row.range:
            facts += f", {row.range}"
        lines.append(f"{row.name:<23} {facts}")
        lines += textwrap.wrap(
            row.sentence, width, initial_indent=" " * 24, subsequent_indent=" " * 24
        )
    return "\n".join(lines) + "\n"


def default_text(default: Any) -> str:
    """Return a default as one would write it on a command line."""
    if default is None or isinstance(default, bool):
        return str(default).lower()
    return str(default)
