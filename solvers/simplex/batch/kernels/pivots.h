// Steps that the dual and the primal method share on the CPU: flips, pivots, perturbations.
#pragma once

#include "dictionary.h"

namespace {

/// Move a nonbasic variable to its other bound.
inline void flip(Lp &lp, std::int64_t j) {
    const std::int32_t v = lp.nonbasic[j];
    const bool to_high = lp.status[v] == LOWER;
    const double target = to_high ? lp.high[v] : lp.low[v];
    const double change = target - lp.point[j];
    lp.status[v] = to_high ? UPPER : LOWER;
    lp.point[j] = target;
    for (std::int64_t i = 0; i < lp.m; ++i)
        lp.value[i] += lp.D(i, j) * change;
}

/// Move along column q by ``step`` until the basic variable at p is at ``target``; pivot.
inline void advance(Lp &lp, std::int64_t p, std::int64_t q, double step, double target, bool to_low,
                    bool weigh) {
    for (std::int64_t i = 0; i < lp.m; ++i)
        lp.value[i] += lp.D(i, q) * step;
    lp.value[p] = lp.point[q] + step;
    lp.point[q] = target;
    lp.status[lp.nonbasic[q]] = BASIC;
    lp.status[lp.basic[p]] = to_low ? LOWER : UPPER;
    (weigh ? exchange_and_weigh : exchange)(lp, p, q);
}

/// Move reduced costs away from zero, into the side where they are dual feasible.
inline void perturb_costs(Lp &lp, const Settings &settings) {
    const int turn = ++lp.counts.perturbed;
    const double size = settings.perturbation * lp.cost_size * turn;
    for (std::int64_t j = 0; j < lp.n; ++j) {
        const std::int32_t v = lp.nonbasic[j];
        if (lp.low[v] == lp.high[v] || lp.status[v] == ZERO)
            continue;
        const double change = (lp.status[v] == UPPER ? -size : size) * spread(v, turn);
        lp.reduced[j] += change;
        lp.cost[v] += change;
    }
}

/// Move the bounds of basic variables outwards.
inline void perturb_bounds(Lp &lp, const Settings &settings) {
    const int turn = ++lp.counts.perturbed;
    const double size = settings.perturbation * turn;
    for (std::int64_t i = 0; i < lp.m; ++i) {
        const std::int32_t v = lp.basic[i];
        const double change = size * spread(v, turn) * (1.0 + std::fabs(lp.value[i]));
        lp.low[v] -= change;
        lp.high[v] += change;
    }
}

} // namespace
