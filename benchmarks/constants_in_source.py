"""Numeric constants of a part of the program: where they are, and the program with others in place.

A constant is a number, or a tuple of numbers, that a module of Python names in capitals, a default
of a dataclass with a text beside it, or a ``constexpr`` of C++. Integers that are zero or less, and
several that count from zero in one statement, are names of states or places, not quantities.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

Number = int | float
Value = Number | tuple[Number, ...]

ROOT = Path(__file__).resolve().parents[1]

NATIVE = (".cpp", ".h", ".cuh", ".cu")

DECLARED = re.compile(
    r"^((?:inline |static )*)constexpr (int|double|std::int64_t|long long) ([^;()]*|[^;]*);(.*)$",
    re.MULTILINE,
)
"""A statement of C++ that names constants, its type, what it names, and the comment behind it."""

NAMED = re.compile(r"\b([A-Z][A-Z0-9_]*) = ([^,]+)")


@dataclass(frozen=True)
class Constant:
    """A number of the program with the places in the source where it stands."""

    name: str
    value: Value
    reason: str
    places: tuple[tuple[str, int, int], ...]
    """File under :data:`ROOT`, and where the text of the value begins and ends in it. Python and
    C++ may name the same number."""

    @property
    def file(self) -> str:
        """The first file that names it."""
        return self.places[0][0]

    @property
    def key(self) -> str:
        """What it is called in a table: folders below ``solvers``, the file, and its name."""
        stem = self.file.removeprefix("solvers/").rpartition(".")[0]
        return f"{stem.replace('/', '.')}.{self.name}"

    def times(self, factor: float) -> Value:
        """Return its value so many times; an integer stays one and is one at least."""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        scaled = tuple(
            max(1, int(one * factor)) if isinstance(one, int) and one else one * factor
            for one in values
        )
        return scaled if isinstance(self.value, tuple) else scaled[0]


def find(folder: str) -> list[Constant]:
    """Return the constants of a folder under :data:`ROOT`, by file and place."""
    found: list[Constant] = []
    for path in sorted((ROOT / folder).rglob("*")):
        name = str(path.relative_to(ROOT))
        if path.suffix == ".py":
            found += _in_python(name, path.read_text())
    for path in sorted((ROOT / folder).rglob("*")):
        name = str(path.relative_to(ROOT))
        if path.suffix in NATIVE:
            for constant in _in_native(name, path.read_text()):
                _join(found, constant)
    return found


def _join(found: list[Constant], new: Constant) -> None:
    """Add a constant of C++, or its place to the Python constant that it repeats."""
    for k, old in enumerate(found):
        folders = [one.file.rpartition("/")[0] for one in (old, new)]
        beside = folders[0].startswith(folders[1]) or folders[1].startswith(folders[0])
        if old.name == new.name and old.value == new.value and beside:
            places = (*old.places, *new.places)
            found[k] = Constant(old.name, old.value, old.reason or new.reason, places)
            return
    found.append(new)


def _in_python(file: str, text: str) -> Iterator[Constant]:
    lines = [0]
    for line in text.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    body = ast.parse(text).body
    for statement, after in itertools.zip_longest(body, body[1:]):
        assigned = [(name, value, _number(value)) for name, value in _assigned(statement)]
        if any(number == 0 for *_, number in assigned):
            continue  # they count from zero: names of states or places
        for name, value, number in assigned:
            if number is not None:
                place = (file, *_span(value, lines))
                yield Constant(name, number, _text(after), (place,))
        if isinstance(statement, ast.ClassDef):
            for field, beside in itertools.zip_longest(statement.body, statement.body[1:]):
                if isinstance(field, ast.AnnAssign) and field.value is not None and _text(beside):
                    number = _number(field.value)
                    if number and isinstance(field.target, ast.Name):
                        place = (file, *_span(field.value, lines))
                        name = f"{statement.name}.{field.target.id}"
                        yield Constant(name, number, _text(beside), (place,))


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield each name in capitals that a statement assigns, with what it assigns."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        pairs = [(statement.target, statement.value)]
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=True))
    for name, value in pairs:
        if isinstance(name, ast.Name) and name.id.isupper():
            yield name.id, value


def _number(node: ast.expr) -> Value | None:
    """Return the number, or the numbers, that an expression of literals stands for."""
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name | ast.Call | ast.Attribute)]
    if names or (isinstance(node, ast.Constant | ast.List | ast.Dict) and not _is_number(node)):
        return None
    try:
        value = eval(compile(ast.Expression(node), "", "eval"), {})
    except TypeError:
        return None
    parts = value if isinstance(value, tuple) else (value,)
    good = parts and all(isinstance(one, int | float) and type(one) is not bool for one in parts)
    return value if good else None


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _span(node: ast.expr, lines: list[int]) -> tuple[int, int]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    begin = lines[node.lineno - 1] + node.col_offset
    return begin, lines[node.end_lineno - 1] + node.end_col_offset


def _text(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return " ".join(str(statement.value.value).split())
    return ""


def _in_native(file: str, text: str) -> Iterator[Constant]:
    for statement in DECLARED.finditer(text):
        named = list(NAMED.finditer(statement[3]))
        values = [_literal(one[2], statement[2]) for one in named]
        if statement[2] != "double" and [value for value in values if value == 0]:
            continue  # they count from zero: names of states or places
        reason = statement[4].partition("//")[2] or _comment_above(text[: statement.start()])
        for one, value in zip(named, values, strict=True):
            if value is not None and (statement[2] == "double" or value > 0):
                begin = len(text[: statement.start(3) + one.start(2)].encode())
                place = (file, begin, begin + len(one[2].encode()))
                yield Constant(one[1], value, " ".join(reason.split()), (place,))


def _literal(text: str, kind: str) -> Number | None:
    """Return the number of an expression of C++ without names, or None."""
    plain = text.replace("'", "").removesuffix("ll").removesuffix("u").strip()
    if not re.fullmatch(r"[\d.e+\-<* ]+", plain) or plain.startswith("0x"):
        return None
    value = eval(plain)
    return float(value) if kind == "double" else int(value)


def _comment_above(text: str) -> str:
    lines: list[str] = []
    for line in reversed(text.splitlines()):
        if not line.startswith("//"):
            break
        lines.insert(0, line.lstrip("/ "))
    return " ".join(lines)
