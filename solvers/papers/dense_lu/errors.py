"""What can be wrong with a dense matrix."""

from __future__ import annotations

from solvers.core.errors import ProblemError


class SingularMatrixError(ProblemError):
    """A column has no pivot that is more than rounding.

    Parameters
    ----------
    column : int
        The first such column, counted from 0.
    pivot : float
        The largest magnitude left in it, with its sign.
    rounding : float
        What rounding alone may have left there.
    """

    def __init__(self, column: int, pivot: float, rounding: float) -> None:
        super().__init__(
            f"The matrix is singular: once the columns before it are eliminated, column {column} "
            f"holds nothing larger than {pivot:g}, and rounding alone leaves up to "
            f"{rounding:.1e} there. It depends on those columns; replace it or leave it out."
        )
        self.column = column
        self.pivot = pivot
        self.rounding = rounding
