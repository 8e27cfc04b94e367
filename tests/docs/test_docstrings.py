"""Files and names that docstrings and comments of the sources mention exist."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from pathlib import Path

from tests.docs.test_names import OWN_SOURCES, sources
from tests.locations import ROOT

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
        for path in sources()
        for name in FILE.findall(path.read_text("utf-8"))
        if not any(known.endswith(f"/{name}") for known in paths())
    }
    assert {line for line in missing if line.split(": ")[1] not in OF_THE_SYSTEM} == set()


def test_names_that_sources_refer_to_exist():
    named = {
        (str(path.relative_to(ROOT)), name)
        for path in sources()
        for name in ROLE.findall(path.read_text("utf-8"))
    }
    known = {name: exists(name) for _, name in sorted(named)}
    assert sorted((path, name) for path, name in named if not known[name]) == []


def unknown_words(package: Path) -> set[str]:
    """Return what a package's docstring calls by name that is no file, folder or name in it."""
    text = (package / "__init__.py").read_text("utf-8")
    described = ast.get_docstring(ast.parse(text), clean=False) or ""
    words = {*re.findall(r"\w+", text.replace(described, ""))}
    for path in package.rglob("*.*"):
        if path.suffix in OWN_SOURCES:
            words.update((path.name, *path.relative_to(package).with_suffix("").parts))
            if path.parent != package or path.name != "__init__.py":
                words.update(re.findall(r"\w+", path.read_text("utf-8")))
    return {*WORD.findall(described), *LISTED.findall(described)} - words


def test_packages_describe_what_is_in_them():
    packages = {path.parent for path in sources() if path.name == "__init__.py"}
    unknown = {str(one.relative_to(ROOT)): unknown_words(one) for one in sorted(packages)}
    assert {name: words for name, words in unknown.items() if words} == {}


def test_a_name_that_is_gone_would_be_found():
    assert exists("solvers.core.outcome.Outcome.objective")
    assert not exists("solvers.core.outcome.Outcome.magic")
    assert not exists("solvers.core.magic.Outcome")
