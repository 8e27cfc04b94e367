"""MPS and LP files into a :class:`~solvers.core.problem.Problem`, parsed by HiGHS.

HiGHS parses; what it would lose in silence is caught before (``mps_text``, ``lp_text``), in its
messages, or after. Its limits on coefficients are opened, so that :class:`Problem` decides.
"""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gpu_bridge.files.lp_text import check_lp
from gpu_bridge.files.mps_text import (
    MpsFacts,
    check_columns,
    check_finite,
    check_mps,
    check_names,
    free_below,
)
from gpu_bridge.files.source import Source, load_source
from gpu_bridge.paths import AnyPath, printable
from solvers.core.errors import FileFormatError, ProblemError, UnsupportedModelError
from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import CROSSING_TOLERANCE, BoolArray, FloatArray, Problem
from solvers.core.vectors import SMALL

SMALLEST_COEFFICIENT = 1e-12
"""HiGHS drops matrix entries of at most this size; it is the least it can be told."""

_UNSUPPORTED = {
    "SOS not supported": "special ordered sets (SOS)",
    "Quadratic": "quadratic constraints",
    "Cones": "conic constraints",
    "INDICATORS": "indicator constraints",
    "indicator constraints": "indicator constraints",
}
_LOST = re.compile(
    r"WARNING: .*(is not defined|duplicate (nonzero|cost|entr)|not in \w+ +section).*", re.I
)
_SAME_NAME = re.compile(r"WARNING: (?:Linear constraints|Variables) .* have the same name (.*)")
_FIXED = "switching to fixed format"
_ODD = re.compile(r"WARNING: .*ignored")


def read_problem(path: AnyPath) -> Problem:
    """Read a model file: MPS (free or fixed) or LP, plain or gzipped.

    Names, integrality, ranges, the objective's constant and its sense are taken over. A negative
    upper bound without a lower one in an MPS file means "no lower bound", as most solvers have
    it. Lines that HiGHS ignores without loss of coefficients are told in a ``UserWarning``.

    Parameters
    ----------
    path : str or path
        Its name must end in .mps, .lp, .mps.gz or .lp.gz.

    Raises
    ------
    FileFormatError
        The file is missing, unreadable, cut short, no MPS or LP file, or contradicts itself.
    UnsupportedModelError
        It has quadratic, conic, SOS, indicator or semi-continuous parts.
    ProblemError, CrossedBoundsError
        Its numbers cannot be used: NaN, infinite coefficients, bounds that cross.
    """
    source = load_source(path)
    facts = MpsFacts("", None)
    second_sides: dict[int, float] = {}
    binary = b""
    if source.format == "mps":
        facts = check_mps(source)
    else:
        found = check_lp(source)
        second_sides, binary = found.row_lower, found.binary
        if found.rewritten:
            source = replace(source, text=found.text, rewritten=True)
    try:
        model = _parse(source)
    except UnicodeDecodeError as error:  # HiGHS's message on a name it has lost already
        if source.format == "mps":
            check_names(source)
        raise _failure(source, []) from error
    lp = model.lp_
    if model.hessian_.dim_:
        raise UnsupportedModelError(
            f"'{source}' has a quadratic objective; only linear and mixed-integer linear "
            "models can be solved here."
        )
    lower, upper = np.array(lp.col_lower_), np.array(lp.col_upper_)
    row_lower = np.array(lp.row_lower_)
    row_lower[list(second_sides)] = list(second_sides.values())
    names = _names(lp.col_names_, lp.num_col_)
    matrix = _matrix(lp)
    if binary and names is not None:
        _close_binaries(binary, names, lower, upper)
    if source.format == "mps" and names is not None:
        check_columns(source, _empty_at_the_end(lp, names))
        _free_negative_uppers(source.text, names, lower, upper)
    try:
        return Problem.from_arrays(
            lp.col_cost_,
            matrix,
            row_lower,
            lp.row_upper_,
            lower=lower,
            upper=upper,
            integrality=_integrality(source, lp.integrality_, names),
            offset=lp.offset_,
            maximize=lp.sense_.name == "kMaximize" if facts.maximizes is None else facts.maximizes,
            name=facts.name or printable(source.path.name).split(".")[0],
            column_names=names,
            row_names=_names(lp.row_names_, lp.num_row_),
        )
    except ProblemError as error:
        raise type(error)(f"{source}: {error}") from error


def _parse(source: Source) -> Any:
    """Return the model as HiGHS holds it."""
    from highspy import _core

    messages: list[str] = []
    failures: list[FileFormatError] = []
    highs: Any = _core._Highs()  # the class around it takes callbacks at once, and prints a line
    highs.setOptionValue("log_to_console", False)
    highs.setOptionValue("small_matrix_value", SMALLEST_COEFFICIENT)
    highs.setOptionValue("large_matrix_value", np.inf)
    highs.setOptionValue("infinite_cost", np.inf)

    def listen(kind: int, message: str, out: Any, into: Any, user: Any) -> None:
        messages.append(message.strip())
        if source.format == "mps" and _FIXED in messages[-1] and not failures:
            try:
                check_names(source)
            except FileFormatError as failure:  # must not unwind through HiGHS's own frames
                failures.append(failure)

    highs.setCallback(listen, None)
    highs.startCallback(_core.cb.HighsCallbackType.kCallbackLogging)
    status = _read_model(highs, source)
    if failures:
        raise failures[0]
    if status == _core.HighsStatus.kError and not highs.getNumCol() + highs.getNumRow():
        if source.format == "mps":
            check_finite(source)
        raise _failure(source, messages)
    lost = [match.group() for text in messages if (match := _LOST.match(text))]
    if lost:
        raise FileFormatError(
            f"'{source}': {lost[0].removeprefix('WARNING: ')}. Such entries would be left out "
            "of the model; correct the file."
        )
    same = [match.group(1) for text in messages if (match := _SAME_NAME.match(text))]
    if same and source.format == "mps":
        raise FileFormatError(
            f"'{source}' has two rows or two columns named {same[0]}, and which of them its "
            "entries belong to cannot be told; rename one, or keep a column's entries together."
        )
    odd = [text for text in messages if _ODD.match(text) and "packed vector" not in text]
    if odd:
        more = f" (and {len(odd) - 1} more such lines)" if len(odd) > 1 else ""
        told = odd[0].removeprefix("WARNING: ")
        warnings.warn(f"{source}: {told}{more}", UserWarning, stacklevel=4)
    return highs.getModel()


