"""One quick pass over constraints of the usual linear shapes; the rest is set aside.

Nearly every row of a linear Pyomo model is an inequality or equation between a flat sum of
``coefficient * variable`` terms and a number. Such sums already hold their terms in a list, so
the pass only strings these lists together and notes the sides: what the terms are is found out
later for all rows at once, by functions that run in C (``entries.py``). Rows of any other shape
are noted for Pyomo's own compiler (``compiler.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple, NoReturn

from pyomo.common.numeric_types import native_numeric_types
from pyomo.core.base import Objective
from pyomo.core.base.expression import ScalarExpression
from pyomo.core.base.var import ScalarVar
from pyomo.core.expr.numeric_expr import (
    LinearExpression,
    MonomialTermExpression,
    NegationExpression,
    ProductExpression,
    SumExpression,
)
from pyomo.core.expr.relational_expr import (
    EqualityExpression,
    InequalityExpression,
    RangedExpression,
)

from gpu_bridge.adapters.pyomo.interface import ExpressionData, IncompatiblePyomoModelError, VarData

# Products of a parameter and a sum, and named expressions, as terms of one variable each.
#
# ``p * (x - y)`` with a mutable parameter stays one product in Pyomo. Multiplied out once, only
# the parameter has to be looked at when the model is solved again, and of a named expression
# whether it still means the same.


SUMS = frozenset({LinearExpression, SumExpression})
NAMED = frozenset({ScalarExpression, ExpressionData})
COMPOSED = frozenset({ProductExpression, NegationExpression, *NAMED})
PLAIN_VARIABLES = frozenset({ScalarVar, VarData})

Pair = tuple[Any, Any]
"""A factor and a variable, or 1 and whatever else is added."""


class Meaning(NamedTuple):
    """What a named expression stood for when a row was read."""

    row: int
    name: Any
    argument: Any

    @property
    def holds(self) -> bool:
        """Whether it still does: what an expression says never changes, so it would be another."""
        return self.name._args_[0] is self.argument


class Scaled(NamedTuple):
    """A number times a parameter, or an expression of parameters."""

    by: float
    item: Any


def factor_pairs(
    terms: Sequence[Any], lengths: Sequence[int]
) -> tuple[Sequence[Pair], Sequence[int], list[Meaning]]:
    """Return the terms of several rows as pairs, how many belong to each, and what they rest on.

    A product that is not linear, or not understood, is the second of a pair as it is. A row is
    known by its place in ``lengths``.
    """
    monomial = MonomialTermExpression
    if COMPOSED.isdisjoint(set(map(type, terms))):
        # a call for each term would take as long as the rest
        pairs = [term._args_ if term.__class__ is monomial else (1.0, term) for term in terms]
        return pairs, lengths, []
    pairs = []
    counts = []
    meanings: list[Meaning] = []
    every = iter(terms)
    for row, length in enumerate(lengths):
        before = len(pairs)
        for term in islice(every, length):
            kind = term.__class__
            if kind is monomial:
                pairs.append(term._args_)
            elif kind not in COMPOSED or not _multiply_out(term, row, pairs, meanings):
                pairs.append((1.0, term))
        counts.append(len(pairs) - before)
    return pairs, counts, meanings


def _multiply_out(term: Any, row: int, found: list[Pair], meanings: list[Meaning]) -> bool:
    """Add the pairs that a term adds up to; False, and none added, where it is not understood.

    Nor is one with a named expression in two places: sums of sums of sums may grow exponentially.
    """
    known, known_meanings = len(found), len(meanings)
    names: set[int] = set()
    left: list[Pair] = [(1.0, term)]
    while left:
        factor, part = left.pop()
        kind = part.__class__
        if kind in PLAIN_VARIABLES:
            found.append((factor, part))
        elif kind in NAMED and id(part) not in names:
            names.add(id(part))
            (argument,) = part._args_
            meanings.append(Meaning(row, part, argument))
            left.append((factor, argument))
        elif (addends := _addends(factor, part)) is not None:
            left.extend(addends)
        elif kind not in NAMED and _is_data(part):
            found.append((1.0, _times(factor, part)))
        else:
            del found[known:], meanings[known_meanings:]
            return False
    return True


def _addends(factor: Any, part: Any) -> list[Pair] | None:
    """Return what a factor times a sum or product adds up to, the last first; None of others."""
    kind = part.__class__
    if kind is MonomialTermExpression:
        coefficient, variable = part._args_
        return [(_times(factor, coefficient), variable)]
    if kind in SUMS:
        return [(factor, addend) for addend in part._args_[: part._nargs][::-1]]
    if kind is NegationExpression:
        return [(_times(factor, -1.0), part._args_[0])]
    if kind is ProductExpression:
        one, other = part._args_
        if _is_data(one):
            return [(_times(factor, one), other)]
        if _is_data(other):
            return [(_times(factor, other), one)]
    return None


def _is_data(item: Any) -> bool:
    """Whether something is a number, a parameter, or an expression of these."""
    if item.__class__ in native_numeric_types:
        return True
    known = getattr(item, "is_potentially_variable", None)
    return known is not None and not known()


def _times(one: Any, other: Any) -> Any:
    """Return the product of two numbers, parameters or scaled parameters."""
    one_by, one_item = _split(one)
    by, item = _split(other)
    if one_item is None and item is None:
        return one_by * by
    if one_item is None or item is None:
        return Scaled(one_by * by, item if one_item is None else one_item)
    return Scaled(one_by * by, one_item * item)


def _split(factor: Any) -> tuple[Any, Any]:
    if factor.__class__ is Scaled:
        return factor
    return (factor, None) if factor.__class__ in native_numeric_types else (1.0, factor)


# What a compiler makes of one row, and what it says of rows that it cannot compile.


class CompiledRow(NamedTuple):
    """A row's sides (None, numbers or parameter expressions), constant and linear terms."""

    lower: Any
    upper: Any
    constant: float
    variables: list[Any]
    coefficients: list[float]


def sides_and_body(row: Any) -> tuple[Any, Any, Any]:
    """Return (lower, body, upper) of a constraint; an objective has no sides."""
    if row.ctype is Objective:
        return None, row.expr, None
    bounded = getattr(row, "to_bounded_expression", None)  # since Pyomo 6.8
    if bounded is None or row._linear_canonical_form:  # rows of a MatrixConstraint have no relation
        return row.lower, row.body, row.upper
    lower, body, upper = bounded()
    return lower, body, upper


def refuse_nonlinear(row: Any, terms: Any) -> NoReturn:
    """Raise for a row with terms that are not linear.

    Raises
    ------
    IncompatiblePyomoModelError
        Always.
    """
    raise IncompatiblePyomoModelError(
        f"{describe(row)} has nonlinear terms ({terms}); gpuheur solves linear and mixed-integer "
        "linear models only, so reformulate it or deactivate it."
    )


def describe(row: Any) -> str:
    """Name a row for the beginning of a sentence."""
    kind = "Objective" if row.ctype is Objective else "Constraint"
    return f"{kind} '{row.name}'"


NUMBERS = frozenset({float, int})
SINGLE_TERMS = frozenset({MonomialTermExpression, ScalarVar, VarData, *COMPOSED})


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
    if side is None or side.__class__ in NUMBERS:
        return True
    known = getattr(side, "is_potentially_variable", None)
    return known is None or not known()


def is_template(row: Any) -> bool:
    """Whether a constraint or objective still stands as a template over its index."""
    return hasattr(row, "template_expr")
