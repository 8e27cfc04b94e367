"""Names in an MPS file that no section declares, which HiGHS takes for something else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_bridge.files.mps_text import sections, shown
from gpu_bridge.files.source import Source
from solvers.core.errors import FileFormatError

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
