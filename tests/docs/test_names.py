"""Every name that the documentation mentions exists: paths, modules, options, commands, links."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import shlex
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import gpu_bridge
from gpu_bridge.cli.exit_codes import CommandError
from gpu_bridge.cli.parser import build_parser
from gpu_bridge.option_names import TABLE
from gpu_bridge.options import make_options, option_table
from solvers.core.errors import OptionError
from solvers.papers import simplex_variants
from tests.docs.pages import Page, pages
from tests.locations import ROOT
from tests.sources import WINGS, sources, text_of

PAGES = pages()
FOLDERS = ("solvers", "gpu_bridge", "benchmarks", "tests", "examples", "docs", ".ci")
PATH = re.compile(rf"(?:{'|'.join(re.escape(name) for name in FOLDERS)})/[\w./*-]*")
FILE = re.compile(r"(?:\w+/)*[\w-]+\.(?:py|cpp|h|cu|cuh)")
DOTTED = re.compile(r"(?:solvers|gpu_bridge|gb|benchmarks|tests)(?:\.\w+)+")
MODULE = re.compile(r"python -m ((?:benchmarks|tests|solvers|gpu_bridge)[\w.]*)")
IDENTIFIER = re.compile(r"(?:\w+\.)*(_?[a-z]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+)(?:\(.*\))?")
SOURCES = [*sources(*WINGS, "benchmarks", "examples")]

ABOUT = {
    "mip.md": "solvers/mip",
    "mip-heuristics.md": "solvers/mip",
    "knapsack.md": "solvers/knapsack",
    "pdlp.md": "solvers/pdlp",
    "pdlp-constants.md": "solvers/pdlp",
    "simplex.md": "solvers/simplex",
    "presolve.md": "solvers/presolve",
    "papers.md": "solvers/papers",
    "lu.md": "solvers/papers",
    "sparse.md": "solvers/papers",
}
"""Which folder a page is about, where it is not about the whole repository."""

READERS_FILES = {"solvers.py", "model.py", "simple_rounding.py", "test_simple_rounding.py"}
READERS_MODULE = "solvers.mip.heuristics.simple_rounding."
"""Files of the reader's that pages talk about, and the module among them."""

FOREIGN_KEYWORDS = {
    *("tee", "timelimit", "logfile", "warmstart", "warmstart_discrete_vars", "load_solutions"),
    *("raise_exception_on_nonoptimal_result", "solver_options", "maxNodes", "name", "load"),
    *("assign", "gpuheur_options", "io_api", "track_updates", "verbose", "warm_start"),
    *("params", "reformulate_sos", "scipy_options", "highs_options", "scip_params", "cplex_params"),
}
"""Keywords of the modelling packages' own that their solve and solvers take."""

FOREIGN_NAMES = {
    *("add_sos_group", "has_solution", "best_bound", "raise_exception_on_nonoptimal_result"),
    *("NUMERICAL_ERROR", "optimal_inaccurate", "user_limit"),
}
"""Names of the modelling packages' that this project does not use."""

SOLVING = {"solve", "solve_many", "solve_table", "GPUHEUR", "getSolver", "make_options", "f"}
"""Functions whose keywords are options; ``f`` stands for a span without one."""


@cache
def files_below(folder: str) -> frozenset[str]:
    return frozenset(path.relative_to(ROOT).as_posix() for path in sources(folder))


@cache
def words_of_sources() -> frozenset[str]:
    found: set[str] = set()
    for path in sources(*FOLDERS[:5]):
        if path.parent != Path(__file__).parent:
            found.update(re.findall(r"\w+", text_of(path)))
    return frozenset(found)


def resolve(name: str) -> None:
    """Find a dotted name by importing modules and looking up attributes."""
    first, *rest = name.split(".")
    found = importlib.import_module("gpu_bridge" if first == "gb" else first)
    for part in rest:
        if hasattr(found, part):
            found = getattr(found, part)
        else:  # a module, which need not be an attribute of its package
            found = importlib.import_module(f"{found.__name__}.{part}")


def missing_paths(page: Page) -> Iterator[str]:
    for path in {span.rstrip(".") for span in page.spans() if PATH.fullmatch(span)}:
        if "NAME" not in path and not list(ROOT.glob(path.rstrip("/"))):
            yield path


def missing_files(page: Page) -> Iterator[str]:
    """Give files that do not stand in what the page is about."""
    about = ABOUT.get(page.path.name)
    known = files_below(about) if about else frozenset().union(*map(files_below, FOLDERS[:5]))
    for file in {span for span in page.spans() if FILE.fullmatch(span)} - READERS_FILES:
        elsewhere = "NAME" in file or PATH.fullmatch(file)
        if not elsewhere and not any(f"/{path}".endswith(f"/{file}") for path in known):
            yield file


