"""A strict look at the text of an LP file before HiGHS reads it.

HiGHS 1.15 takes several slips without a word: ``2 * x`` loses its coefficient, a variable that
appears twice in the objective counts once, a constant on the left of a constraint is dropped,
``2 3 x`` means ``2 x``. Objective and constraints are therefore matched against the grammar, one
constraint per step, and the first place that does not fit is shown with its line.

Constraints are also brought into the one form that HiGHS reads. It wants all variables left and a
number right, and from 1.16 on each row on lines of its own. ``-3 <= x + y <= 5`` it refuses, and
what is worse, ``0 <= 3 x + y <= 5`` HiGHS 1.15 takes for the two constraints ``0 <= 3`` and
``x + y <= 5``. Rows with a number on the left are therefore written anew, and the side that has no
place in them is handed to the reader.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from gpu_bridge.files.source import Source, line_number
from solvers.core.errors import FileFormatError, UnsupportedModelError

NUMBER = rb"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
NAME = rb"[^\s\d.\[\]<>=:+\-*/^\\][^\s\[\]<>=:+\-*/^\\]*"
TERM = rb"(?:%b[ \t]*\s*)?%b" % (NUMBER, NAME)
LABEL = rb"(?:[^\s:\[\]<>=]+\s*:)?"
SIGN = rb"(?:[+-]\s*)+"
TERMS = rb"(?:%b)?%b\s*(?:%b%b\s*)*" % (SIGN, TERM, SIGN, TERM)
SIDE = rb"[+-]?\s*(?:%b|inf(?:inity)?)" % NUMBER
SENSE = rb"(?:<=?|>=?|=)"


_END = rb"(?=\s|$)[ \t]*(?=\r?\n|$|[^\s:\[\]<>=]+\s*:)\s*"
"""After a side a new line, or the label of the next row: ``x <= 3 y <= 4`` is a slip."""

_PLAIN = re.compile(
    rb"\s*%b\s*(?:%b|0(?:\.0*)?\s*)?%b\s*%b%b" % (LABEL, TERMS, SENSE, SIDE, _END), re.I
)
_RANGE = re.compile(
    rb"\s*(?P<label>%b)\s*(?P<left>%b)\s*(?P<first>[<>])=?\s*(?P<terms>%b)(?P<second>[<>])=?\s*"
    rb"(?P<right>%b)%b" % (LABEL, SIDE, TERMS, SIDE, _END),
    re.I,
)
_TURNED = re.compile(
    rb"\s*(?P<label>%b)\s*(?P<left>%b)\s*(?P<sense>%b)\s*(?=(?P<terms>%b))(?P=terms)(?![<>=])"
    % (LABEL, SIDE, SENSE, TERMS),  # the terms are all there are, hence the look ahead
    re.I,
)
_LABEL = re.compile(rb"[^\s:\[\]<>=]+\s*:")
_OTHER_WAY = {b"<": b">=", b">": b"<=", b"=": b"="}


@dataclass(frozen=True)
class LpRows:
    """What became of the constraints."""

    text: bytes | None
    """The section in the form that HiGHS reads; None where it was in that form."""
    lower: dict[int, float]
    """Lower side of each row that has two sides, by its number."""
    stop: int
    """Where in the text the first constraint begins that does not fit the grammar; the end of the
    section if there is none."""


def read_rows(text: bytes, start: int, end: int) -> LpRows:
    """Match the constraints between two positions of a text without comments."""
    pieces: list[bytes] = []
    lower: dict[int, float] = {}
    kept = position = start
    row = 0
    while position < end:
        found = _RANGE.match(text, position, end)
        if found is not None and found["first"] == found["second"]:
            low, high = found["left"], found["right"]
            if found["first"] == b">":
                low, high = high, low
            lower[row] = _value(low)
            anew = b" %b %b<= %b\n" % (found["label"], found["terms"], high)
        elif (found := _PLAIN.match(text, position, end)) is not None:
            anew = b""
        elif (found := _TURNED.match(text, position, end)) and _ends(text, found, end):
            sense = _OTHER_WAY[found["sense"][:1]]
            anew = b" %b %b%b %b\n" % (found["label"], found["terms"], sense, found["left"])
        else:
            break
        if anew:
            pieces += [text[kept:position], anew]
            kept = found.end()
        elif _goes_on(found, end):
            pieces += [text[kept : found.end()], b"\n"]
            kept = found.end()
        position = found.end()
        row += 1
    rest = position if text[position:end].strip() else end
    whole = b"".join([*pieces, text[kept:end]]) if pieces else None
    return LpRows(whole, lower, rest)


def _goes_on(row: re.Match[bytes], end: int) -> bool:
    """Whether the next row stands on the line of this one."""
    words = row.group()
    return row.end() < end and b"\n" not in words[len(words.rstrip()) :]


def _ends(text: bytes, row: re.Match[bytes], end: int) -> bool:
    """Whether a new line or a label comes after a row that ends in a term."""
    last = row["terms"]
    after = b"\n" in last[len(last.rstrip()) :] or row.end() == end
    return after or _LABEL.match(text, row.end(), end) is not None


def _value(side: bytes) -> float:
    return float(b"".join(side.split()))


_COMMENT = re.compile(rb"\\[^\n]*")
_OBJECTIVE = re.compile(rb"^[ \t]*(?:max|min)(?:imi[sz]e|imum)?\b[ \t]*:?", re.I | re.M)
_CONSTRAINTS = re.compile(
    rb"^[ \t]*(?:subject\s+to|such\s+that|st\b\.?|s\.t\.)[ \t]*:?", re.I | re.M
)
_NEXT_SECTION = re.compile(
    rb"^[ \t]*(bounds?|gen(?:eral)?s?|integers?|int|bin(?:ary|aries)?|semi(?:-continuous)?s?|sec|"
    rb"sos[12]?|lazy\s+constraints|user\s+cuts|general\s+constraints|end)[ \t]*:?[ \t]*\r?$",
    re.I | re.M,
)
_REFUSED = {
    b"semi": "semi-continuous variables",
    b"sec": "semi-continuous variables",
    b"sos": "special ordered sets (SOS)",
    b"lazy": "lazy constraints",
    b"user": "user cuts",
}

_OBJECTIVE_TEXT = re.compile(
    rb"\s*%b\s*(?:(?:%b)?(?:%b|%b))?\s*(?:%b(?:%b|%b)\s*)*"
    % (LABEL, SIGN, TERM, NUMBER, SIGN, TERM, NUMBER)
)
_NUMBER_OR_NAME = re.compile(rb"%b|(%b)" % (NUMBER, NAME))


@dataclass(frozen=True)
class LpFacts:
    """What HiGHS is to read, and what it cannot be told, or does not heed.

    That are the lower sides of rows that have two, and the names in sections of binary variables,
    which HiGHS takes for integer ones where other bounds are given.
    """

    text: bytes
    rewritten: bool
    row_lower: dict[int, float]
    binary: bytes = b""


def check_lp(source: Source) -> LpFacts:
    """Refuse what HiGHS would misread, and return the text in a form that it reads.

    Raises
    ------
    FileFormatError
        No END line (a truncated file), text that does not fit the grammar, a variable repeated
        in the objective.
    UnsupportedModelError
        Semi-continuous variables, special ordered sets, indicators, quadratic parts.
    """
    text = _COMMENT.sub(lambda comment: b" " * len(comment.group()), source.text)
    goal, rows = _OBJECTIVE.search(text), _CONSTRAINTS.search(text)
    rows = rows or _no_constraints(text, goal)
    if rows is None or (goal is not None and goal.start() > rows.start()):
        raise FileFormatError(
            f"'{source}' is not an LP file or was cut short: it has no 'Subject To' line."
        )
    sections = list(_NEXT_SECTION.finditer(text, rows.end()))
    if not sections or sections[-1].group(1).lower() != b"end":
        raise FileFormatError(
            f"'{source}' has no 'End' line, so it was cut short; fetch or write it again."
        )
    binary: list[bytes] = []
    for section, end in zip(sections, [*(s.start() for s in sections[1:]), len(text)], strict=True):
        keyword = section.group(1).lower()
        if not text[section.end() : end].strip():
            continue
        if keyword.startswith(b"bin"):
            binary.append(text[section.end() : end])
        what = next((text for word, text in _REFUSED.items() if keyword.startswith(word)), None)
        if what is None and keyword.startswith(b"general") and b"constraints" in keyword:
            what = "general constraints"
        if what is not None:
            raise UnsupportedModelError(
                f"'{source}' has {what}, in the section of line "
                f"{line_number(text, section.start(1))}; only linear and mixed-integer linear "
                "models can be solved here. Reformulate that part."
            )
    if goal is not None:
        _check_objective(source, text, goal.end(), rows.start())
    start, end = rows.end(), sections[0].start()
    found = read_rows(text, start, end)
    if found.stop < end:
        raise _misfit(source, text, found.stop, end, "a constraint")
    names = b" ".join(binary)
    if found.text is None:
        return LpFacts(source.text, False, found.lower, names)
    return LpFacts(text[:start] + found.text + text[end:], True, found.lower, names)


def _no_constraints(text: bytes, goal: re.Match[bytes] | None) -> re.Match[bytes] | None:
    """Return the empty place before the first section where a file has an objective and no rows."""
    section = None if goal is None else _NEXT_SECTION.search(text, goal.end())
    if goal is None or section is None:
        return None
    objective = _OBJECTIVE_TEXT.match(text, goal.end(), section.start())
    whole = objective is not None and not text[objective.end() : section.start()].strip()
    return re.compile(rb"").match(text, section.start()) if whole else None


def _check_objective(source: Source, text: bytes, start: int, end: int) -> None:
    match = _OBJECTIVE_TEXT.match(text, start, end)
    stop = start if match is None else match.end()
    if stop < end and text[stop:end].strip():
        raise _misfit(source, text, stop, end, "the objective")
    label = re.compile(rb"\s*%b" % LABEL).match(text, start, end)
    words = _NUMBER_OR_NAME.findall(text, label.end() if label else start, end)
    names = Counter(word for word in words if word)
    for name, count in names.most_common(1):
        if count > 1:
            raise FileFormatError(
                f"'{source}': variable '{name.decode(errors='replace')}' appears {count} "
                "times in the objective; add its coefficients up to one term."
            )


def _misfit(
    source: Source, text: bytes, start: int, end: int, what: str
) -> FileFormatError | UnsupportedModelError:
    piece = text[start:end].lstrip()
    where = line_number(text, end - len(piece))
    shown = piece.splitlines()[0].decode(errors="replace").strip()[:80]
    place = f"'{source}', line {where}"
    first = piece.split(b":", 2)[1] if b":" in piece.splitlines()[0] else piece
    if b"[" in first.splitlines()[0]:
        return UnsupportedModelError(
            f"{place}: {what} has a quadratic part, '{shown}'; only linear and mixed-integer "
            "linear models can be solved here."
        )
    if b"->" in first.splitlines()[0]:
        return UnsupportedModelError(
            f"{place}: '{shown}' is an indicator constraint; write it with a big-M term instead."
        )
    return FileFormatError(
        f"{place}: '{shown}' does not read as {what}. Terms look like '+ 2 x' (no '*', no name "
        "that begins with a digit), variables stand on one side of '<=', '>=' or '=' and a number "
        "on the other, or between two numbers; what follows begins a new line."
    )
