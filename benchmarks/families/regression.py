"""Regressions by absolute errors: a quantile with dense data, and a sparse one with a penalty."""

from __future__ import annotations

import numpy as np

from benchmarks.families.builder import Builder, Term
from benchmarks.linear_programs import LinearProgram

SAMPLES_PER_FEATURE = 100
QUANTILE = 0.9

WORDS = 20
"""Features that a sample of the sparse regression has."""

PENALTY = 2.0


def quantile_regression(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return the fit of a quantile (Koenker and Bassett, "Regression quantiles", 1978), dense."""
    rng = np.random.default_rng(seed)
    features = max(2, round(np.sqrt(nonzeros / SAMPLES_PER_FEATURE)))
    samples = SAMPLES_PER_FEATURE * features
    data = rng.standard_normal((samples, features))
    data[:, 0] = 1.0
    spread = 1.0 + np.abs(data[:, 1])
    target = data @ rng.standard_normal(features) + spread * rng.standard_t(3.0, samples)
    builder = Builder(f"quantile-regression-{samples}-{features}")
    weights = builder.columns(features, lower=-np.inf)
    above = builder.columns(samples, cost=QUANTILE / samples)
    below = builder.columns(samples, cost=(1.0 - QUANTILE) / samples)
    terms = [Term(weights[None], data), Term(above), Term(below, -1.0)]
    builder.rows((samples,), terms, lower=target, upper=target)
    return builder.finish()


def sparse_regression(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return least absolute errors with a penalty on the weights' sizes, features as in texts.

    Some features stand in most samples, most features in few, so that columns are very unequal.
    """
    rng = np.random.default_rng(seed)
    samples = max(20, round(nonzeros / (2 * WORDS + 2)))
    features = max(WORDS, samples // 5)
    feature = (features ** rng.random((samples, WORDS))).astype(np.int64) - 1
    data = np.log1p(rng.geometric(0.5, (samples, WORDS)))
    true = np.where(rng.random(features) < 0.1, rng.standard_normal(features), 0.0)
    target = (data * true[feature]).sum(axis=1) + 0.1 * rng.standard_t(2.0, samples)
    builder = Builder(f"sparse-regression-{samples}-{features}")
    positive, negative = (builder.columns(features, cost=PENALTY) for _ in range(2))
    above, below = (builder.columns(samples, cost=1.0) for _ in range(2))
    weights = [Term(positive[feature], data), Term(negative[feature], -data)]
    errors = [Term(above), Term(below, -1.0)]
    builder.rows((samples,), [*weights, *errors], lower=target, upper=target)
    return builder.finish()