def missing_dotted_names(page: Page) -> Iterator[str]:
    names = {span.partition("(")[0] for span in page.spans() if DOTTED.match(span)}
    names = {name for name in names if DOTTED.fullmatch(name) and name not in READERS_FILES}
    for node in page.python():
        if isinstance(node, ast.ImportFrom) and node.module:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names.add(f"{node.value.id}.{node.attr}")
    for name in filter(DOTTED.fullmatch, sorted(names)):
        if name.startswith(READERS_MODULE):
            continue
        try:
            if not name.startswith("benchmarks."):
                resolve(name)
            elif importlib.util.find_spec(name) is None:  # programs: found, not run
                yield name
        except ModuleNotFoundError:
            yield name


def missing_programs(page: Page) -> Iterator[str]:
    for program in MODULE.findall(page.text):
        if importlib.util.find_spec(program) is None:
            yield program


def missing_flags(page: Page) -> Iterator[str]:
    for line in page.commands():
        for program in MODULE.findall(line):
            spec = importlib.util.find_spec(program)
            origin = Path(spec.origin) if spec and spec.origin else ROOT / "nowhere.py"
            files = origin.parent.glob("*.py") if origin.name == "__init__.py" else [origin]
            text = "".join(map(text_of, filter(Path.exists, files)))
            for flag in re.findall(r" (--[a-z-]+)", line):
                if f'"{flag}"' not in text:
                    yield f"{program} {flag}"


def missing_identifiers(page: Page) -> Iterator[str]:
    found = [IDENTIFIER.fullmatch(span) for span in page.spans()]
    yield from {match[1] for match in found if match} - words_of_sources() - FOREIGN_NAMES


@cache
def keywords() -> frozenset[str]:
    own = [gpu_bridge.solve, gpu_bridge.solve_many, gpu_bridge.solve_table, gpu_bridge.Start]
    own += [gpu_bridge.Problem.from_arrays, gpu_bridge.Batch, gpu_bridge.GPUHEUR]
    own.append(simplex_variants.solve)
    taken = {name for function in own for name in inspect.signature(function).parameters}
    others = {name for row in TABLE for name in row.names}
    return frozenset(taken | FOREIGN_KEYWORDS | others | {row.name for row in option_table()})


def given(node: ast.AST) -> dict[str, object]:
    """Return keywords and constant values of a call, with those of a dictionary of options."""
    found: dict[str, object] = {}
    if not isinstance(node, ast.Call):
        return found
    if (getattr(node.func, "attr", None) or getattr(node.func, "id", None)) not in SOLVING:
        return found
    for keyword in node.keywords:
        if isinstance(keyword.value, ast.Dict) and keyword.arg in ("options", "solver_options"):
            pairs = zip(keyword.value.keys, keyword.value.values, strict=True)
            constants = [pair for pair in pairs if all(isinstance(x, ast.Constant) for x in pair)]
            found.update((name.value, value.value) for name, value in constants)
        elif keyword.arg and not keyword.arg.isupper() and isinstance(keyword.value, ast.Constant):
            found[keyword.arg] = keyword.value.value
    return found


def refused(options: dict[str, object]) -> Iterator[str]:
    """Give what is wrong with options, if anything is."""
    try:
        make_options(options)
    except OptionError as error:
        yield str(error)


def wrong_options(page: Page) -> Iterator[str]:
    options = {row.name for row in option_table()}
    for node in page.python():
        for name, value in given(node).items():
            if name not in keywords():
                yield name
            if name in options:
                yield from refused({name: value})


