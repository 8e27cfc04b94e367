// The primal simplex method on a dictionary, on the CPU.
#pragma once

#include "dual.h"

namespace {

/// Update Devex weights of the columns after a pivot in column q.
inline void weigh_columns(Lp &lp, std::int64_t q) {
    const double own = lp.price[q];
    double *const price = lp.price.data();
    const double *const row = lp.row.data();
    for (std::int64_t j = 0; j < lp.n; ++j)
        price[j] = std::max(price[j], row[j] * row[j] * own);
    price[q] = std::max(own * row[q] * row[q], 1.0);
}

/// The column of the largest weighted dual infeasibility, or -1.
inline std::int64_t priced_column(const Lp &lp) {
    std::int64_t q = -1;
    double best = 0.0;
    for (std::int64_t j = 0; j < lp.n; ++j) {
        if (!lp.is_attractive(j))
            continue;
        const double merit = lp.reduced[j] * lp.reduced[j] / lp.price[j];
        if (merit > best) {
            q = j;
            best = merit;
        }
    }
    return q;
}

/// How far a basic variable that changes by ``rate`` is from the bound it moves to.
inline double room(const Lp &lp, std::int64_t i, double rate) {
    const std::int32_t v = lp.basic[i];
    return rate > 0.0 ? lp.high[v] - lp.value[i] : lp.value[i] - lp.low[v];
}

/// The row that stops column q by Harris' test, or -1.
inline std::int64_t blocking_row(const Lp &lp, std::int64_t q, double direction, double smallest) {
    double longest = native::INF;
    for (std::int64_t i = 0; i < lp.m; ++i) {
        const double rate = direction * lp.D(i, q), size = std::fabs(rate);
        if (size > smallest)
            longest =
                std::min(longest, (std::max(room(lp, i, rate), 0.0) + lp.primal_tolerance) / size);
    }
    std::int64_t p = -1;
    double largest = 0.0;
    for (std::int64_t i = 0; i < lp.m; ++i) {
        const double rate = direction * lp.D(i, q), size = std::fabs(rate);
        if (!(size > std::max(largest, smallest)))
            continue;
        const double free = room(lp, i, rate);
        if (free <= longest * size && free < native::INF) {
            p = i;
            largest = size;
        }
    }
    return p;
}

/// How far the entering variable moves, and where the leaving one ends.
struct Step {
    double length = native::INF, target = 0.0;
    bool to_low = false;
};

inline Step step_to(const Lp &lp, std::int64_t p, std::int64_t q, double direction) {
    const double rate = direction * lp.D(p, q);
    const bool to_low = rate < 0.0;
    const double target = to_low ? lp.low[lp.basic[p]] : lp.high[lp.basic[p]];
    return {(target - lp.value[p]) / rate, target, to_low};
}

/// Make primal pivots from a feasible point; return how they ended, and the column.
inline Stop primal(Lp &lp, const Settings &settings) {
    int stalled = 0, checked = 0;
    for (;;) {
        const std::int64_t q = priced_column(lp);
        if (q < 0)
            return {DONE, q};
        if (lp.counts.pivots >= lp.counts.most)
            return {AT_LIMIT, q};
        const std::int32_t entering = lp.nonbasic[q];
        const double direction = lp.reduced[q] > 0.0 ? -1.0 : 1.0;
        const std::int64_t p = blocking_row(lp, q, direction, settings.smallest_pivot);
        const double span = lp.high[entering] - lp.low[entering];
        if (p < 0 && span == native::INF)
            return {NO_PIVOT, q};
        ++lp.counts.pivots;
        Step step = p >= 0 ? step_to(lp, p, q, direction) : Step{};
        if (span <= step.length) {
            flip(lp, q);
            continue;
        }
        if (std::fabs(lp.D(p, q)) < settings.wanted_pivot && lp.counts.fresh > 0)
            return {INACCURATE, q};
        if (step.length < 0.0) { // beyond its bound within the tolerance: the bound gives way
            step.length = 0.0;
            step.target = lp.value[p];
            (step.to_low ? lp.low : lp.high)[lp.basic[p]] = step.target;
        }
        stalled = step.length <= NO_STEP ? stalled + 1 : 0;
        advance(lp, p, q, direction * step.length, step.target, step.to_low, false);
        weigh_columns(lp, q);
        ++lp.counts.fresh;
        ++checked;
        if (stalled > settings.stalled) {
            perturb_bounds(lp, settings);
            stalled = 0;
        }
        if (checked >= settings.check_every)
            return {PAUSED, q};
    }
}

} // namespace
