"""What the text of an MPS file says that HiGHS's reader passes over in silence.

HiGHS 1.15 reads well-formed files rightly and fast. Of others it takes some without a word: a
number that is none counts as zero (``atof``), ``OBJSENSE MAXIMISE`` on one line minimises, an
OBJNAME section is skipped, a negative upper bound leaves the default lower bound at zero. The
checks here run over the text with compiled patterns, at a fraction of the reading time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpu_bridge.adapters.files.source import Source, line_number
from solvers.errors import FileFormatError, UnsupportedModelError

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

_NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?i:inf(?:inity)?|nan)"
_PAIR = rb"(?:%b)[ \t\r]*(?:\n|[^ \t\r\n]+[ \t]+(?:%b)[ \t\r]*\n)" % (_NUMBER, _NUMBER)

# A line whose third, or third and fifth word, is not a number. Lines without a set name have
# their numbers elsewhere and are looked at again.
_SUSPECT = re.compile(
    rb"\n[ \t]*([^ *\t\r\n][^ \t\r\n]*[ \t]+[^ \t\r\n]+[ \t]+(?=[^ \t\r\n])(?!'INT|%b).*)" % _PAIR
)
_FIXED_COLUMNS = (slice(24, 36), slice(49, 61))
_IS_NUMBER = re.compile(rb"\s*(?:%b)\s*" % _NUMBER)

_LOWER_BOUND = re.compile(rb"^[ \t]*(?:LO|MI|FX|FR|BV|LI|SC)[ \t]+([^\r\n]*)", re.MULTILINE)


def sections(text: bytes) -> list[tuple[bytes, bytes, int, int]]:
    """Return name, rest of the header line, start and end of each section's lines."""
    first = _FIRST_SECTION.match(text)
    headers = [first] if first else []
    headers += _SECTION.finditer(text)
    ends = [header.start() for header in headers[1:]] + [len(text)]
    return [
        (header.group(1), header.group(2).strip(), header.end(), end)
        for header, end in zip(headers, ends, strict=True)
    ]


def check_mps(source: Source) -> bool | None:
    """Refuse what would be misread; return whether the file maximises, None if it does not say.

    Raises
    ------
    FileFormatError
        No ENDATA (a truncated file), a word where a number must stand, an OBJNAME that is not
        the first free row.
    UnsupportedModelError
        Parts that are not linear: SOS, quadratic, conic, indicator or general constraints.
    """
    text = source.text
    found = sections(text)
    names = {name for name, _, _, _ in found}
    for name in names & _REFUSED.keys():
        raise UnsupportedModelError(
            f"'{source.path}' has {_REFUSED[name]}; only linear and mixed-integer linear models "
            "can be solved here. Reformulate that part and write the file again."
        )
    if b"ROWS" not in names or b"COLUMNS" not in names:
        raise FileFormatError(
            f"'{source.path}' is not an MPS file or was cut short: it has no ROWS or no COLUMNS "
            "section."
        )
    if b"ENDATA" not in names:
        raise FileFormatError(
            f"'{source.path}' has no ENDATA line, so it was cut short; fetch or write it again."
        )
    _check_numbers(source, found)
    _check_objective_name(source, found)
    return _maximizes(found, text)


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


def _check_numbers(source: Source, found: list[tuple[bytes, bytes, int, int]]) -> None:
    for name, _, start, end in found:
        if name not in (b"COLUMNS", b"RHS", b"RANGES"):
            continue
        for match in _SUSPECT.finditer(source.text, start, end + 1):
            if _numbers_stand(match.group().lstrip(b"\r\n")):
                continue
            raise FileFormatError(
                f"'{source.path}', line {line_number(source.text, match.start(1))}, in section "
                f"{name.decode()}: '{_shown(match.group(1))}' has a word where a number must stand."
            )


def _numbers_stand(line: bytes) -> bool:
    """Whether the numbers of a data line are where free or fixed MPS wants them."""
    words = line.split()
    if len(words) > 5:  # names with blanks: only the columns of the line can tell
        numbers = [line.rstrip()[field] for field in _FIXED_COLUMNS]
        numbers = numbers[:1] if not numbers[1].strip() else numbers
    else:
        numbers = words[1::2] if len(words) % 2 == 0 else words[2::2]
        if not all(map(_IS_NUMBER.fullmatch, numbers)):
            numbers = [field for c in _FIXED_COLUMNS if (field := line.rstrip()[c].strip())]
    return bool(numbers) and all(map(_IS_NUMBER.fullmatch, numbers))


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
            f"'{source.path}' names '{_shown(wanted[0])}' as its objective (OBJNAME), which is not "
            "its first row of type N; move that row to the front of the ROWS section."
        )


def _maximizes(found: list[tuple[bytes, bytes, int, int]], text: bytes) -> bool | None:
    for name, rest, start, end in found:
        if name == b"OBJSENSE":
            return _first_word(rest.lstrip(b": \t"), text[start:end]).upper().startswith(b"MAX")
    return None


def _first_word(rest: bytes, lines: bytes) -> bytes:
    """Return what stands on the header line, or else on the first line that is no comment."""
    if rest.strip():
        return rest.strip()
    for line in lines.splitlines():
        if line.strip() and not line.startswith(b"*"):
            return line.strip()
    return b""


def _shown(line: bytes) -> str:
    return line.strip().decode(errors="replace")[:80]
