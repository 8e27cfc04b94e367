"""What a caller gives to start from, checked before any engine sees it."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.core.errors import OptionError
from solvers.core.outcome import Basis, Start
from solvers.core.problem import FloatArray, Problem


def checked_start(problem: Problem, start: Start) -> Start:
    """Return a start whose parts are arrays of the problem's sizes.

    Raises
    ------
    OptionError
        Something else was given, or a part is of another size or kind.
    """
    checked_kind(start)
    basis = start.basis
    if basis is not None:
        if not isinstance(basis, Basis):
            raise OptionError(
                f"The starting 'basis' must be a Basis, such as that of an earlier outcome; a "
                f"{type(basis).__name__} was given."
            )
        sizes = np.shape(basis.column_status), np.shape(basis.row_status)
        if sizes != ((problem.num_columns,), (problem.num_rows,)):
            raise OptionError(
                f"The starting 'basis' has statuses of shape {sizes[0]} and {sizes[1]}; they must "
                f"be ({problem.num_columns},) for the columns and ({problem.num_rows},) for the "
                "rows."
            )
    x = _vector("x", start.x, problem.num_columns)
    return Start(x, _vector("row_dual", start.row_dual, problem.num_rows), basis)


def checked_kind(start: Any) -> None:
    """Raise OptionError for what is no :class:`~solvers.core.outcome.Start`."""
    if not isinstance(start, Start):
        raise OptionError(
            f"'start' must be a gpu_bridge.Start, such as Start(x=...); a {type(start).__name__} "
            "was given."
        )


def _vector(name: str, values: Any, size: int) -> FloatArray | None:
    if values is None:
        return None
    try:
        if np.iscomplexobj(values):
            raise TypeError("some are complex")
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"The starting '{name}' is not an array of numbers: {error}.") from error
    if array.shape != (size,):
        raise OptionError(f"The starting '{name}' has shape {array.shape}; it must be ({size},).")
    return array
