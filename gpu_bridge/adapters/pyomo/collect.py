"""One quick pass over constraints of the usual linear shapes; the rest is set aside.

Nearly every row of a linear Pyomo model is an inequality or equation between a flat sum of
``coefficient * variable`` terms and a number. Such sums already hold their terms in a list, so
the pass only strings these lists together and notes the sides: what the terms are is found out
later for all rows at once, by functions that run in C (``entries.py``). Rows of any other shape
are noted for Pyomo's own compiler (``compiler.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyomo.core.base.var import ScalarVar
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression, SumExpression
from pyomo.core.expr.relational_expr import (
    EqualityExpression,
    InequalityExpression,
    RangedExpression,
)

from gpu_bridge.adapters.pyomo.data_classes import VarData
from gpu_bridge.adapters.pyomo.products import PRODUCTS

NUMBERS = frozenset({float, int})
SINGLE_TERMS = frozenset({MonomialTermExpression, ScalarVar, VarData, *PRODUCTS})


class RowCollector:
    """Rows of a model as flat lists, in the order of their discovery.

    Attributes
    ----------
    rows : list
        Constraint data (or the objective), one per row.
    lower, upper : lists
        Sides of the rows as Pyomo holds them: None, numbers or parameter expressions.
    terms, lengths : lists
        Terms of all rows one after the other, and how many belong to each row.
    subtracted_terms, subtracted_lengths, subtracted_rows : lists
        Terms of right-hand sides that hold variables, with the rows they belong to.
    unusual : list of int
        Rows left to the compiler; they have no terms and no sides here.
    """

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.lower: list[Any] = []
        self.upper: list[Any] = []
        self.terms: list[Any] = []
        self.lengths: list[int] = []
        self.subtracted_terms: list[Any] = []
        self.subtracted_lengths: list[int] = []
        self.subtracted_rows: list[int] = []
        self.unusual: list[int] = []

    def add_objective(self, objective: Any | None) -> None:
        """Add the objective's expression as a row without sides; an empty row for None."""
        terms = [] if objective is None or is_template(objective) else flat_terms(objective.expr)
        if terms is None or (objective is not None and is_template(objective)):
            self._set_aside(objective)
        else:
            self._add(objective, None, terms, None)

    def add_constraints(self, constraints: Iterable[Any]) -> None:
        """Add every active constraint of one container."""
        add_row, add_length = self.rows.append, self.lengths.append
        add_lower, add_upper = self.lower.append, self.upper.append
        add_term, add_terms = self.terms.append, self.terms.extend
        for constraint in constraints:
            if not constraint._active:
                continue
            expression: Any = getattr(constraint, "_expr", None)
            kind = expression.__class__
            if kind is not InequalityExpression and kind is not EqualityExpression:
                self._add_ranged_or_unusual(constraint, expression)
                continue
            left, right = expression._args_
            if right.__class__ in NUMBERS:
                body, low, high = left, None, right
            elif left.__class__ in NUMBERS:
                body, low, high = right, left, None
            else:
                self._add_two_sided(constraint, left, right, kind is EqualityExpression)
                continue
            body_kind = body.__class__
            if body_kind is LinearExpression or body_kind is SumExpression:
                terms = body._args_
                count = body._nargs
                add_terms(terms if count == len(terms) else terms[:count])
            elif body_kind in SINGLE_TERMS:
                count = 1
                add_term(body)
            else:
                self._set_aside(constraint)
                continue
            if kind is EqualityExpression:
                low = high = right if low is None else low
            add_row(constraint)
            add_lower(low)
            add_upper(high)
            add_length(count)

    def _add_ranged_or_unusual(self, constraint: Any, expression: Any) -> None:
        if expression.__class__ is RangedExpression:
            low, body, high = expression._args_
            terms = flat_terms(body)
            if terms is not None and is_fixed_data(low) and is_fixed_data(high):
                self._add(constraint, low, terms, high)
                return
        self._set_aside(constraint)

    def _add_two_sided(self, constraint: Any, left: Any, right: Any, equation: bool) -> None:
        """Add a row whose sides are both expressions; as in Pyomo the body is left - right."""
        if is_fixed_data(right):
            left, right = left, right
            low = right if equation else None
            high, body, subtracted = right, left, None
        elif is_fixed_data(left):
            low, body, subtracted = left, right, None
            high = left if equation else None
        else:
            low, high, body, subtracted = (0 if equation else None), 0, left, right
        terms = flat_terms(body)
        others = [] if subtracted is None else flat_terms(subtracted)
        if terms is None or others is None:
            self._set_aside(constraint)
            return
        if others:
            self.subtracted_rows.append(len(self.rows))
            self.subtracted_lengths.append(len(others))
            self.subtracted_terms.extend(others)
        self._add(constraint, low, terms, high)

    def _add(self, row: Any, low: Any, terms: list[Any], high: Any) -> None:
        self.rows.append(row)
        self.lower.append(low)
        self.upper.append(high)
        self.lengths.append(len(terms))
        self.terms.extend(terms)

    def _set_aside(self, row: Any) -> None:
        self.unusual.append(len(self.rows))
        self._add(row, None, [], None)


def flat_terms(expression: Any) -> list[Any] | None:
    """Return the terms of a sum, or None where the expression is something else."""
    kind = expression.__class__
    if kind is LinearExpression or kind is SumExpression:
        terms: list[Any] = expression._args_
        return terms if expression._nargs == len(terms) else terms[: expression._nargs]
    if kind in SINGLE_TERMS or kind in NUMBERS:
        return [expression]
    return None


def is_fixed_data(side: Any) -> bool:
    """Whether a side is None, a number, or an expression of parameters only."""
    return side is None or side.__class__ in NUMBERS or _is_parameter(side)


def is_template(row: Any) -> bool:
    """Whether a constraint or objective still stands as a template over its index."""
    return hasattr(row, "template_expr")


def _is_parameter(side: Any) -> bool:
    known = getattr(side, "is_potentially_variable", None)
    return known is None or not known()
