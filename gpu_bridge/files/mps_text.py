"""What the text of an MPS file says that HiGHS's reader passes over in silence.

HiGHS 1.15 reads well-formed files rightly and fast. Of others it takes some without a word: a
number that is none counts as zero (``atof``), NaN is dropped, a line without a number is
skipped, a bound on a name that is no column makes a new column, ``OBJSENSE MAXIMISE`` on one
line minimises, an OBJNAME section is skipped, and a negative upper bound leaves the default lower
bound at zero. Names that no section declares it takes for something else. The checks run over the
text with compiled patterns, in half the reading time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpu_bridge.files.source import Source, line_number
from solvers.core.errors import FileFormatError, ProblemError, UnsupportedModelError

_HEADER = (
    rb"(NAME|ROWS|COLUMNS|RHS|RANGES|BOUNDS|ENDATA|OBJSENSE|OBJNAME|SOS[12]?|QUADOBJ|QMATRIX|"
    rb"QSECTION|QCMATRIX|CSECTION|INDICATORS|GENCONS|PWLOBJ|LAZYCONS|USERCUTS)"
    rb"(?=[ \t\r\n:]|\Z)([^\r\n]*)"
)
_FIRST_SECTION = re.compile(_HEADER)
_SECTION = re.compile(rb"\n" + _HEADER)  # a plain first byte lets the search run at full speed

_REFUSED = {
    b"SOS": "special ordered sets (SOS)",
    b"SOS1": "special ordered sets (SOS1)",
    b"SOS2": "special ordered sets (SOS2)",
    b"QUADOBJ": "a quadratic objective (QUADOBJ)",
    b"QMATRIX": "a quadratic objective (QMATRIX)",
    b"QSECTION": "quadratic terms (QSECTION)",
    b"QCMATRIX": "quadratic constraints (QCMATRIX)",
    b"CSECTION": "conic constraints (CSECTION)",
    b"INDICATORS": "indicator constraints (INDICATORS)",
    b"GENCONS": "general constraints (GENCONS)",
    b"PWLOBJ": "a piecewise linear objective (PWLOBJ)",
}

_NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?i:inf(?:inity)?)"
_PAIR = rb"(?:%b)[ \t\r]*(?:\n|[^ \t\r\n]+[ \t]+(?:%b)[ \t\r]*\n)" % (_NUMBER, _NUMBER)

# A line of which the third, or third and fifth word is not a number, or not there. Lines without
# a set name have their numbers elsewhere and are looked at again. (A look-ahead over the whole
# line is never tried a second time, which makes it three times as fast as matching the line.)
_SUSPECT = re.compile(
    rb"\n(?![ \t\r]*(?:\n|\*|[^ \t\r\n]+[ \t]+[^ \t\r\n]+[ \t]+(?:'INT|%b)))([^\n]+)" % _PAIR
)
_SUSPECT_BOUND = re.compile(
    rb"\n[ \t]*(?=(?:UP|LO|FX|UI|LI|SC|SI)[ \t])"
    rb"(?![^ \t\r\n]+(?:[ \t]+[^ \t\r\n]+)+?[ \t]+(?:%b)[ \t\r]*\n)([^\n]+)" % _NUMBER
)
_FIXED_COLUMNS = (slice(24, 36), slice(49, 61))
_IS_NUMBER = re.compile(rb"\s*(?:%b)\s*" % _NUMBER)

_ANY_LINE = re.compile(rb"\n(?!\*)([ \t]*[^ \t\r\n][^\n]*)")
_ONE_WORD = re.compile(rb"\n(?!\*)([ \t]*[^ \t\r\n]+[ \t\r]*)(?=\n)")

_INFINITE = re.compile(
    rb"\n[ \t]*([^ \t\r\n]+)(?:[ \t]+[^ \t\r\n]+[ \t]+[^ \t\r\n]+)??[ \t]+([^ \t\r\n]+)[ \t]+"
    rb"([-+]?inf(?:inity)?)(?=[ \t\r\n])",
    re.IGNORECASE,
)
_LOWER_BOUND = re.compile(rb"^[ \t]*(?:LO|MI|FX|FR|BV|LI|SC)[ \t]+([^\r\n]*)", re.MULTILINE)


def sections(text: bytes) -> list[tuple[bytes, bytes, int, int]]:
    """Return name, rest of the header line, start and end of each section's lines."""
    first = _FIRST_SECTION.match(text)
    headers = [first] if first else []
    headers += _SECTION.finditer(text)
    ends = [header.start() for header in headers[1:]] + ([len(text)] if headers else [])
    return [
        (header.group(1), header.group(2).strip(), header.end(), end)
        for header, end in zip(headers, ends, strict=True)
    ]


