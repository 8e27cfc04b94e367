"""Solution files: MIPLIB's ``.sol`` for values, JSON for everything an outcome holds."""

from __future__ import annotations

import codecs
import dataclasses
import json
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu_bridge.outcome import Outcome
from gpu_bridge.paths import AnyPath, as_path, printable, write_whole
from solvers.core.errors import FileFormatError
from solvers.core.outcome import Basis, BasisStatus, SolutionStatus
from solvers.core.problem import FloatArray, Problem

_NO_POINT = {
    SolutionStatus.INFEASIBLE: "=infeas=",
    SolutionStatus.UNBOUNDED: "=unbd=",
    SolutionStatus.NOTHING: "=unkn=",
}

PASSED_OVER = ("#", "=", "solution status:", "objective value:")
"""How lines of a solution file begin that hold no value."""


def write_solution(outcome: Outcome, path: AnyPath) -> None:
    """Write an answer to ``path``: as JSON if its name ends in ``.json``, else as ``.sol``.

    A ``.sol`` file has the line ``=obj= value``, then one line ``name value`` per column, as
    MIPLIB's solution checker reads it; without a point it has one line that says so
    (``=infeas=``, ``=unbd=``, ``=unkn=``). Above an approximate point stands a comment, ``# `` and
    how near it is. The file appears whole or not at all.

    Raises
    ------
    FileFormatError
        The path cannot be written.
    """
    if as_path(path).suffix.lower() == ".json":
        write_json(outcome, path)
    else:
        write_whole(path, "".join(_sol_lines(outcome)).encode("utf-8", "surrogatepass"))


def write_json(outcome: Outcome, path: AnyPath) -> None:
    """Write everything an outcome holds as JSON; see :func:`outcome_record`.

    Raises
    ------
    FileFormatError
        The path cannot be written.
    """
    text = json.dumps(outcome_record(outcome), indent=1, allow_nan=False)
    write_whole(path, text.encode("ascii") + b"\n")


def read_solution(path: AnyPath, problem: Problem) -> FloatArray:
    """Read the (n,) values of a ``.sol`` or ``.json`` file, for a start; zeros may be left out.

    Raises
    ------
    FileFormatError
        The file cannot be read, holds no point, or names a column that the problem lacks.
    """
    where = as_path(path)
    shown = printable(where)
    try:
        text = _decoded(where.read_bytes())
    except OSError as error:
        raise FileFormatError(
            f"The solution file '{shown}' cannot be read: {error.strerror}."
        ) from error
    labels = [problem.column_label(j) for j in range(problem.num_columns)]
    position = {_on_one_line(label): j for j, label in enumerate(labels)}
    position.update({label: j for j, label in enumerate(labels)})
    if where.suffix.lower() == ".json":
        entries: Iterable[tuple[str, Any]] = _json_entries(text, shown)
    else:
        entries = _entries(text, position)
    x = np.zeros(problem.num_columns)
    found = 0
    for name, value in entries:
        if name not in position:
            raise FileFormatError(
                f"'{shown}' has a value for '{name}', which is no variable of the model; is it "
                "the solution of another model?"
            )
        try:
            x[position[name]] = float(value)
        except (TypeError, ValueError) as error:
            raise FileFormatError(
                f"'{shown}': the value of '{name}' is {value!r}, which is not a number."
            ) from error
        found += 1
    if not found and problem.num_columns and "=obj=" not in text:
        raise FileFormatError(f"'{shown}' holds no solution.")
    return x


def _sol_lines(outcome: Outcome) -> Iterable[str]:
    x, problem = outcome.x, outcome.problem
    if x is None or problem is None or not outcome.solution_status.has_values:
        yield _NO_POINT.get(outcome.solution_status, "=unkn=") + "\n"
        return
    if not outcome.solution_status.has_point:
        yield f"# {outcome.answer}\n"
    yield f"=obj= {outcome.objective!r}\n"
    names: Sequence[str] = problem.column_names or [f"c{j}" for j in range(x.size)]
    x, integers = x + 0.0, problem.integrality.tolist()  # no negative zeros
    for name, value, integer in zip(names, x.tolist(), integers, strict=True):
        # What is not whole by now may not be rounded: a big-M makes much of a little.
        shown = int(value) if integer and value.is_integer() else value
        yield f"{_on_one_line(name)} {shown!r}\n"


