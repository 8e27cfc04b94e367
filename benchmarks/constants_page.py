"""The tables of what half and twice of constants change, from a record to a page.

    python -m benchmarks.constants_page docs/mip-constants.md RECORD ...

A page has a place for each table, between two marks. It gets the rows that change something; what
changes nothing, and what no run has entered, are lists below.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

MARKS = ("<!-- constants of {} -->\n", "<!-- end of the constants -->\n")
"""Between these a page has a table."""

WIDTH = 110
"""Characters of a line of a list."""

MOST_NAMES = 20
"""Names of constants that the command above a table may have."""

WORDS = ("half", "twice")

TOLD = ("changed", "more")
"""What is said of each other seed."""

NOTHING = (
    "Neither half nor twice of these changes anything, on as many models as stand beside each:"
)

UNMEASURED = "No run of this table enters what names these:"

EMPTY = "A value with an empty cell ends in an error, or was not run."

LEFT = "Other values of these end in an error, or were not run:"


def main() -> int:
    """Write the tables of records into a page."""
    page, *records = (Path(one) for one in sys.argv[1:])
    for record in records:
        write_page(page, json.loads(record.read_text()))
    return 0


def write_page(page: Path, record: Mapping[str, Any]) -> None:
    """Write the table of a record into a page of the documentation."""
    begin = MARKS[0].format(record["table"])
    pattern = re.escape(begin) + ".*?" + re.escape(MARKS[1])
    if not re.search(pattern, page.read_text(), re.DOTALL):
        raise SystemExit(f"{page} has no place for the table {record['table']}: {begin.strip()}")
    table = begin + "\n".join(lines_of(record)) + "\n" + MARKS[1]
    page.write_text(re.sub(pattern, lambda _: table, page.read_text(), flags=re.DOTALL))


def lines_of(record: Mapping[str, Any]) -> list[str]:
    """Return the lines between the marks."""
    rows: Sequence[Mapping[str, Any]] = record["rows"]
    lines = ["```bash", *wrapped(_command(record["command"].split()), " \\", "    "), "```", ""]
    lines += [*_noise(record["noise"]), ""] if record["noise"] else []
    table = ["| constant | value | models | half | twice |", "|---|---|---:|---|---|"]
    nothing: list[str] = []
    unmeasured: list[str] = []
    left: list[str] = []
    for row in rows:
        name = f"`{row['constant'].partition('.')[2]}`"
        if row["half"] is None and row["twice"] is None:
            (left if row["models"] else unmeasured).append(name)
        elif row["half"] == row["twice"] == 0:
            nothing.append(f"{name} ({row['models']})")
        else:
            cells = [name, row["value"], str(row["models"])]
            cells += [_cell(row[word], row[f"{word}: more"]) for word in WORDS]
            table.append(f"| {' | '.join(cells)} |")
    lines += table if table[2:] else []
    if any("|  |" in line for line in table):
        lines += ["", EMPTY]
    for title, names in ((NOTHING, nothing), (UNMEASURED, unmeasured), (LEFT, left)):
        if names:
            words = [*title.split(), *", ".join(names).split(" ")]
            lines += [*([""] if lines[-1] else []), *wrapped(words)]
            lines[-1] += "."
    return [*lines, ""]


def _command(words: Sequence[str]) -> list[str]:
    """Return a command without a long list of names, which are those of the table."""
    before, only, after = [list(words), [], []]
    if "--only" in words:
        first = before.index("--only") + 1
        last = next((k for k in range(first, len(words)) if words[k].startswith("--")), len(words))
        before, only, after = before[:first], before[first:last], before[last:]
    return [*before, *(only if len(only) <= MOST_NAMES else [only[0], "..."]), *after]


def _cell(changed: int | None, more: str) -> str:
    if changed is None:
        return ""
    return f"{changed}: {more}" if changed else "0"


def _noise(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what other seeds change, a line for each heuristic."""
    for group in sorted({str(one["group"]) for one in found}):
        own = [one for one in found if one["group"] == group]
        changed, more = (" and ".join(dict.fromkeys(f"{one[key]}" for one in own)) for key in TOLD)
        where, told = f", `{group}`" if group else "", f", {more}" if more else ""
        yield f"* Another seed{where}: {changed} of {own[0]['models']} differ{told}."


def wrapped(words: Sequence[str], end: str = "", begin: str = "") -> list[str]:
    """Return words in lines; all but the last end, and all but the first begin, with a text."""
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) + len(end) >= WIDTH:
            lines[-1] += end
            lines.append(begin + word)
        else:
            lines[-1] += f" {word}" if lines[-1].strip() else word
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