@dataclass(frozen=True)
class MpsFacts:
    """The model's name, and whether it maximises; None where the file does not say."""

    name: str
    maximizes: bool | None


def check_mps(source: Source) -> MpsFacts:
    """Refuse what would be misread, and return what HiGHS does not tell.

    Raises
    ------
    FileFormatError
        No ENDATA (a truncated file), a word where a number must stand, a line where none belongs,
        an OBJNAME that is not the first free row.
    UnsupportedModelError
        Parts that are not linear: SOS, quadratic, conic, indicator or general constraints.
    """
    text = source.text
    found = sections(text)
    names = {name for name, _, _, _ in found}
    for name in names & _REFUSED.keys():
        raise UnsupportedModelError(
            f"'{source}' has {_REFUSED[name]}; only linear and mixed-integer linear models "
            "can be solved here. Reformulate that part and write the file again."
        )
    if b"ROWS" not in names or b"COLUMNS" not in names:
        raise FileFormatError(
            f"'{source}' is not an MPS file or was cut short: it has no ROWS or no COLUMNS section."
        )
    if b"ENDATA" not in names:
        raise FileFormatError(
            f"'{source}' has no ENDATA line, so it was cut short; fetch or write it again."
        )
    _check_headers(source, found)
    _check_numbers(source, found)
    _check_objective_name(source, found)
    title = next((rest for name, rest, _, _ in found if name == b"NAME"), b"")
    return MpsFacts(title.decode(errors="replace"), _maximizes(found, text))


def free_below(text: bytes, columns: Iterable[str]) -> set[str]:
    """Return those columns that no line of the BOUNDS section gives a lower bound.

    Their negative upper bound then means "no lower bound", as CPLEX, Gurobi and SCIP read it.
    """
    lines = [
        match.group(1).split()
        for name, _, start, end in sections(text)
        if name == b"BOUNDS"
        for match in _LOWER_BOUND.finditer(text, start, end)
    ]
    bounded = {word.decode(errors="replace") for words in lines for word in words[:2]}
    return {column for column in columns if column not in bounded}


def check_finite(source: Source) -> None:
    """Refuse an infinite coefficient, which HiGHS does not name.

    Raises
    ------
    ProblemError
        It names the column and the row.
    """
    for name, _, start, end in sections(source.text):
        match = _INFINITE.search(source.text, start, end) if name == b"COLUMNS" else None
        if match is not None:
            column, row, value = (word.decode(errors="replace") for word in match.groups())
            raise ProblemError(
                f"{source}: The coefficient of variable '{column}' in row '{row}' is {value}; "
                "coefficients have to be finite."
            )


def _check_headers(source: Source, found: list[tuple[bytes, bytes, int, int]]) -> None:
    """Refuse lines below NAME, such as a header that is set in, and rows without a name."""
    for name, _, start, end in found:
        pattern = {b"NAME": _ANY_LINE, b"ROWS": _ONE_WORD}.get(name)
        match = None if pattern is None else pattern.search(source.text, start, end + 1)
        if match is not None:
            raise FileFormatError(
                f"'{source}', line {line_number(source.text, match.start(1))}, in section "
                f"{name.decode()}: '{shown(match.group(1))}' does not belong there. Headers begin "
                "at the left edge, and a line of ROWS has a type and a name."
            )


def _check_numbers(source: Source, found: list[tuple[bytes, bytes, int, int]]) -> None:
    for name, _, start, end in found:
        if name not in (b"COLUMNS", b"RHS", b"RANGES", b"BOUNDS"):
            continue
        pattern = _SUSPECT_BOUND if name == b"BOUNDS" else _SUSPECT
        for match in pattern.finditer(source.text, start, end + 1):
            if name != b"BOUNDS" and _numbers_stand(match.group().lstrip(b"\r\n")):
                continue
            raise FileFormatError(
                f"'{source}', line {line_number(source.text, match.start(1))}, in section "
                f"{name.decode()}: '{shown(match.group(1))}' lacks a number, or has "
                "a word where one must stand."
            )


def _numbers_stand(line: bytes) -> bool:
    """Whether the numbers of a data line are where free or fixed MPS wants them."""
    words = line.split()
    if len(words) <= 5:
        numbers = words[1::2] if len(words) % 2 == 0 else words[2::2]
        if numbers and all(map(_IS_NUMBER.fullmatch, numbers)):
            return True
    # names with blanks in fixed MPS: only the columns of the line can tell
    line = line.rstrip()
    numbers = [line[field] for field in _FIXED_COLUMNS if line[field].strip()]
    gaps = line[22:24] + line[36:39]
    return not gaps.strip() and bool(numbers) and all(map(_IS_NUMBER.fullmatch, numbers))


