"""What pages take from outside their folder: tables that the code declares, and the notebooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from gpu_bridge.cli.exit_codes import SENTENCES
from gpu_bridge.cli.parser import default_text
from gpu_bridge.option_names import ANY, OTHERS, SWITCH, TABLE, OtherName
from gpu_bridge.options import option_table


def exit_code_table() -> str:
    """Return the exit codes of ``gpu-bridge solve`` as a Markdown table."""
    lines = ["| code | meaning |", "|---|---|"]
    lines += [f"| {code.value} | {sentence} |" for code, sentence in SENTENCES.items()]
    return "\n".join(lines) + "\n"


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
