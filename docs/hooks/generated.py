"""What pages take from outside their folder: tables that the code declares, and the notebooks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from gpu_bridge.cli.exit_codes import SENTENCES
from gpu_bridge.report.option_docs import absent_table, markdown_table, names_table


def exit_code_table() -> str:
    """Return the exit codes of ``gpu-bridge solve`` as a Markdown table."""
    lines = ["| code | meaning |", "|---|---|"]
    lines += [f"| {code.value} | {sentence} |" for code, sentence in SENTENCES.items()]
    return "\n".join(lines) + "\n"


TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "options.md": {"<!-- option table -->": markdown_table},
    "option-names.md": {
        "<!-- option names -->": names_table,
        "<!-- names without an option -->": absent_table,
    },
    "files.md": {"<!-- exit codes -->": exit_code_table},
}

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"
IN_REPOSITORY, IN_SITE = "../examples/notebooks/", "notebooks/"


def on_files(files: Files, *, config: Any, **_: Any) -> Files:
    """Add the notebooks to the site; MkDocs calls this once."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        files.append(File.generated(config, IN_SITE + path.name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Replace a page's marks by their tables, and mend links; MkDocs calls this for every page."""
    markdown = markdown.replace(f"]({IN_REPOSITORY}", f"]({IN_SITE}")
    for mark, table in TABLES.get(page.file.src_uri, {}).items():
        if mark not in markdown:
            raise ValueError(f"docs/{page.file.src_uri} has no line '{mark}' for its table.")
        markdown = markdown.replace(mark, table())
    return markdown
