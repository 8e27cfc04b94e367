"""Every format, plain and compressed, as a function of the plain CSR matrix."""

from __future__ import annotations

from collections.abc import Callable

import scipy.sparse as sp

from solvers.core.device import Device, cpu
from solvers.core.errors import EngineError
from solvers.papers.sparse_formats.compress import (
    compressed,
    dictionary_codes,
    exact_single,
    with_short_columns,
    with_values,
)
from solvers.papers.sparse_formats.convert import from_scipy, to_coo, to_ell, to_sell
from solvers.papers.sparse_formats.formats import CSR, SparseMatrix
from tests.papers.sparse_formats.matrices import MATRICES

MOST_BYTES = 2**26

Form = Callable[[CSR], SparseMatrix | None]


def ell_or_none(matrix: CSR) -> SparseMatrix | None:
    try:
        return to_ell(matrix, MOST_BYTES)
    except EngineError:
        return None


def coded(matrix: CSR) -> CSR | None:
    values = dictionary_codes(matrix.storage.values)
    return None if values is None else with_values(matrix, values)


def single(matrix: CSR) -> CSR | None:
    values = exact_single(matrix.storage.values)
    return None if values is None else with_values(matrix, values)


def short(matrix):
    try:
        return with_short_columns(matrix)
    except EngineError:
        return None


def then(first: Form, second: Form) -> Form:
    def both(matrix: CSR) -> SparseMatrix | None:
        made = first(matrix)
        return None if made is None else second(made)

    return both


FORMS: dict[str, Form] = {
    "csr": lambda matrix: matrix,
    "coo": to_coo,
    "coo of small chunks": lambda matrix: to_coo(matrix, chunk=32),
    "ell": ell_or_none,
    "sell": to_sell,
    "sell of 8 in place": lambda matrix: to_sell(matrix, slice_shift=3, sigma=1),
    "csr coded": coded,
    "csr single": single,
    "csr short": short,
    "csr coded short": then(coded, short),
    "csr single short": then(single, short),
    "csr compressed": compressed,
    "sell coded": then(coded, to_sell),
    "sell short": then(to_sell, short),
    "sell coded short": then(then(coded, to_sell), short),
    "sell single short": then(then(single, to_sell), short),
}


def made(form: str, matrix: sp.csr_array, device: Device | None = None, **more) -> SparseMatrix:
    """Return the matrix in a form on a device, the CPU by default."""
    found = FORMS[form](from_scipy(matrix, cpu() if device is None else device, **more))
    assert found is not None
    return found


def names_of(form: str) -> list[str]:
    """Return the matrices that can be held in a form."""
    return [
        name
        for name, matrix in MATRICES.items()
        if FORMS[form](from_scipy(matrix, cpu())) is not None
    ]
