"""The linear systems of the method, and what whoever factorises them has to do.

    [ -D  A' ] [dx]   [f]
    [  A     ] [dy] = [g]

Most columns are eliminated, which leaves ``S = A_E D_E^-1 A_E'`` (normal equations). Columns that
would fill S, and free columns, whose D is zero, are kept:

    [ -(D_K + rho)   A_K'     ]
    [  A_K           S + delta ]

With no column kept these are the normal equations, with all of them the augmented system. The
matrix is quasidefinite for every choice (Vanderbei 1995), so any order of pivots on the diagonal
works and symbolic analysis is done once. Static regularisation rho and delta keeps pivots away
from zero where equations depend on each other.

Refinement on the system without it takes its effect out again: GMRES with the factorisation as
preconditioner. Plain iterative refinement converges where the factorised matrix is near the true
one. Where regularisation has moved a few pivots by much, it crawls, and the least residual over all
steps taken so far (Saad and Schultz 1986, flexible form of Saad 1993) still gets there in a few.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.core.vectors import inners, norms
from solvers.interior_point.assembly import Assembly

Pair = tuple[FloatArray, FloatArray]

STEPS = 8
"""Solves at most for one right-hand side."""


def refined(
    operator: Callable[[Pair], Pair],
    precondition: Callable[[FloatArray, FloatArray], Pair],
    right: Pair,
    first: Pair,
    residual: Pair,
    left: list[float],
    limits: tuple[float, float],
) -> tuple[Pair, list[float]]:
    """Return a solution of a system in two parts, from a ``first`` one, and its residual's norms.

    The first one comes with its residual and what is ``left``, the norms of that. Each part of the
    residual is measured against its limit; refinement ends where the 2-norm of both is one.
    """

    def along(one: Pair, other: Pair) -> float:
        products = inners(*zip(one, other, strict=True))
        return sum(product / limit**2 for product, limit in zip(products, limits, strict=True))

    def error_of(left: list[float]) -> float:
        return math.hypot(left[0] / limits[0], left[1] / limits[1])

    x, error = first, error_of(left)
    best = x, left
    if not math.isfinite(error):
        nothing = np.zeros_like(right[0]), np.zeros_like(right[1])
        return nothing, norms(*right)
    # steps z_k and their images q_k, made orthonormal
    steps: list[Pair] = []
    images: list[Pair] = []
    while error > 1.0 and len(steps) < STEPS - 1:
        step = precondition(*residual)
        image = operator(step)
        for q, z in zip(images, steps, strict=True):
            part = along(q, image)
            image, step = _less(image, part, q), _less(step, part, z)
        size = math.sqrt(along(image, image))
        if not (math.isfinite(size) and size > 0.0):
            break
        image, step = (image[0] / size, image[1] / size), (step[0] / size, step[1] / size)
        x = _less(x, -along(image, residual), step)
        before = error
        residual = _difference(right, operator(x))
        left = norms(*residual)
        error = error_of(left)
        images.append(image)
        steps.append(step)
        if error < before:
            best = x, left
        if not error < 0.9 * before:
            break
    return best


def _difference(one: Pair, other: Pair) -> Pair:
    return one[0] - other[0], one[1] - other[1]


def _less(pair: Pair, part: float, other: Pair) -> Pair:
    """Return a pair less part of another."""
    return pair[0] - part * other[0], pair[1] - part * other[1]


PRIMAL_REGULARISATION, DUAL_REGULARISATION = 1e-8, 1e-11
"""rho, at most, and delta, beside entries scaled to one. With these, and where a direction no
better than none has regularisation grow, the models of Netlib take 928 iterations; with 1e-12 and
any direction taken 982."""

LEAST_PRIMAL = 1e-14
"""rho at the least. It falls as mu does (Pougkakiotis and Gondzio 2021), because what eliminating
the rows leaves of a free column's pivot does: with 1e-8 to the end ``de080285`` stayed at 9e-8 and
``delf024`` at 1e-4, and other models of Netlib and ``lp-large`` take as many iterations."""

RESIDUAL_BY_ERROR, LEAST_RESIDUAL, MOST_RESIDUAL = 1e-2, 1e-10, 1e-3
"""Relative residual of a solution for each unit of the iterate's largest relative error, at least
and at most. What a direction misses comes back in the residuals of the next iterate, so that it
need be no smaller than those. Models of Netlib take 927 iterations and 5,184 solves, and 928 and
7,107 with 1e-10 throughout; 1e-3 for each unit 927 and 5,354, and 0.1 with one model more 974 and
5,397. With 1e-12 and 1e-7 throughout `greenbea`, with 1e-9 `cycle` ended short of 1e-8."""

OF_MISSING = 1e-2
"""Part of what the iterate leaves of an equation that a direction may miss of it. Near the optimum
the right side of A dx = g is what is left itself, of which the rule above asks a hundredth of the
error: eight digits of a residual of 1e-6. With this the models of Netlib take 929 iterations and
4,736 solves, and 928 and 5,154 without; with 0.1 ``cycle`` takes 39 instead of 20."""

PIVOT_SHARE = 1e-14
"""Part of a pivot that is added to it, which rounding cannot outweigh where equations depend on
each other. With 1e-12 ``gen4`` takes 8 iterations and 57 solves on a GPU instead of up to 18 and
220, if it ends at all, but the models of Netlib need 15 % more solves."""

ROUNDING = 1e-15
"""Part of dx, beside entries near one, that A dx loses to rounding. A dx = g is not asked to hold
more closely: at a start that satisfies the equations g is 1e-15, and beside that any solution of
four of ten models of the ``truss`` family looked no better than none."""

STRONGER, STRONGER_PRIMAL = 100.0, 10.0
"""Factors by which delta and rho grow when a factorisation fails. With 100 for both ``delf024``
missed 1e-8, with 10 for both ``gen4``, and with rho left alone ``gen4`` and ``ex3sta1``."""

USELESS, STRONGEST = 1.0, 1e-2
"""Relative residual after refinement from which on a factorisation counts as failed, that of no
solution at all, and delta above which it is taken as it is. On ``ex3sta1``, where 7,754 columns are
free, the second one had residuals of 1e2 to 1e12 with the regularisation above and of 1e-12 with
the next stronger one."""


class SingularError(ArithmeticError):
    """A factorisation met a pivot that it cannot divide by."""


class Factorisation(Protocol):
    """A symmetric quasidefinite matrix, analysed once and factorised for ever new values."""

    def analyse(
        self, row: npt.NDArray[Any], column: npt.NDArray[Any], size: int, most: float = np.inf
    ) -> None:
        """Order the matrix whose lower triangle has entries there.

        Where L has more entries than ``most``, nothing but that needs to be found out.
        """

    def begin(self, progress: Progress) -> AbstractContextManager[Any]:
        """Take up another solve with a matrix of the same pattern, maybe in another thread.

        Within what is returned everything is queued where the factors are.
        """

    @property
    def entries(self) -> int:
        """Entries of the factor L, as predicted by the analysis."""

    @property
    def bytes_needed(self) -> float:
        """Memory that the factors take, as predicted by the analysis."""

    @property
    def bytes_free(self) -> float:
        """Memory that is free where they go."""

    @property
    def seconds_needed(self) -> float:
        """What a factorisation takes at the least, as predicted by the analysis."""

    @property
    def replaced_pivots(self) -> int:
        """Pivots of the latest factorisation that were too small, and replaced."""

    def factorise(self, values: FloatArray) -> None:
        """Factorise with these values of the lower triangle; SingularError if it cannot."""

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the solution for a right-hand side (size,)."""


