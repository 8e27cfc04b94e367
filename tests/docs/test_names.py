"""Every name that the documentation mentions exists: paths, modules, options, commands, links."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

import gpu_bridge
from gpu_bridge.cli.parser import build_parser
from gpu_bridge.option_names import TABLE
from gpu_bridge.options import make_options, option_table
from solvers.core.errors import OptionError
from solvers.papers import simplex_variants
from tests.docs.pages import Page, pages
from tests.locations import ROOT

PAGES = pages()
FOLDERS = ("solvers", "gpu_bridge", "benchmarks", "tests", "examples", "docs", ".ci")
PATH = re.compile(rf"(?:{'|'.join(re.escape(name) for name in FOLDERS)})/[\w./*-]*")
FILE = re.compile(r"(?:\w+/)*[\w-]+\.(?:py|cpp|h|cu|cuh)")
DOTTED = re.compile(r"(?:solvers|gpu_bridge|gb|benchmarks|tests)(?:\.\w+)+")
MODULE = re.compile(r"python -m ((?:benchmarks|tests|solvers|gpu_bridge)[\w.]*)")
IDENTIFIER = re.compile(r"(?:\w+\.)*(_?[a-z]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+)(?:\(.*\))?")
OWN_SOURCES = (".py", ".cpp", ".h", ".cu", ".cuh")

ABOUT = {
    "mip.md": "solvers/mip",
    "mip-heuristics.md": "solvers/mip",
    "knapsack.md": "solvers/knapsack",
    "pdlp.md": "solvers/pdlp",
    "pdlp-constants.md": "solvers/pdlp",
    "simplex.md": "solvers/simplex",
    "presolve.md": "solvers/presolve",
    "conjugate-gradients.md": "solvers/linalg",
    "papers.md": "solvers/papers",
    "lu.md": "solvers/papers",
    "sparse.md": "solvers/papers",
}
"""Which folder a page is about, where it is not about the whole repository."""

READERS_FILES = {"solvers.py", "model.py"}
"""Files of the reader's that pages talk about."""

FOREIGN_KEYWORDS = {
    *("tee", "timelimit", "logfile", "warmstart", "warmstart_discrete_vars", "load_solutions"),
    *("raise_exception_on_nonoptimal_result", "solver_options", "maxNodes", "name", "load"),
    *("assign", "gpuheur_options", "io_api", "track_updates", "verbose", "warm_start"),
    *("params", "reformulate_sos"),
}
"""Keywords of the modelling packages' own that their solve and solvers take."""

FOREIGN_NAMES = {
    *("add_sos_group", "has_solution", "best_bound", "raise_exception_on_nonoptimal_result"),
    *("NUMERICAL_ERROR", "optimal_inaccurate", "user_limit"),
}
"""Names of the modelling packages' that this project does not use."""

SOLVING = {"solve", "solve_many", "solve_table", "GPUHEUR", "getSolver", "make_options", "f"}
"""Functions whose keywords are options; ``f`` stands for a span without one."""


@pytest.fixture(params=PAGES, ids=lambda page: page.name)
def page(request):
    return request.param


@cache
def files_below(folder: str) -> frozenset[str]:
    found = (path for path in (ROOT / folder).rglob("*") if path.suffix in OWN_SOURCES)
    return frozenset(path.relative_to(ROOT).as_posix() for path in found)


@cache
def words_of_sources() -> frozenset[str]:
    found: set[str] = set()
    for folder in FOLDERS[:5]:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in OWN_SOURCES and path.parent != Path(__file__).parent:
                found.update(re.findall(r"\w+", path.read_text("utf-8")))
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


def test_paths_exist(page):
    paths = {span.rstrip(".") for span in page.spans() if PATH.fullmatch(span)}
    paths = {path for path in paths if "NAME" not in path}
    assert [path for path in paths if not list(ROOT.glob(path.rstrip("/")))] == []


def test_files_stand_in_what_the_page_is_about(page):
    files = {span for span in page.spans() if FILE.fullmatch(span) and "NAME" not in span}
    files -= {file for file in files if PATH.fullmatch(file)}
    about = ABOUT.get(page.path.name)
    known = files_below(about) if about else frozenset().union(*map(files_below, FOLDERS[:5]))
    unknown = {file for file in files if not any(f"/{path}".endswith(f"/{file}") for path in known)}
    assert unknown - READERS_FILES == set()


def test_dotted_names_resolve(page):
    names = {span.partition("(")[0] for span in page.spans() if DOTTED.match(span)}
    names = {name for name in names if DOTTED.fullmatch(name) and name not in READERS_FILES}
    for node in page.python():
        if isinstance(node, ast.ImportFrom) and node.module:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names.add(f"{node.value.id}.{node.attr}")
    for name in sorted(names):
        if name.startswith("benchmarks."):  # programs: found, not run
            assert importlib.util.find_spec(name) is not None, name
        elif DOTTED.fullmatch(name):
            resolve(name)


