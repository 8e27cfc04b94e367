"""The constraints of an LP file, one by one, and in the one form that HiGHS reads.

HiGHS wants all variables left and a number right, and from 1.16 on each row on lines of its own.
``-3 <= x + y <= 5`` it refuses, and what is worse, ``0 <= 3 x + y <= 5`` HiGHS 1.15 takes for the
two constraints ``0 <= 3`` and ``x + y <= 5``. Rows with a number on the left are therefore written
anew, and the side that has no place in them is handed to the reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpu_bridge.files.lp_grammar import LABEL, SENSE, SIDE, TERMS

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
    """What became of the constraints.

    Parameters
    ----------
    text : bytes or None
        The section in the form that HiGHS reads; None where it was in that form.
    lower : dict
        Lower side of each row that has two sides, by its number.
    stop : int
        Where in the text the first constraint begins that does not fit the grammar; the end of
        the section if there is none.
    """

    text: bytes | None
    lower: dict[int, float]
    stop: int


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