def _read_model(highs: Any, source: Source) -> Any:
    """Have HiGHS read the file under a name whose ending it knows (it wants lower case)."""
    ending = "." + source.format
    packed = ".gz" if source.path.name.lower().endswith(".gz") else ""
    path = os.fsencode(source.path)
    if source.path.name.endswith(ending + packed) and not source.rewritten and _is_utf8(path):
        return highs.readModel(path)
    try:
        with tempfile.TemporaryDirectory() as folder:
            name = Path(folder, "model" + ending + ("" if source.rewritten else packed))
            if source.rewritten:
                name.write_bytes(source.text)
            else:
                name.symlink_to(source.path.resolve())
            return highs.readModel(os.fsencode(name))
    except OSError as error:
        raise FileFormatError(
            f"'{source}' has to be read from the temporary folder, which cannot be written: "
            f"{error.strerror}. Set TMPDIR to a folder with space."
        ) from error


def _is_utf8(path: bytes) -> bool:
    """Whether HiGHS's messages, which have the path in them, can be turned into texts."""
    try:
        path.decode()
    except UnicodeDecodeError:
        return False
    return True


def _failure(source: Source, messages: list[str]) -> FileFormatError | UnsupportedModelError:
    for text in messages:
        for sign, what in _UNSUPPORTED.items():
            if sign in text:
                return UnsupportedModelError(
                    f"'{source}' has {what}; only linear and mixed-integer linear models can "
                    "be solved here."
                )
    reasons = [
        text.removeprefix("ERROR:").strip()
        for text in messages
        if text.startswith("ERROR") and "Parser error" not in text
    ]
    reason = f": {reasons[0]}" if reasons else ""
    return FileFormatError(
        f"'{source}' cannot be read as {source.format.upper()}{reason}. Check that it is "
        "complete and of the format its name says."
    )


def _free_negative_uppers(
    text: bytes, names: list[str], lower: FloatArray, upper: FloatArray
) -> None:
    """Open the lower bounds that are only the default of a column with a negative upper one."""
    crossed = np.flatnonzero((lower == 0.0) & (upper < -CROSSING_TOLERANCE)).tolist()
    if not crossed:
        return
    free = free_below(text, (names[j] for j in crossed))
    for j in crossed:
        if names[j] in free:
            lower[j] = -np.inf


def _close_binaries(binary: bytes, names: list[str], lower: FloatArray, upper: FloatArray) -> None:
    """Keep columns of sections of binary variables within zero and one, whatever their bounds."""
    wide = np.flatnonzero((lower < 0.0) | (upper > 1.0)).tolist()
    declared = set(binary.split()) if wide else set()
    for j in wide:
        if names[j].encode(errors="surrogateescape") in declared:
            lower[j], upper[j] = max(0.0, lower[j]), min(1.0, upper[j])


def _empty_at_the_end(lp: Any, names: list[str]) -> list[str]:
    lengths = np.diff(np.array(lp.a_matrix_.start_))
    filled = np.flatnonzero((lengths > 0) | (np.array(lp.col_cost_) != 0.0))
    return names[int(filled[-1]) + 1 if filled.size else 0 :]


def _matrix(lp: Any) -> SparseRows:
    """Return the matrix that HiGHS holds by columns, by rows."""
    A = lp.a_matrix_
    values, rows = np.array(A.value_, dtype=np.float64), np.array(A.index_, dtype=np.int32)
    starts, shape = np.array(A.start_), (lp.num_row_, lp.num_col_)
    if values.size <= SMALL:
        columns = np.repeat(np.arange(shape[1], dtype=np.int32), np.diff(starts))
        return SparseRows.of_entries(values, rows, columns, shape)
    import scipy.sparse as sp  # which small models never wait for

    found = sp.csr_array(sp.csc_array((values, rows, starts), shape=shape))
    return SparseRows(found.data, found.indices, found.indptr, shape)


def _integrality(source: Source, kinds: list[Any], names: list[str] | None) -> BoolArray | bool:
    if not kinds:
        return False
    codes = np.fromiter(map(int, kinds), dtype=np.int8, count=len(kinds))
    semi = np.flatnonzero(codes > 1)
    if semi.size:
        j = int(semi[0])
        raise UnsupportedModelError(
            f"'{source}': variable '{names[j] if names else j}' is semi-continuous or "
            "semi-integer; model it with a binary variable instead."
        )
    return np.asarray(codes == 1)


def _names(names: list[str], size: int) -> list[str] | None:
    return list(names) if len(names) == size else None
