"""A strict look at the text of an LP file before HiGHS reads it.

HiGHS 1.15 takes several slips without a word: ``2 * x`` loses its coefficient, a variable that
appears twice in the objective counts once, a constant on the left of a constraint is dropped,
``2 3 x`` means ``2 x``. Objective and constraints are therefore matched against the grammar, one
constraint per step, and the first place that does not fit is shown with its line.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from gpu_bridge.files.lp_grammar import LABEL, NAME, NUMBER, SIGN, TERM
from gpu_bridge.files.lp_rows import read_rows
from gpu_bridge.files.source import Source, line_number
from solvers.core.errors import FileFormatError, UnsupportedModelError

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
    """What HiGHS is to read, and what it cannot be told: the lower sides of rows that have two."""

    text: bytes
    rewritten: bool
    row_lower: dict[int, float]


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
    for section, end in zip(sections, [*(s.start() for s in sections[1:]), len(text)], strict=True):
        keyword = section.group(1).lower()
        if not text[section.end() : end].strip():
            continue
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
    if found.text is None:
        return LpFacts(source.text, False, found.lower)
    return LpFacts(text[:start] + found.text + text[end:], True, found.lower)


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
