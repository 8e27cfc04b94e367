"""What a series of solves with one operator works on, and the launches of its iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from solvers.core.errors import OptionError, ProblemError
from solvers.linalg.kernels.iteration import (
    CONTROL_SIZE,
    ITERATION,
    ROWS_PER_SLOT,
    launch_rows,
    launch_vector,
)
from solvers.linalg.operator import Operator
from solvers.linalg.precondition import Preconditioner, identity

SINGLE, CLASSIC = "single", "classic"

BATCH = 50
"""Iterations between two looks at the scalars, and at the true residual; even."""

MOST_SUMS = 3


@dataclass(eq=False)
class Workspace:
    """Vectors of conjugate gradients on the operator's device; nothing is allocated later.

    All vectors are (m,), but ``q`` (n,) holds D A' times one. ``control`` holds the scalars (see
    ``kernels/iteration.py``), ``partial`` and ``ticket`` serve the reductions. ``other_u`` and
    ``other_p`` take turns with ``u`` and ``p`` where a kernel may not write what it gathers.
    """

    operator: Operator
    preconditioner: Preconditioner
    variant: str
    side: Any
    x: Any
    r: Any
    u: Any
    p: Any
    s: Any
    w: Any
    other_u: Any
    other_p: Any
    q: Any
    control: Any
    partial: Any
    ticket: Any
    row_slots: int
    vector_slots: int
    graph: Any = None


def prepare(
    operator: Operator,
    preconditioner: Preconditioner | None = None,
    *,
    variant: str | None = None,
) -> Workspace:
    """Allocate what conjugate gradients need, for any number of right-hand sides.

    Parameters
    ----------
    operator : Operator
    preconditioner : Preconditioner, optional
        None for plain conjugate gradients.
    variant : {'single', 'classic'}, optional
        One reduction in an iteration (Chronopoulos and Gear) or two (Hestenes and Stiefel). The
        classic form is the default where it can be used: it moves fewer bytes and bears rounding
        better.

    Raises
    ------
    OptionError
        An unknown variant, or a polynomial with 'classic', whose residual sums belong to the
        vector step.
    ProblemError
        The preconditioner was made for an operator of another size.
    """
    chosen = identity(operator) if preconditioner is None else preconditioner
    if not chosen.fits(operator.size):
        raise ProblemError(
            f"The preconditioner '{chosen.name}' is not one for {operator.size} rows; make it from "
            "this operator."
        )
    if variant is None:
        variant = SINGLE if chosen.steps else CLASSIC
    if variant not in (SINGLE, CLASSIC):
        raise OptionError(f"There is no variant '{variant}'; use '{SINGLE}' or '{CLASSIC}'.")
    if chosen.steps and variant == CLASSIC:
        raise OptionError(f"The preconditioner '{chosen.name}' needs the variant '{SINGLE}'.")
    xp = operator.device.xp
    m = operator.size
    row_slots, vector_slots = _slots(operator)
    columns = 0 if operator.by_column is None else operator.by_column.rows
    vectors = {
        name: xp.zeros(m) for name in ("side", "x", "r", "u", "p", "s", "w", "other_u", "other_p")
    }
    return Workspace(
        operator=operator,
        preconditioner=chosen,
        variant=variant,
        **vectors,
        q=xp.zeros(columns),
        control=xp.zeros(CONTROL_SIZE),
        partial=xp.zeros(MOST_SUMS * max(row_slots, vector_slots)),
        ticket=xp.zeros(1, dtype=operator.by_row.arguments[1].dtype),
        row_slots=row_slots,
        vector_slots=vector_slots,
    )


def launch_batch(space: Workspace, count: int = BATCH) -> None:
    """Run, or record, ``count`` iterations; an even count brings every buffer back."""
    one = _iterate_single if space.variant == SINGLE else _iterate_classic
    for _ in range(count):
        one(space)


def compute_residual(space: Workspace, into: Any) -> None:
    """Put b - M x into a vector (m,)."""
    operator = space.operator
    ITERATION["residual"](
        *operator.by_row.arguments,
        _gathered(space, space.x),
        space.side,
        into,
        threads=operator.threads,
    )


def true_residual(space: Workspace) -> None:
    """Put r = b - M x and u = B r in place of what the recurrences have made of them."""
    operator = space.operator
    compute_residual(space, space.r)
    preconditioner = space.preconditioner
    ITERATION["precondition"](
        operator.size,
        preconditioner.block_size,
        preconditioner.inverse,
        space.r,
        space.u,
        threads=operator.threads,
    )
    before = space.u
    _polynomial(space)
    if space.u is not before:  # recorded launches expect it where it was
        before[...] = space.u
        space.u, space.other_u = before, space.u


def direction_product(space: Workspace) -> None:
    """Put s = M p in place of what the recurrence has made of it."""
    ITERATION["multiply"](
        *space.operator.by_row.arguments,
        _gathered(space, space.p),
        0,
        space.s,
        threads=space.operator.threads,
    )


def _iterate_single(space: Workspace) -> None:
    operator, preconditioner, threads = space.operator, space.preconditioner, space.operator.threads
    gathered = _columns_step(space, space.u) if operator.is_normal else space.u
    ITERATION["product_single"](
        *operator.by_row.arguments,
        gathered,
        space.u,
        space.r,
        space.w,
        space.row_slots,
        space.partial,
        space.ticket,
        space.control,
        threads=threads,
    )
    ITERATION["update_single"](
        operator.size,
        preconditioner.block_size,
        preconditioner.inverse,
        space.w,
        space.p,
        space.s,
        space.x,
        space.r,
        space.u,
        space.control,
        threads=threads,
    )
    _polynomial(space)


def _iterate_classic(space: Workspace) -> None:
    operator, preconditioner, threads = space.operator, space.preconditioner, space.operator.threads
    gathered = space.u
    if operator.is_normal:
        gathered = _columns_step(space, space.u, space.p)
    ITERATION["product_classic"](
        *operator.by_row.arguments,
        gathered,
        int(not operator.is_normal),
        space.u,
        space.p,
        space.other_p,
        space.s,
        space.row_slots,
        space.partial,
        space.ticket,
        space.control,
        threads=threads,
    )
    space.p, space.other_p = space.other_p, space.p
    ITERATION["update_classic"](
        operator.size,
        preconditioner.block_size,
        preconditioner.inverse,
        space.p,
        space.s,
        space.x,
        space.r,
        space.u,
        space.vector_slots,
        space.partial,
        space.ticket,
        space.control,
        threads=threads,
    )


def _polynomial(space: Workspace) -> None:
    """Take the polynomial's steps from u = B0 r; with an odd degree u and other_u change places."""
    operator, preconditioner = space.operator, space.preconditioner
    here, there = space.u, space.other_u
    for number, (a, b) in enumerate(preconditioner.steps):
        gathered = _columns_step(space, here) if operator.is_normal else here
        ITERATION["polynomial_step"](
            *operator.by_row.arguments,
            gathered,
            preconditioner.diagonal_inverse,
            space.r,
            here,
            here if number == 0 else space.w,
            a,
            b,
            space.w,
            there,
            space.control,
            threads=operator.threads,
        )
        here, there = there, here
    space.u, space.other_u = here, there


