"""Solution files: MIPLIB's ``.sol`` for values, JSON for everything an outcome holds."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Container, Iterable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from gpu_bridge.adapters.files.outcome_json import outcome_record
from gpu_bridge.outcome import Outcome
from solvers.errors import FileFormatError
from solvers.outcome import SolutionStatus
from solvers.problem import FloatArray, Problem

_NO_POINT = {
    SolutionStatus.INFEASIBLE: "=infeas=",
    SolutionStatus.UNBOUNDED: "=unbd=",
    SolutionStatus.NOTHING: "=unkn=",
}

PASSED_OVER = ("#", "=", "solution status:", "objective value:")
"""How lines of a solution file begin that hold no value."""


def check_writable(path: str | PathLike[str]) -> Path:
    """Return the path if a file can be written there; nothing is changed on disk.

    Raises
    ------
    FileFormatError
        It is a directory, its folder does not exist, or writing is not allowed.
    """
    where = Path(fspath(path))
    if where.is_dir():
        raise FileFormatError(f"'{where}' is a directory; give the path of a file.")
    folder = where.absolute().parent
    if not folder.is_dir():
        raise FileFormatError(f"There is no folder '{folder}' to write '{where.name}' to; make it.")
    target = where if where.exists() else folder
    if not os.access(target, os.W_OK):
        raise FileFormatError(f"'{where}' cannot be written: no permission to change '{target}'.")
    return where


def write_solution(outcome: Outcome, path: str | PathLike[str]) -> None:
    """Write an answer to ``path``: as JSON if its name ends in ``.json``, else as ``.sol``.

    A ``.sol`` file has the line ``=obj= value``, then one line ``name value`` per column, as
    MIPLIB's solution checker reads it; without a point it has one line that says so
    (``=infeas=``, ``=unbd=``, ``=unkn=``). The file appears whole or not at all.

    Raises
    ------
    FileFormatError
        The path cannot be written.
    """
    if Path(fspath(path)).suffix.lower() == ".json":
        write_json(outcome, path)
    else:
        _replace(path, _sol_lines(outcome))


def write_json(outcome: Outcome, path: str | PathLike[str]) -> None:
    """Write everything an outcome holds as JSON; see :func:`outcome_record`.

    Raises
    ------
    FileFormatError
        The path cannot be written.
    """
    _replace(path, [json.dumps(outcome_record(outcome), indent=1, allow_nan=False), "\n"])


def read_solution(path: str | PathLike[str], problem: Problem) -> FloatArray:
    """Read the (n,) values of a ``.sol`` or ``.json`` file, for a start; zeros may be left out.

    Raises
    ------
    FileFormatError
        The file cannot be read, holds no point, or names a column that the problem lacks.
    """
    where = Path(fspath(path))
    try:
        text = where.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise FileFormatError(f"The solution file '{where}' cannot be read: {reason}.") from error
    labels = [problem.column_label(j) for j in range(problem.num_columns)]
    position = {label: j for j, label in enumerate(labels)}
    if where.suffix.lower() == ".json":
        entries: Iterable[tuple[str, Any]] = _json_entries(text, where)
    else:
        entries = _entries(text, position)
    x = np.zeros(problem.num_columns)
    found = 0
    for name, value in entries:
        if name not in position:
            raise FileFormatError(
                f"'{where}' has a value for '{name}', which is no variable of the model; is it "
                "the solution of another model?"
            )
        try:
            x[position[name]] = float(value)
        except (TypeError, ValueError) as error:
            raise FileFormatError(
                f"'{where}': the value of '{name}' is {value!r}, which is not a number."
            ) from error
        found += 1
    if not found and problem.num_columns and "=obj=" not in text:
        raise FileFormatError(f"'{where}' holds no solution.")
    return x


def _sol_lines(outcome: Outcome) -> Iterable[str]:
    x, problem = outcome.x, outcome.problem
    if x is None or problem is None or not outcome.solution_status.has_point:
        yield _NO_POINT.get(outcome.solution_status, "=unkn=") + "\n"
        return
    yield f"=obj= {outcome.objective!r}\n"
    names: Sequence[str] = problem.column_names or [f"c{j}" for j in range(x.size)]
    x, integers = x + 0.0, problem.integrality.tolist()  # no negative zeros
    for name, value, integer in zip(names, x.tolist(), integers, strict=True):
        yield f"{name} {round(value) if integer else value!r}\n"


def _entries(text: str, known: Container[str]) -> Iterable[tuple[str, str]]:
    """Yield name and value of each line; comments, headers and SCIP's notes are passed over.

    What looks like one of those may be the name of a column all the same.
    """
    for line in text.splitlines():
        words = line.partition("(obj:")[0].replace("\t", " ").strip()
        name, _, value = words.rpartition(" ")
        name = name.strip()
        if name not in known and (not words or words.startswith(PASSED_OVER)):
            continue
        yield name or words, value if name else ""


def _json_entries(text: str, where: Path) -> Iterable[tuple[str, Any]]:
    try:
        values = json.loads(text)["x"]
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"'{where}' is not a solution file in JSON: {error}.") from error
    if not isinstance(values, dict | None):
        raise FileFormatError(
            f"'{where}' is not a solution file in JSON: its 'x' must map names to values; it is a "
            f"{type(values).__name__}."
        )
    return list((values or {}).items())


def _replace(path: str | PathLike[str], pieces: Iterable[str]) -> None:
    """Write beside the file, then put the whole in its place."""
    where = check_writable(path)
    if where.exists() and not where.is_file():  # a device or a pipe: nothing to keep whole
        where.write_text("".join(pieces), encoding="utf-8")
        return
    try:
        handle, name = tempfile.mkstemp(dir=where.absolute().parent, prefix=f".{where.name}.")
        try:
            with open(handle, "w", encoding="utf-8") as file:
                file.writelines(pieces)
            os.chmod(name, where.stat().st_mode & 0o777 if where.exists() else 0o644)
            os.replace(name, where)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileFormatError(f"'{where}' cannot be written: {error.strerror}.") from error
