"""The project's own sources, as tests read them: paths, syntax trees, imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.locations import ROOT

SUFFIXES = (".py", ".cpp", ".h", ".cu", ".cuh")
WINGS = ("solvers", "gpu_bridge")
INCLUDE = re.compile(r'^[ \t]*#include "([^"]+)"', re.M)


@dataclass(frozen=True)
class Import:
    """What one line of a file imports or includes, by its full dotted name."""

    path: Path
    line: int
    name: str
    when_run: bool = True
    """Whether it is imported when the program runs, and not only for a type checker."""

    @property
    def place(self) -> str:
        """File and line, as a complaint names them."""
        return f"{self.path}:{self.line}"


def sources(
    *folders: str, root: Path = ROOT, suffixes: tuple[str, ...] = SUFFIXES
) -> Iterator[Path]:
    """Give the source files of some folders, in order."""
    for folder in folders:
        yield from sorted(p for p in (root / folder).rglob("*") if p.suffix in suffixes)


@cache
def text_of(path: Path) -> str:
    """Return a file as it is written."""
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a Python file, which nobody may change."""
    return ast.parse(text_of(path))


@cache
def imports(path: Path, root: Path = ROOT) -> tuple[Import, ...]:
    """Return everything that a file imports or includes, also inside functions."""
    return tuple(_imports(path, root))


def _imports(path: Path, root: Path) -> Iterator[Import]:
    within = path.relative_to(root)
    if path.suffix != ".py":
        for match in INCLUDE.finditer(text_of(path)):
            line = text_of(path).count("\n", 0, match.start(1)) + 1
            yield Import(within, line, _included(path, match[1], root))
        return
    package = within.parts[:-1]
    for node, when_run in _statements(tree_of(path), True):
        if isinstance(node, ast.Import):
            yield from (Import(within, node.lineno, one.name, when_run) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) + 1 - node.level] if node.level else ()
            base = ".".join([*start, *filter(None, [node.module])])
            for one in node.names:
                yield Import(within, node.lineno, f"{base}.{one.name}", when_run)


def _statements(node: ast.AST, when_run: bool) -> Iterator[tuple[ast.AST, bool]]:
    yield node, when_run
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        checked = field == "body" and isinstance(node, ast.If) and _is_for_types(node.test)
        for child in getattr(node, field, ()) if not isinstance(node, ast.expr) else ():
            yield from _statements(child, when_run and not checked)


def _is_for_types(test: ast.expr) -> bool:
    return getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING"


def _included(path: Path, name: str, root: Path) -> str:
    """Return the dotted name of an included header: beside the file, or below ``solvers``."""
    beside = path.parent / name
    found = beside if beside.exists() or "/" not in name else root / "solvers" / name
    return ".".join(found.resolve().relative_to(root.resolve()).with_suffix("").parts)