def _decoded(content: bytes) -> str:
    """Return text that is UTF-8, or else Latin-1, as names of models are read."""
    try:
        return content.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _on_one_line(name: str) -> str:
    """Return a name as a line can hold it."""
    return name.replace("\r", "\\r").replace("\n", "\\n")


def _entries(text: str, known: Container[str]) -> Iterable[tuple[str, str]]:
    """Yield name and value of each line; comments, headers and SCIP's notes are passed over.

    What looks like one of those may be the name of a column all the same.
    """
    for line in text.split("\n"):
        name, value = _parted(line)
        if name not in known:
            name, value = _parted(line.partition("(obj:")[0])
            name = name.strip()
        words = line.strip()
        if name not in known and (not words or words.startswith(PASSED_OVER)):
            continue
        yield (name, value) if name or not value else (value, "")


def _parted(line: str) -> tuple[str, str]:
    """Return what stands before the last blank of a line, and the word behind it."""
    words = line.rstrip()
    cut = max(words.rfind(" "), words.rfind("\t"))
    return words[: max(cut, 0)], words[cut + 1 :]


def _json_entries(text: str, shown: str) -> Iterable[tuple[str, Any]]:
    try:
        values = json.loads(text)["x"]
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"'{shown}' is not a solution file in JSON: {error}.") from error
    if not isinstance(values, dict | None):
        raise FileFormatError(
            f"'{shown}' is not a solution file in JSON: its 'x' must map names to values; it is a "
            f"{type(values).__name__}."
        )
    return list((values or {}).items())


_NUMBERS = {status.name.lower(): int(status) for status in BasisStatus}


def write_basis(outcome: Outcome, path: AnyPath) -> bool:
    """Write the basis of an answer by names, as JSON; return whether there is one.

    Raises
    ------
    FileFormatError
        The path cannot be written.
    """
    problem = outcome.problem
    if outcome.basis is None or problem is None:
        return False
    record = basis_record(outcome, unique_names(problem, "column"), unique_names(problem, "row"))
    write_whole(path, json.dumps(record, indent=1).encode("ascii") + b"\n")
    return True


def read_basis(path: AnyPath, problem: Problem) -> Basis | None:
    """Read the basis in a file of :func:`write_basis` or in an outcome's JSON.

    None if there is none.

    Raises
    ------
    FileFormatError
        The file cannot be read, is no JSON, or is that of a model with other names.
    """
    shown = printable(as_path(path))
    try:
        record = json.loads(as_path(path).read_bytes())
    except OSError as error:
        raise FileFormatError(
            f"The basis file '{shown}' cannot be read: {error.strerror}."
        ) from error
    except ValueError as error:
        raise FileFormatError(f"The basis file '{shown}' is no JSON: {error}.") from error
    basis = record.get("basis", record) if isinstance(record, dict) else None
    if not isinstance(basis, dict) or "columns" not in basis:
        return None
    return Basis(
        _statuses(basis, "columns", unique_names(problem, "column"), shown),
        _statuses(basis, "rows", unique_names(problem, "row"), shown),
    )


def _statuses(
    basis: dict[str, Any], part: str, names: list[str], shown: str
) -> npt.NDArray[np.int8]:
    found = basis.get(part)
    if not isinstance(found, dict) or len(found) != len(names):
        raise FileFormatError(
            f"'{shown}' is the basis of another model: this one has {len(names)} {part}."
        )
    statuses = np.empty(len(names), dtype=np.int8)
    for place, name in enumerate(names):
        word = str(found.get(name))
        if word not in _NUMBERS:
            raise FileFormatError(
                f"'{shown}' has '{word}' for '{name}'; a basis has {', '.join(_NUMBERS)}."
            )
        statuses[place] = _NUMBERS[word]
    return statuses


