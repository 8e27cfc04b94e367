"""The pages of the documentation: their code spans, code blocks, links and tables."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.locations import ROOT

BLOCK = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)$", re.M)


@dataclass(frozen=True)
class Page:
    """One page in Markdown."""

    path: Path

    @cached_property
    def text(self) -> str:
        """The page as it is written."""
        return self.path.read_text("utf-8")

    @cached_property
    def prose(self) -> str:
        """The page without its code blocks and without generated records."""
        return BLOCK.sub("", self.text)

    @property
    def name(self) -> str:
        """Where the page stands in the repository."""
        return self.path.relative_to(ROOT).as_posix()

    def spans(self) -> Iterator[str]:
        """Yield what stands between backquotes in the text."""
        yield from SPAN.findall(self.prose)

    def blocks(self, language: str) -> Iterator[str]:
        """Yield the code blocks of a language."""
        yield from (body for _, given, body in BLOCK.findall(self.text) if given == language)

    def python(self) -> Iterator[ast.AST]:
        """Yield every node of the page's Python: its blocks, and its spans that are calls."""
        for source in self.blocks("python"):
            yield from ast.walk(ast.parse(source))
        for span in self.spans():
            source = span if "(" in span.partition("=")[0] else f"f({span})"
            try:
                yield from ast.walk(ast.parse(source)) if "=" in span else ()
            except SyntaxError:
                continue  # a span of another language

    def commands(self) -> Iterator[str]:
        """Yield the shell commands of console blocks and of spans."""
        for block in self.blocks("console"):
            yield from (line[2:] for line in block.splitlines() if line.startswith("$ "))
        yield from self.spans()

    def links(self) -> Iterator[str]:
        """Yield the targets of links."""
        yield from LINK.findall(self.prose)

    def anchors(self) -> set[str]:
        """Return the anchors of the headings, as MkDocs and GitHub make them."""
        words = (
            re.sub(r"[^\w\s-]", "", text.lower()).strip() for text in HEADING.findall(self.prose)
        )
        return {re.sub(r"[-\s]+", "-", text) for text in words}

    def tables(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the first header cell and the first cells of the rows of each table."""
        for table in re.findall(r"(?:^ *\|.*\n?)+", self.prose, re.M):
            first = [line.strip().split("|")[1].strip() for line in table.strip().splitlines()]
            yield first[0], first[2:]


def pages() -> list[Page]:
    """Return all pages but the changelog, which tells of names of the past."""
    folders = (ROOT, ROOT / "docs", ROOT / "examples" / "data", ROOT / "tests" / "data")
    found = [path for folder in folders for path in sorted(folder.glob("*.md"))]
    return [Page(path) for path in found if path.name != "CHANGELOG.md"]