def test_programs_exist(page):
    for program in MODULE.findall(page.text):
        assert importlib.util.find_spec(program) is not None, program


def test_programs_have_the_flags_shown(page):
    for line in page.commands():
        for program in MODULE.findall(line):
            spec = importlib.util.find_spec(program)
            assert spec is not None
            assert spec.origin is not None
            origin = Path(spec.origin)
            files = origin.parent.glob("*.py") if origin.name == "__init__.py" else [origin]
            text = "".join(path.read_text("utf-8") for path in files)
            for flag in re.findall(r" (--[a-z-]+)", line):
                assert f'"{flag}"' in text, f"{program} {flag}"


def test_identifiers_occur_in_the_sources(page):
    found = [IDENTIFIER.fullmatch(span) for span in page.spans()]
    names = {match[1] for match in found if match}
    assert names - words_of_sources() - FOREIGN_NAMES == set()


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


def test_options_exist_and_take_the_values_shown(page):
    options = {row.name for row in option_table()}
    for node in page.python():
        for name, value in given(node).items():
            assert name in keywords(), name
            if name in options:
                make_options({name: value})


def test_tables_of_options_name_options(page):
    options = {row.name for row in option_table()}
    for header, cells in page.tables():
        names = {name.strip('"') for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
        if header == "option":
            assert names - options == set()
        if header.strip("`") in options and header.startswith("`"):
            for name in names:
                make_options({header.strip("`"): name})


def test_words_of_ours_are_used():
    glossary = Page(ROOT / "docs" / "glossary.md")
    (_, ours), *_ = glossary.tables()
    text = " ".join(path.read_text("utf-8").lower() for path in sources())
    text += " ".join(page.prose.lower() for page in PAGES if page.name != glossary.name)
    words = {word for cell in ours for word in cell.split(", ")}
    assert {
        word for word in words if not re.search(re.sub("[ -]", r"[\\s_-]+", word), text)
    } == set()


def test_tables_of_folders_name_what_is_there(page):
    below = ROOT / ABOUT.get(page.path.name, ".")
    for header, cells in page.tables():
        for name in re.findall(r"`([^`]+)`", " ".join(cells)) if "folder" in header else ():
            assert list(below.rglob(name)), name


def test_commands_parse(page):
    parser = build_parser()
    for line in page.commands():
        words = shlex.split(line, comments=True) if line.startswith("gpu-bridge ") else []
        if len(words) > 2:
            parser.parse_words(words[1 : words.index(">") if ">" in words else None])


def test_make_targets_exist(page):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    for line in page.commands():
        words = line.partition("#")[0].split()
        if words[:1] == ["make"]:
            assert {word for word in words[1:2] if "=" not in word} <= targets, line


def test_every_page_is_in_the_contents():
    contents = (ROOT / "mkdocs.yml").read_text("utf-8")
    pages_there = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert {name for name in pages_there if f": {name}\n" not in contents} == set()


def test_links_lead_somewhere(page):
    for target in page.links():
        if target.startswith(("http://", "https://")):
            continue
        place, _, anchor = target.partition("#")
        path = (page.path.parent / place).resolve() if place else page.path
        assert path.exists(), target
        assert not anchor or anchor in Page(path).anchors(), target


def test_an_unknown_option_would_be_found():
    with pytest.raises(OptionError):
        make_options({"method": "magic"})
    with pytest.raises(ModuleNotFoundError):
        resolve("solvers.core.magic")


def sources() -> list[Path]:
    return [
        path
        for folder in ("solvers", "gpu_bridge", "benchmarks", "examples")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in OWN_SOURCES
    ]


ABSENT = re.compile(
    r"[Nn]otes(?:,? sections?)? [0-9]|[Nn]otes on \w+ (?:alg|heur)|shared/algorithms", re.M
)
"""Citations of notes that are not in the repository; papers and pages are cited instead."""


def test_citations_lead_to_papers_or_pages_not_to_absent_notes(page):
    assert ABSENT.findall(page.prose) == []


def test_sources_cite_what_exists():
    missing = set()
    for path in sources():
        text = path.read_text("utf-8")
        cited = [f"{path.relative_to(ROOT)}: {words}" for words in ABSENT.findall(text)]
        missing.update(cited)
        for name in re.findall(r"[\w/-]+\.md\b", text):
            if not any((folder / name).exists() for folder in (ROOT, ROOT / "docs", path.parent)):
                missing.add(f"{path.relative_to(ROOT)}: {name}")
    assert missing == set()