# Everything an outcome holds, as plain dictionaries, lists, numbers and texts.


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome for JSON: vectors by name, enumerations by their lower-case names.

    What is not finite (an unknown bound, an undefined residual) becomes None.
    """
    problem = outcome.problem
    columns = [] if problem is None else unique_names(problem, "column")
    rows = [] if problem is None else unique_names(problem, "row")
    record = {
        "model": "" if problem is None else problem.name,
        "sense": "maximize" if problem is not None and problem.maximize else "minimize",
        "status": outcome.solution_status.name.lower(),
        "status_text": outcome.answer,
        "stop_reason": outcome.stop_reason.name.lower(),
        "stop_text": str(outcome.stop_reason),
        "message": outcome.message,
        "objective": outcome.objective,
        "bound": outcome.bound,
        "gap": outcome.gap,
        "engine": outcome.engine,
        "device": outcome.device,
        "seconds": outcome.seconds,
        "tolerance": outcome.tolerance,
        "residuals": dataclasses.asdict(outcome.residuals),
        "statistics": dict(outcome.statistics),
        "x": _named(columns, outcome.x),
        "candidate": _named(columns, outcome.candidate),
        "reduced_cost": _named(columns, outcome.reduced_cost),
        "row_activity": _named(rows, outcome.row_activity),
        "row_dual": _named(rows, outcome.row_dual),
        "basis": basis_record(outcome, columns, rows),
        "primal_ray": _named(columns, outcome.primal_ray),
        "dual_ray": _named(rows, outcome.dual_ray),
        "conflict": _conflict(outcome, columns, rows),
        "relaxation": None if outcome.relaxation is None else list(outcome.relaxation.lines),
        "history": [dataclasses.asdict(event) for event in outcome.history],
        "iterations": [
            {"seconds": moment.seconds, "count": moment.count, **moment.figures}
            for moment in outcome.iterations
        ],
        "log": outcome.log,
        "pool": [
            {
                "objective": entry.objective,
                "seconds": entry.seconds,
                "source": entry.source,
                "x": _named(columns, entry.x),
            }
            for entry in outcome.pool
        ],
    }
    return {key: _finite(value) for key, value in record.items()}


def unique_names(problem: Problem, axis: str) -> list[str]:
    """Return the names of the columns or rows; a repeated one gets its number behind a '#'."""
    size = problem.num_columns if axis == "column" else problem.num_rows
    label = problem.column_label if axis == "column" else problem.row_label
    names = [label(k) for k in range(size)]
    if len(set(names)) == size:
        return names
    seen: set[str] = set()
    for k, name in enumerate(names):
        names[k] = f"{name}#{k}" if name in seen else name
        seen.add(name)
    return names


def _named(names: Sequence[str], values: npt.NDArray[Any] | None) -> dict[str, float] | None:
    if values is None or len(names) != values.size:
        return None
    return dict(zip(names, values.tolist(), strict=True))


def basis_record(
    outcome: Outcome, columns: Sequence[str], rows: Sequence[str]
) -> dict[str, Any] | None:
    """Return where columns and rows stand in the basis, in words and by their names."""
    if outcome.basis is None:
        return None
    words = {int(status): status.name.lower() for status in BasisStatus}
    return {
        "columns": dict(
            zip(columns, map(words.get, outcome.basis.column_status.tolist()), strict=True)
        ),
        "rows": dict(zip(rows, map(words.get, outcome.basis.row_status.tolist()), strict=True)),
    }


def _conflict(
    outcome: Outcome, columns: Sequence[str], rows: Sequence[str]
) -> dict[str, Any] | None:
    conflict = outcome.conflict
    if conflict is None:
        return None
    return {
        "constraints": [rows[i] for i in conflict.rows],
        "variables": [columns[j] for j in conflict.columns],
        "lines": list(conflict.lines),
        "minimal": conflict.minimal,
    }


def _finite(value: Any) -> Any:
    """Return the same with plain Python numbers, None for those that are not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, np.generic):
        return _finite(value.item())
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
