"""LPs with points and duals, and the kernel that checks them called with bare arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import FloatArray
from solvers.simplex.batch.kernels.check import FIGURES, VARYING
from solvers.simplex.batch.prepare import claims_mask, columns_of, is_full

CLAIMED, UNCLAIMED = 1, 2

SHAPES = [
    (1, 1),
    (1, 40),
    (40, 1),
    (3, 7),
    (9, 17),
    (33, 31),
    (32, 32),
    (31, 33),
    (20, 130),
    (0, 5),
    (5, 0),
]


@dataclass(frozen=True, eq=False)
class Case:
    """Arrays of LPs (1 or count rows each), a pattern, and claims about them."""

    count: int
    pattern: sp.csr_array
    given: dict[str, FloatArray]
    ending: Any
    x: FloatArray
    y: FloatArray


def random_case(
    seed: int, count: int, m: int, n: int, *, density: float = 1.0, varying: tuple[str, ...] = ()
) -> Case:
    """Return LPs with all kinds of sides and bounds; some points leave them, some duals lean on
    infinite ones, and some LPs claim nothing."""
    generator = np.random.default_rng(seed)
    used = generator.uniform(size=(m, n)) < density
    pattern = sp.csr_array(used.astype(float))
    pattern.indices = pattern.indices.astype(np.int32)
    pattern.indptr = pattern.indptr.astype(np.int32)

    def sides(width: int, sign: float, k: int) -> FloatArray:
        finite = generator.uniform(size=(k, width)) < 0.6
        found: FloatArray = np.where(
            finite, sign * generator.uniform(0.1, 3, (k, width)), sign * np.inf
        )
        return found

    rows = {name: count if name in varying else 1 for name in VARYING}
    given = {
        "values": generator.standard_normal((rows["values"], pattern.nnz)),
        "cost": generator.standard_normal((rows["cost"], n)),
        "lower": sides(n, -1.0, rows["lower"]),
        "upper": sides(n, 1.0, rows["upper"]),
        "row_lower": sides(m, -1.0, rows["row_lower"]),
        "row_upper": sides(m, 1.0, rows["row_upper"]),
        "offset": generator.standard_normal((rows["offset"], 1)),
    }
    x = generator.uniform(-2.0, 2.0, (count, n))
    inside = generator.uniform(size=(count, 1)) < 0.5
    x = np.where(inside, np.clip(x, given["lower"], given["upper"]), x)
    y = generator.standard_normal((count, m)) * (generator.uniform(size=(count, m)) < 0.7)
    ending = generator.choice([CLAIMED, CLAIMED, UNCLAIMED, -1], count).astype(np.int32)
    return Case(count, pattern, given, ending, x, y)


def run_check(
    case: Case, run: Callable[[tuple[Any, ...]], None], to_device: Callable[[Any], Any] = np.array
) -> tuple[Any, Any]:
    """Return the figures (count, 8) and the duals (count, m) after the check, where they are."""
    full = is_full(case.pattern)
    nothing = np.zeros(1, dtype=np.int32)
    by_columns = (nothing,) * 3 if full else columns_of(case.pattern)
    arrays = [case.given[name] for name in VARYING]
    varying = sum(1 << bit for bit, array in enumerate(arrays) if array.shape[0] != 1)
    y = to_device(case.y.reshape(-1))
    figures = to_device(np.full(case.count * len(FIGURES), -7.0))
    run(
        (
            case.count, *case.pattern.shape, to_device(case.pattern.indptr),
            to_device(case.pattern.indices), *map(to_device, by_columns), int(full), varying,
            *(to_device(array.reshape(-1)) for array in arrays), claims_mask((CLAIMED,)),
            to_device(case.ending), to_device(case.x.reshape(-1)), y, figures,
        )
    )  # fmt: skip
    return figures, y
