"""Preconditioners: Jacobi, block-Jacobi, and polynomials of the matrix (Neumann, Chebyshev).

Each is a frozen description that the iteration's kernels apply: symmetric diagonal blocks, and
for polynomials the coefficients of steps ``d <- a d + b D^-1 (r - M u)``, ``u <- u + d`` that
begin at ``u = d = B0 r``. A polynomial of degree k costs k products with M.

*Neumann* (the tutorial "Performance Engineering for Sparse Linear Solvers", ISC 2026): with
M = D - N, the sum over i of (D^-1 N)^i D^-1, damped where the largest eigenvalue of D^-1 M
asks for it. *Chebyshev* (Saad, "Iterative Methods for Sparse Linear Systems", 12.3.2): least
residual over an interval [largest / ratio, largest] of eigenvalues of D^-1 M; it need not reach
down to the smallest, only up to the largest, or B would not be positive definite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.errors import ProblemError
from solvers.linalg.kernels.iteration import ITERATION
from solvers.linalg.operator import Operator

POWER_ITERATIONS = 30

POWER_MARGIN = 1.1
"""Power iteration approaches the largest eigenvalue from below: by how much it is trusted."""

NEUMANN_REACH = 1.9
"""Damped eigenvalues of D^-1 M stay below this; from 2 on the Neumann sum need not converge."""

BLOCK_SHIFT = 1e-8
"""Part of its diagonal by which a block is enlarged, so that dependent rows can be inverted.

