"""Basis files: the JSON of an outcome, or the part of it that says where columns and rows stand."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu_bridge.atomic_files import write_whole
from gpu_bridge.files.outcome_json import basis_record, unique_names
from gpu_bridge.outcome import Outcome
from gpu_bridge.paths import AnyPath, as_path, printable
from solvers.core.errors import FileFormatError
from solvers.core.outcome import Basis, BasisStatus
from solvers.core.problem import Problem

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
