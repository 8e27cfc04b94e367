"""Products of a parameter and a sum, multiplied out into terms of one variable each.

``p * (x - y)`` with a mutable parameter stays one product in Pyomo. Multiplied out once, only the
parameter has to be looked at when the model is solved again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pyomo.common.numeric_types import native_numeric_types
from pyomo.core.base.var import ScalarVar
from pyomo.core.expr.numeric_expr import (
    LinearExpression,
    MonomialTermExpression,
    NegationExpression,
    ProductExpression,
    SumExpression,
)

from gpu_bridge.adapters.pyomo.data_classes import VarData

PRODUCTS = frozenset({ProductExpression, NegationExpression})
SUMS = frozenset({LinearExpression, SumExpression})
PLAIN_VARIABLES = frozenset({ScalarVar, VarData})

Pair = tuple[Any, Any]
"""A factor and a variable, or 1 and whatever else is added."""


class Scaled(NamedTuple):
    """A number times a parameter, or an expression of parameters."""

    by: float
    item: Any


def factor_pairs(
    terms: Sequence[Any], lengths: Sequence[int]
) -> tuple[Sequence[Pair], Sequence[int]]:
    """Return the terms of several rows as pairs, and how many belong to each row.

    A product that is not linear, or not understood, is the second of a pair as it is.
    """
    if PRODUCTS.isdisjoint(set(map(type, terms))):
        return [_pair(term) for term in terms], lengths
    pairs: list[Pair] = []
    counts = []
    every = iter(terms)
    for length in lengths:
        before = len(pairs)
        for _ in range(length):
            term = next(every)
            out = multiplied_out(term) if term.__class__ in PRODUCTS else None
            pairs.extend([_pair(term)] if out is None else out)
        counts.append(len(pairs) - before)
    return pairs, counts


def _pair(term: Any) -> Pair:
    return term._args_ if term.__class__ is MonomialTermExpression else (1.0, term)


def multiplied_out(term: Any) -> list[Pair] | None:
    """Return the pairs that a product adds up to; None where it is not understood."""
    found: list[Pair] = []
    return found if _multiply(term, 1.0, found) else None


def _multiply(term: Any, factor: Any, found: list[Pair]) -> bool:
    """Add the pairs of a term times a factor to those found; False where that cannot be done."""
    kind = term.__class__
    if kind in PLAIN_VARIABLES:
        found.append((factor, term))
        return True
    if kind is MonomialTermExpression:
        coefficient, variable = term._args_
        return _multiply(variable, _times(factor, coefficient), found)
    if kind in SUMS:
        return all(_multiply(part, factor, found) for part in term._args_[: term._nargs])
    if kind is NegationExpression:
        return _multiply(term._args_[0], _times(factor, -1.0), found)
    if _is_data(term):
        found.append((1.0, _times(factor, term)))
        return True
    if kind is not ProductExpression:
        return False
    left, right = term._args_
    if _is_data(left):
        return _multiply(right, _times(factor, left), found)
    return _is_data(right) and _multiply(left, _times(factor, right), found)


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