def wrong_tables_of_options(page: Page) -> Iterator[str]:
    options = {row.name for row in option_table()}
    for header, cells in page.tables():
        names = {name.strip('"') for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
        if header == "option":
            yield from names - options
        if header.strip("`") in options and header.startswith("`"):
            for name in names:
                yield from refused({header.strip("`"): name})


def missing_folders(page: Page) -> Iterator[str]:
    below = ROOT / ABOUT.get(page.path.name, ".")
    for header, cells in page.tables():
        for name in re.findall(r"`([^`]+)`", " ".join(cells)) if "folder" in header else ():
            if not list(below.rglob(name)):
                yield name


def wrong_commands(page: Page) -> Iterator[str]:
    parser = build_parser()
    for line in page.commands():
        words = shlex.split(line, comments=True) if line.startswith("gpu-bridge ") else []
        if len(words) > 2:
            try:
                parser.parse_words(words[1 : words.index(">") if ">" in words else None])
            except CommandError as error:
                yield f"{line}: {error}"


def missing_targets(page: Page) -> Iterator[str]:
    targets = set(re.findall(r"^([\w-]+):", text_of(ROOT / "Makefile"), re.M))
    for line in page.commands():
        words = line.partition("#")[0].split()
        if words[:1] == ["make"]:
            yield from {word for word in words[1:2] if "=" not in word} - targets


def ragged_tables(page: Page) -> Iterator[str]:
    """Give rows of tables with more or fewer cells than their headers."""
    for table in re.findall(r"(?:^\|.*\n?)+", page.prose, re.M):
        rows = [re.sub(r"`[^`]*`|\\\|", "", line).count("|") for line in table.splitlines()]
        lines = zip(rows, table.splitlines(), strict=True)
        yield from (line for count, line in lines if count != rows[0])


def broken_links(page: Page) -> Iterator[str]:
    for target in page.links():
        place, _, anchor = target.partition("#")
        path = (page.path.parent / place).resolve() if place else page.path
        if target.startswith(("http://", "https://")):
            continue
        if not path.exists() or (anchor and anchor not in Page(path).anchors()):
            yield target


ABSENT = re.compile(
    r"[Nn]otes(?:,? sections?)? [0-9]|[Nn]otes on \w+ (?:alg|heur)|shared/algorithms", re.M
)
"""Citations of notes that are not in the repository; papers and pages are cited instead."""


def absent_notes(page: Page) -> Iterator[str]:
    yield from ABSENT.findall(page.prose)


BROKEN: dict[Callable[[Page], Iterator[str]], str] = {
    missing_paths: "`solvers/pdlp/loop.py` and `solvers/pdlp/magic.py`",
    missing_files: "`loop.py` and `magic.py`",
    missing_dotted_names: "`gpu_bridge.solve` and `solvers.core.outcome.magic(1)`",
    missing_programs: "`python -m benchmarks.magic`",
    missing_flags: "```console\n$ python -m benchmarks.pdlp --folder DATA --magic\n```",
    missing_identifiers: "`restart_is_due` and `magic_is_due`",
    wrong_options: '```python\ngb.solve(problem, method="magic")\n```',
    wrong_tables_of_options: "| option | is |\n|---|---|\n| `method` | x |\n| `magic` | y |\n",
    ragged_tables: "| a | b |\n|---|---|\n| 1 |\n",
    missing_folders: "| folder | is |\n|---|---|\n| `magic` | y |\n",
    wrong_commands: "`gpu-bridge solve model.mps --magic`",
    missing_targets: "`make demo` and `make magic`",
    broken_links: "[there](https://magic.org), [here](../magic.md)",
    absent_notes: "see notes 3 of the magic",
}
"""Each check, with a page in which it finds one mistake."""


@pytest.mark.parametrize("check", BROKEN, ids=lambda check: check.__name__)
def test_pages_name_what_exists(check, tmp_path):
    assert [f"{page.name}: {what}" for page in PAGES for what in check(page)] == []
    broken = tmp_path / "page.md"
    broken.write_text(BROKEN[check], encoding="utf-8")
    assert len(list(check(Page(broken)))) == 1


def test_words_of_ours_are_used():
    glossary = Page(ROOT / "docs" / "glossary.md")
    (_, ours), *_ = glossary.tables()
    text = " ".join(text_of(path).lower() for path in SOURCES)
    text += " ".join(page.prose.lower() for page in PAGES if page.name != glossary.name)
    words = {word.lower() for cell in ours for word in cell.split(", ")}
    assert {
        word for word in words if not re.search(re.sub("[ -]", r"[\\s_-]+", word), text)
    } == set()


def test_every_page_is_in_the_contents():
    contents = (ROOT / "mkdocs.yml").read_text("utf-8")
    pages_there = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert {name for name in pages_there if f": {name}\n" not in contents} == set()


def test_sources_cite_what_exists():
    missing = set()
    for path in SOURCES:
        text = text_of(path)
        cited = [f"{path.relative_to(ROOT)}: {words}" for words in ABSENT.findall(text)]
        missing.update(cited)
        for name in re.findall(r"[\w/-]+\.md\b", text):
            if not any((folder / name).exists() for folder in (ROOT, ROOT / "docs", path.parent)):
                missing.add(f"{path.relative_to(ROOT)}: {name}")
    assert missing == set()
