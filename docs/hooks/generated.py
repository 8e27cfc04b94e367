"""Tables that the code declares, put into the pages where a mark asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpu_bridge.cli.exit_codes import SENTENCES
from gpu_bridge.report.option_docs import markdown_table


def exit_code_table() -> str:
    """Return the exit codes of ``gpu-bridge solve`` as a Markdown table."""
    lines = ["| code | meaning |", "|---|---|"]
    lines += [f"| {code.value} | {sentence} |" for code, sentence in SENTENCES.items()]
    return "\n".join(lines) + "\n"


TABLES: dict[str, tuple[str, Callable[[], str]]] = {
    "options.md": ("<!-- option table -->", markdown_table),
    "files.md": ("<!-- exit codes -->", exit_code_table),
}


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Replace the mark of a page by its table; MkDocs calls this for every page."""
    if page.file.src_uri not in TABLES:
        return markdown
    mark, table = TABLES[page.file.src_uri]
    if mark not in markdown:
        raise ValueError(f"docs/{page.file.src_uri} has no line '{mark}' for its table.")
    return markdown.replace(mark, table())
