"""Files and names that docstrings and comments of the sources mention exist."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from pathlib import Path

from tests.locations import ROOT
from tests.sources import SUFFIXES, WINGS, sources, text_of, tree_of

SOURCES = [*sources(*WINGS, "benchmarks", "examples")]
FILE = re.compile(r"(?:``|//[^\n\"]* \(?)((?:\w+/)*\w+\.(?:py|cpp|h|cu|cuh))\b")
ROLE = re.compile(r":(?:mod|func|class|meth|data|attr):`~?((?:solvers|gpu_bridge)\.[\w.]+)`")
OF_THE_SYSTEM = {"sysexits.h"}
WORD = re.compile(r"``(\w+)``")
LISTED = re.compile(r"^    (\w+\.\w+) ", re.M)
"""What a docstring of a package calls by name: a word in backquotes, a file in a list of them."""


@cache
def paths() -> tuple[str, ...]:
    folders = ("solvers", "gpu_bridge", "benchmarks", "examples", "tests")
    return tuple(
        f"/{path.relative_to(ROOT).as_posix()}"
        for folder in folders
        for path in (ROOT / folder).rglob("*.*")
    )


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute or a field of what a module has."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            if not hasattr(found, part):
                return part in getattr(found, "__annotations__", {})
            found = getattr(found, part)
        return True
    return False


def test_files_that_sources_mention_exist():
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        for name in FILE.findall(text_of(path))
        if not any(known.endswith(f"/{name}") for known in paths())
    }
    assert {line for line in missing if line.split(": ")[1] not in OF_THE_SYSTEM} == set()


def test_names_that_sources_refer_to_exist():
    named = {
        (str(path.relative_to(ROOT)), name)
        for path in SOURCES
        for name in ROLE.findall(text_of(path))
    }
    known = {name: exists(name) for _, name in sorted(named)}
    assert sorted((path, name) for path, name in named if not known[name]) == []


def unknown_words(package: Path) -> set[str]:
    """Return what a package's docstring calls by name that is no file, folder or name in it."""
    text = text_of(package / "__init__.py")
    described = ast.get_docstring(tree_of(package / "__init__.py"), clean=False) or ""
    words = {*re.findall(r"\w+", text.replace(described, ""))}
    for path in package.rglob("*.*"):
        if path.suffix in SUFFIXES:
            words.update((path.name, *path.relative_to(package).with_suffix("").parts))
            if path.parent != package or path.name != "__init__.py":
                words.update(re.findall(r"\w+", text_of(path)))
    return {*WORD.findall(described), *LISTED.findall(described)} - words


def test_packages_describe_what_is_in_them():
    packages = {path.parent for path in SOURCES if path.name == "__init__.py"}
    unknown = {str(one.relative_to(ROOT)): unknown_words(one) for one in sorted(packages)}
    assert {name: words for name, words in unknown.items() if words} == {}


def test_a_name_that_is_gone_would_be_found():
    assert exists("solvers.core.outcome.Outcome.objective")
    assert not exists("solvers.core.outcome.Outcome.magic")
    assert not exists("solvers.core.magic.Outcome")
