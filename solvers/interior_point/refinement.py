"""Refinement of solutions: GMRES with the factorisation as preconditioner.

Plain iterative refinement converges where the factorised matrix is near the true one. Where
regularisation has moved a few pivots by much, it crawls, and the least residual over all steps
taken so far (Saad and Schultz 1986, flexible form of Saad 1993) still gets there in a few.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.problem import FloatArray
from solvers.core.vectors import euclidean, inner

Pair = tuple[FloatArray, FloatArray]

STEPS = 8
"""Solves at most for one right-hand side."""


def refined(
    operator: Callable[[Pair], Pair],
    precondition: Callable[[FloatArray, FloatArray], Pair],
    right: Pair,
    sizes: tuple[float, float],
    enough: float,
) -> tuple[Pair, float]:
    """Return a solution of a system in two parts, and its error.

    The error is the 2-norm of the residual, each part measured against its ``sizes``; refinement
    ends where it is ``enough``.
    """

    def weighted(pair: Pair) -> FloatArray:
        return np.concatenate([pair[0] / sizes[0], pair[1] / sizes[1]])

    n = right[0].size
    target = weighted(right)
    x = precondition(*right)
    residual = target - weighted(operator(x))
    best, error = x, euclidean(residual)
    if not np.isfinite(error):
        return (np.zeros_like(right[0]), np.zeros_like(right[1])), 1.0
    if error <= enough:
        return best, error
    # steps z_k and their images q_k, made orthonormal
    steps: list[Pair] = []
    images: list[FloatArray] = []
    for _ in range(STEPS - 1):
        step = precondition(residual[:n] * sizes[0], residual[n:] * sizes[1])
        image = weighted(operator(step))
        for q, z in zip(images, steps, strict=True):
            along = inner(q, image)
            image = image - along * q
            step = (step[0] - along * z[0], step[1] - along * z[1])
        size = euclidean(image)
        if not (np.isfinite(size) and size > 0.0):
            break
        image, step = image / size, (step[0] / size, step[1] / size)
        along = inner(image, residual)
        x = (x[0] + along * step[0], x[1] + along * step[1])
        before = error
        residual = target - weighted(operator(x))
        error = euclidean(residual)
        images.append(image)
        steps.append(step)
        if not error < 0.9 * before:
            if error < before:
                best = x
            error = min(error, before)
            break
        best = x
        if error <= enough:
            break
    return best, error