@dataclass(eq=False)
class LinearSystem:
    """The system of one standard form."""

    matrix: Any
    transposed: Any
    assembly: Assembly
    """From D to the entries of the matrix that is factorised."""
    factorisation: Factorisation
    """Of its pattern, analysed."""
    seconds_analysing: float = 0.0
    """What that took."""

    def __post_init__(self) -> None:
        self.forget()
        self.solves = self.factorisations = 0
        self.latest_residual = self.worst_residual = 0.0
        self.seconds_factorising = self.seconds_solving = 0.0

    def factorise(self, diagonal: FloatArray) -> None:
        """Take D (columns,) and factorise; regularise more where that fails."""
        began = time.perf_counter()
        self.diagonal = diagonal
        kept = self.assembly.kept
        self.eliminated = diagonal.copy()
        self.eliminated[kept] = np.inf
        self.eliminated = 1.0 / self.eliminated
        while True:
            kept_diagonal = diagonal[kept] + self.rho
            values = self.assembly.values(self.eliminated, kept_diagonal, self.delta, self.share)
            try:
                self.factorisation.factorise(values)
                break
            except SingularError:
                if self.delta > STRONGEST:
                    raise
                self.strengthen()
        self.factorisations += 1
        self.worst_residual = 0.0
        self.seconds_factorising += time.perf_counter() - began

    def factorise_for(
        self, diagonal: FloatArray, f: FloatArray, g: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Factorise and return (dx, dy); regularise more where that solution is useless."""
        self.factorise(diagonal)
        dx, dy = self.solve(f, g)
        while self.is_useless:
            self.strengthen()
            self.factorise(diagonal)
            dx, dy = self.solve(f, g)
        return dx, dy

    @property
    def is_useless(self) -> bool:
        """Whether a solution with the latest factors was no better than none, and more may help."""
        return self.worst_residual >= USELESS and self.delta <= STRONGEST

    @property
    def is_strengthened(self) -> bool:
        """Whether regularisation has been made stronger."""
        return self.strengthened > 0

    @property
    def rho(self) -> float:
        """What is added to the diagonal of each kept column."""
        return STRONGER_PRIMAL**self.strengthened * self._falling

    @property
    def delta(self) -> float:
        """What is added to each pivot of a row."""
        return STRONGER**self.strengthened * DUAL_REGULARISATION

    @property
    def share(self) -> float:
        """Part of such a pivot that is added besides."""
        return STRONGER**self.strengthened * PIVOT_SHARE

    def strengthen(self) -> None:
        """Regularise more from now on."""
        self.strengthened += 1

    def forget(self) -> None:
        """Regularise as at the beginning."""
        self.strengthened, self._falling = 0, PRIMAL_REGULARISATION
        self._enough = LEAST_RESIDUAL

    def follow(self, fallen: float, error: float) -> None:
        """Go with an iterate.

        Kept columns are regularised by no more than what is left of mu, as a part of the first, and
        solutions are refined as far as its largest relative ``error`` asks.
        """
        self._falling = min(PRIMAL_REGULARISATION, max(LEAST_PRIMAL, fallen))
        self._enough = min(MOST_RESIDUAL, max(LEAST_RESIDUAL, RESIDUAL_BY_ERROR * error))

    def solve(
        self, f: FloatArray, g: FloatArray, missing: tuple[float, float] = (0.0, 0.0)
    ) -> tuple[FloatArray, FloatArray]:
        """Return (dx, dy), refined on the system without regularisation.

        ``missing`` are the 2-norms of what the iterate leaves of the equations that f and g are of:
        a direction need not hold them more closely than to a part of that.
        """
        began = time.perf_counter()
        first = self._solve_once(f, g)
        residual = _difference((f, g), self._times(first))
        size, other_size, moved, *left = norms(f, g, first[0], *residual)
        # or what stands for it where a right side is zero
        sizes = size or 1.0, max(other_size or 1.0, ROUNDING * moved / self._enough)
        f_limit, g_limit = (
            max(self._enough * size, OF_MISSING * norm)
            for size, norm in zip(sizes, missing, strict=True)
        )
        known, limits = (first, residual, left), (f_limit, g_limit)
        point, left = refined(self._times, self._solve_once, (f, g), *known, limits)
        error = math.hypot(left[0] / sizes[0], left[1] / sizes[1])
        self.latest_residual, self.worst_residual = error, max(error, self.worst_residual)
        self.seconds_solving += time.perf_counter() - began
        return point

    def _times(self, point: Pair) -> Pair:
        """Return the system without regularisation times (dx, dy)."""
        dx, dy = point
        return self.transposed @ dy - self.diagonal * dx, self.matrix @ dx

    def _solve_once(self, f: FloatArray, g: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Solve the regularised system."""
        self.solves += 1
        assembly = self.assembly
        kept = assembly.kept
        right = np.concatenate([f[kept], g + self.matrix @ (self.eliminated * f)])
        solution = self.factorisation.solve(right)
        dy = solution[assembly.num_kept :]
        dx = self.eliminated * (self.transposed @ dy - f)
        dx[kept] = solution[: assembly.num_kept]
        return dx, dy