With 1e-12 rounding along their null space cost ship08l 106 iterations instead of 92."""

CHEBYSHEV_RATIO = 30.0

BLOCK_SIZES = (1, 2, 4, 8, 16, 32)

MOST_DEGREE = 30


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """B as symmetric diagonal blocks and the steps of a polynomial.

    Parameters
    ----------
    name : str
    inverse : (blocks * block_size^2,) array on the device
        The diagonal blocks of B, or of B0 where steps follow.
    block_size : int
    steps : tuple of (float, float)
        Coefficients (a, b) of each step of the polynomial; empty without one.
    diagonal_inverse : (m,) array on the device
        D^-1 as the steps use it.
    """

    name: str
    inverse: Any
    block_size: int = 1
    steps: tuple[tuple[float, float], ...] = ()
    diagonal_inverse: Any = None

    @property
    def products(self) -> int:
        """Products with M that one application takes."""
        return len(self.steps)

    def fits(self, rows: int) -> bool:
        """Whether it is one for an operator with so many rows."""
        padded = -(-rows // self.block_size) * self.block_size
        own = self.diagonal_inverse
        of_steps = own is None or own.size == rows
        return bool(of_steps and self.inverse.size == padded * self.block_size)


def identity(operator: Operator) -> Preconditioner:
    """Return the preconditioner that changes nothing: plain conjugate gradients."""
    return Preconditioner("none", operator.device.xp.ones(operator.size))


def jacobi(operator: Operator) -> Preconditioner:
    """Return B = D^-1. An empty row gets 0: no solution can do anything about it.

    Raises
    ------
    ProblemError
        A diagonal entry is negative, or zero in a row with entries: M is not semidefinite.
    """
    return Preconditioner("jacobi", _inverse_diagonal(operator))


def block_jacobi(operator: Operator, block_size: int = 16) -> Preconditioner:
    """Return B with the inverses of M's diagonal blocks of so many consecutive rows.

    Raises
    ------
    ProblemError
        As for :func:`jacobi`; or the block size is none of 1, 2, 4, 8, 16 and 32.
    """
    if block_size not in BLOCK_SIZES:
        raise ProblemError(f"The block size is {block_size}; use one of {BLOCK_SIZES}.")
    xp = operator.device.xp
    m = operator.size
    inverse_diagonal = _inverse_diagonal(operator)
    count = -(-m // block_size)
    blocks = xp.zeros((count, block_size, block_size))
    ITERATION["diagonal_blocks"](
        *operator.by_row.arguments,
        operator.weight,
        int(operator.is_normal),
        block_size,
        blocks.reshape(-1),
        threads=operator.threads,
    )
    place = xp.arange(block_size)
    # Empty rows, and those that only fill up the last block, become rows of the identity.
    used = xp.zeros(count * block_size)
    used[:m] = inverse_diagonal > 0
    used = used.reshape(count, block_size)
    diagonal = blocks[:, place, place]
    blocks[:, place, place] = xp.where(used > 0, diagonal * (1.0 + BLOCK_SHIFT), 1.0)
    inverse = xp.linalg.inv(blocks) if count else blocks
    inverse = 0.5 * (inverse + inverse.transpose(0, 2, 1))
    inverse *= used[:, :, None] * used[:, None, :]
    if count and not bool((inverse[:, place, place] >= 0).all()):
        raise ProblemError(
            "A diagonal block of the matrix is not positive definite; use Jacobi instead."
        )
    return Preconditioner(
        f"block-jacobi {block_size}", xp.ascontiguousarray(inverse.reshape(-1)), block_size
    )


def neumann(operator: Operator, degree: int = 2, seed: int = 0) -> Preconditioner:
    """Return the truncated Neumann series of ``degree`` in M."""
    _check_degree(degree)
    inverse = _inverse_diagonal(operator)
    damping = min(1.0, NEUMANN_REACH / max(largest_eigenvalue(operator, inverse, seed), 1e-300))
    # u_(k+1) = u_k + damping D^-1 (r - M u_k): the direction has no memory.
    steps = ((0.0, damping),) * degree
    return Preconditioner(f"neumann {degree}", damping * inverse, 1, steps, inverse)


def chebyshev(
    operator: Operator, degree: int = 4, ratio: float = CHEBYSHEV_RATIO, seed: int = 0
) -> Preconditioner:
    """Return the Chebyshev polynomial of ``degree`` on [largest / ratio, largest].

    Raises
    ------
    ProblemError
        As for :func:`jacobi`; or the degree is none of 1 to 30, or the ratio not above 1.
    """
    _check_degree(degree)
    if not 1.0 < ratio < np.inf:
        raise ProblemError(f"The ratio of eigenvalues is {ratio:g}; it must be above 1.")
    inverse = _inverse_diagonal(operator)
    largest = max(largest_eigenvalue(operator, inverse, seed), 1e-300)
    smallest = largest / ratio
    theta, delta = 0.5 * (largest + smallest), 0.5 * (largest - smallest)
    steps = []
    rho = delta / theta
    for _ in range(degree):
        following = 1.0 / (2.0 * theta / delta - rho)
        steps.append((following * rho, 2.0 * following / delta))
        rho = following
    return Preconditioner(f"chebyshev {degree}", inverse / theta, 1, tuple(steps), inverse)


def largest_eigenvalue(operator: Operator, inverse: Any, seed: int = 0) -> float:
    """Return a bound on the largest eigenvalue of D^-1 M, given D^-1 (m,).

    The lesser of Gershgorin's bound, which is certain, and of the power iteration's estimate
    with :data:`POWER_MARGIN`, which is nearly so.
    """
    device = operator.device
    xp = device.xp
    if operator.size == 0:
        return 0.0
    certain = float((inverse * operator.apply(xp.ones(operator.size), magnitudes=True)).max())
    v = device.to_device(np.random.default_rng(seed).standard_normal(operator.size))
    estimate = 0.0
    for _ in range(POWER_ITERATIONS):
        image = inverse * operator.apply(v)
        squared = float((image * image).sum())
        if squared == 0.0 or not np.isfinite(squared):
            return certain
        estimate = float(np.sqrt(squared / float((v * v).sum())))
        v = image / np.sqrt(squared)
    # D^-1 M is symmetric in the norm of D only, where the quotient can no longer overshoot.
    return min(certain, POWER_MARGIN * max(estimate, _quotient(operator, inverse, v)))


def _quotient(operator: Operator, inverse: Any, v: Any) -> float:
    """Return v'M v / v'D v over the rows with a diagonal."""
    xp = operator.device.xp
    seen = inverse > 0
    diagonal = xp.where(seen, 1.0 / xp.where(seen, inverse, 1.0), 0.0)
    below = float((diagonal * v * v).sum())
    return float((v * operator.apply(v)).sum()) / below if below > 0 else 0.0


def _inverse_diagonal(operator: Operator) -> Any:
    xp = operator.device.xp
    diagonal = operator.diagonal()
    suspect = ~(diagonal > 0)
    if not operator.is_normal and bool(suspect.any()):
        _refuse_indefinite(operator, diagonal)
    return xp.where(suspect, 0.0, 1.0 / xp.where(suspect, 1.0, diagonal))


def _refuse_indefinite(operator: Operator, diagonal: Any) -> None:
    """Raise for a negative diagonal entry, or a zero one in a row with other entries."""
    host = operator.device.to_host
    values = host(diagonal)
    sizes = host(operator.apply(operator.device.xp.ones(operator.size), magnitudes=True))
    bad = (values < 0) | ((values == 0) & (sizes > 0)) | ~np.isfinite(values)
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        raise ProblemError(
            f"Diagonal entry {i} of the matrix is {values[i]:g}; conjugate gradients need a "
            "positive definite matrix. Solve with its normal equations instead."
        )


def _check_degree(degree: int) -> None:
    if int(degree) != degree or not 1 <= degree <= MOST_DEGREE:
        raise ProblemError(f"The polynomial's degree is {degree}; use 1 to {MOST_DEGREE}.")