def _check_objective_name(source: Source, found: list[tuple[bytes, bytes, int, int]]) -> None:
    wanted = [
        _first_word(rest, source.text[a:b]) for name, rest, a, b in found if name == b"OBJNAME"
    ]
    if not wanted:
        return
    rows = next((a, b) for name, _, a, b in found if name == b"ROWS")
    first = re.search(rb"^[ \t]*[Nn][ \t]+([^\r\n]*)", source.text[slice(*rows)], re.MULTILINE)
    if first is None or first.group(1).strip() != wanted[0]:
        raise FileFormatError(
            f"'{source}' names '{shown(wanted[0])}' as its objective (OBJNAME), which is not "
            "its first row of type N; move that row to the front of the ROWS section."
        )


def _maximizes(found: list[tuple[bytes, bytes, int, int]], text: bytes) -> bool | None:
    words = [
        _first_word(rest.lstrip(b": \t"), text[start:end])
        for name, rest, start, end in found
        if name == b"OBJSENSE"
    ]
    stated = [word for word in words if word and word != b"OBJSENSE"]
    return stated[0].upper().startswith(b"MAX") if stated else None


def _first_word(rest: bytes, lines: bytes) -> bytes:
    """Return what stands on the header line, or else on the first line that is no comment."""
    if rest.strip():
        return rest.strip()
    for line in lines.splitlines():
        if line.strip() and not line.startswith(b"*"):
            return line.strip()
    return b""


def shown(line: bytes) -> str:
    """Return the beginning of a line for a message."""
    return line.strip().decode(errors="replace")[:80]


_FIXED_NAME, _FIXED_ROWS = slice(4, 12), (slice(14, 22), slice(39, 47))
"""Where the names of a line stand in fixed MPS: those of ROWS and of columns, and those of rows."""


def check_columns(source: Source, last: Sequence[str]) -> None:
    """Refuse bounds on names that the COLUMNS section lacks; HiGHS makes columns of them.

    Parameters
    ----------
    source : Source
    last : sequence of str
        Names of the empty columns at the end of what HiGHS read.
    """
    ranges = [(start, end) for name, _, start, end in sections(source.text) if name == b"COLUMNS"]
    for name in last:
        line = re.compile(rb"\n[ \t]*%b[ \t\r\n]" % re.escape(name.encode()))
        if not name or not any(line.search(source.text, start, end + 1) for start, end in ranges):
            raise FileFormatError(
                f"'{source}' gives a bound to '{name}', which is no column of the model; "
                "correct the name in the BOUNDS section."
            )


def check_names(source: Source) -> None:
    """Refuse names in COLUMNS, RHS, RANGES and BOUNDS that are not declared.

    HiGHS takes a line with an unknown name for one of the fixed format, with blanks in its names,
    reads the whole file as that, and may never end. To be called when it is about to.
    """
    lines = {
        name: source.text[start:end].splitlines() for name, _, start, end in sections(source.text)
    }
    declared = [line for line in lines[b"ROWS"] if line.strip() and not line.startswith(b"*")]
    if all(len(line.split()) == 2 for line in declared):
        rows = {line.split()[1] for line in declared}
        for line in lines[b"COLUMNS"]:
            words = line.split()
            for word in words[1:4:2] if len(words) in (3, 5) and b"'MARKER'" not in line else ():
                if word not in rows:
                    raise _undeclared(source, word, line, "row", b"ROWS")
    rows = {line[_FIXED_NAME].strip() for line in declared}
    columns = {line[_FIXED_NAME].strip() for line in lines[b"COLUMNS"]}
    for section in (b"COLUMNS", b"RHS", b"RANGES", b"BOUNDS"):
        kind, known, where = (
            ("column", columns, b"COLUMNS") if section == b"BOUNDS" else ("row", rows, b"ROWS")
        )
        for line in lines.get(section, ()):
            if not line.strip() or line.startswith(b"*") or b"'MARKER'" in line:
                continue
            for place in _FIXED_ROWS[: 1 if section == b"BOUNDS" else 2]:
                name = line[place].strip()
                if name not in known and (name or place is _FIXED_ROWS[0]):
                    raise _undeclared(source, name, line, kind, where)


def _undeclared(
    source: Source, name: bytes, line: bytes, kind: str, section: bytes
) -> FileFormatError:
    return FileFormatError(
        f"'{source}' has '{shown(line)}', and there is no {kind} '{shown(name)}' in its "
        f"{section.decode()} section; correct the name, or write names without blanks."
    )