def _columns_step(space: Workspace, u: Any, p: Any = None) -> Any:
    """Return q = D A'u, or D A'(u + beta p)."""
    operator = space.operator
    assert operator.by_column is not None  # the caller has asked
    ITERATION["columns_step"](
        *operator.by_column.arguments,
        operator.weight,
        u,
        u if p is None else p,
        int(p is not None),
        space.control,
        space.q,
        threads=operator.threads,
    )
    return space.q


def _gathered(space: Workspace, vector: Any) -> Any:
    """Return what the row product takes, whether the iteration has stopped or not."""
    operator = space.operator
    if operator.by_column is None:
        return vector
    ITERATION["multiply"](
        *operator.by_column.arguments, vector, 0, space.q, threads=operator.threads
    )
    space.q *= operator.weight
    return space.q


def _slots(operator: Operator) -> tuple[int, int]:
    """Return the numbers of partial sums of row steps and of vector steps."""
    m = operator.size
    if operator.device.kind == "cpu":
        return 1 + m // ROWS_PER_SLOT, 1 + m // ROWS_PER_SLOT
    rows = operator.by_row
    values = {"rows": m, "lanes": rows.lanes, "long_count": rows.arguments[4]}
    return max(1, launch_rows(values).grid), max(1, launch_vector(values).grid)
