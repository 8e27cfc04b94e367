// The dual and the primal simplex method on a dictionary, on the CPU.
#pragma once

#include "dictionary.h"

namespace {

/// How a run of pivots ended, and at which row or column.
struct Stop {
    Pause how;
    std::int64_t at;
};

/// The row of the largest weighted primal infeasibility, or -1.
inline std::int64_t leaving_row(const Lp &lp) {
    std::int64_t p = -1;
    double best = 0.0;
    for (std::int64_t i = 0; i < lp.m; ++i) {
        const double outside = lp.outside(i);
        if (!(outside > lp.primal_tolerance))
            continue;
        const double merit = outside * outside / lp.weight[i];
        if (merit > best) {
            p = i;
            best = merit;
        }
    }
    return p;
}

/// List the columns that may enter with their ratios; return how many there are.
inline std::int64_t find_candidates(Lp &lp, const double *line, double sign, double smallest) {
    std::int64_t count = 0;
    for (std::int64_t j = 0; j < lp.n; ++j) {
        const double alpha = sign * line[j];
        const std::int32_t v = lp.nonbasic[j];
        if (!(std::fabs(alpha) > smallest && lp.low[v] < lp.high[v]))
            continue;
        if (lp.status[v] != ZERO && (alpha > 0.0) != (lp.status[v] == LOWER))
            continue;
        lp.candidates[count] = static_cast<std::int32_t>(j);
        lp.ratio[count] = (std::fabs(lp.reduced[j]) + lp.dual_tolerance) / std::fabs(alpha);
        ++count;
    }
    return count;
}

/// The candidates of equal ratio that come next: the largest pivot, where they end in the list,
/// and by how much the row stays infeasible behind them.
struct Group {
    std::int64_t q = -1, end;
    double size = 0.0, slope;
};

inline Group next_group(Lp &lp, const double *line, std::int64_t passed, std::int64_t count,
                        double outside) {
    Group group{.end = passed, .slope = outside};
    double step = lp.ratio[passed];
    for (std::int64_t k = passed + 1; k < count; ++k)
        step = std::min(step, lp.ratio[k]);
    for (std::int64_t k = passed; k < count; ++k) {
        const std::int32_t j = lp.candidates[k];
        const double own = std::fabs(line[j]);
        if (!(std::fabs(lp.reduced[j]) <= step * own))
            continue;
        const std::int32_t v = lp.nonbasic[j];
        group.slope -= own * (lp.high[v] - lp.low[v]);
        if (own > group.size || (own == group.size && j < group.q)) {
            group.q = j;
            group.size = own;
        }
        std::swap(lp.candidates[k], lp.candidates[group.end]);
        std::swap(lp.ratio[k], lp.ratio[group.end]);
        ++group.end;
    }
    return group;
}

/// The column that enters (-1: none) and how many candidates are to be flipped.
struct Entering {
    std::int64_t q, flips;
};

/// Candidates are passed in groups of equal ratio, by Harris' tolerance, as long as the row stays
/// infeasible with all of a group on their other bounds (the bound-flipping ratio test); from the
/// last group the largest pivot is taken, or from an earlier one if that is too small.
inline Entering entering_column(Lp &lp, const double *line, double sign, double outside,
                                const Settings &settings) {
    const std::int64_t count = find_candidates(lp, line, sign, settings.smallest_pivot);
    Entering best{-1, 0};
    double best_size = 0.0;
    for (std::int64_t passed = 0; passed < count;) {
        const Group group = next_group(lp, line, passed, count, outside);
        if (group.end == passed) // only where numbers are not finite
            break;
        if (group.size >= settings.wanted_pivot || group.size > best_size) {
            best = {group.q, passed};
            best_size = group.size;
        }
        if (group.slope <= lp.primal_tolerance)
            return best;
        outside = group.slope;
        passed = group.end;
    }
    return {-1, 0};
}

/// Make dual pivots from a dual feasible dictionary; return how they ended, and the row.
inline Stop dual(Lp &lp, const Settings &settings) {
    int stalled = 0, checked = 0;
    for (;;) {
        const std::int64_t p = leaving_row(lp);
        if (p < 0)
            return {DONE, p};
        if (lp.counts.pivots >= lp.counts.most)
            return {AT_LIMIT, p};
        const std::int32_t leaving = lp.basic[p];
        const bool below = lp.value[p] < lp.low[leaving];
        const double target = below ? lp.low[leaving] : lp.high[leaving];
        const auto [q, flips] = entering_column(lp, lp.D[p].data(), below ? 1.0 : -1.0,
                                                std::fabs(target - lp.value[p]), settings);
        if (q < 0)
            return {NO_PIVOT, p};
        if (std::fabs(lp.D(p, q)) < settings.wanted_pivot && lp.counts.fresh > 0)
            return {INACCURATE, p};
        for (std::int64_t k = 0; k < flips; ++k)
            flip(lp, lp.candidates[k]);
        const double price = below ? lp.reduced[q] : -lp.reduced[q];
        if (price * lp.D(p, q) < 0.0) {
            lp.cost[lp.nonbasic[q]] -= lp.reduced[q];
            lp.reduced[q] = 0.0;
        }
        stalled = std::fabs(price) <= lp.dual_tolerance ? stalled + 1 : 0;
        const double step = (target - lp.value[p]) / lp.D(p, q);
        advance(lp, p, q, step, target, below, true);
        ++lp.counts.pivots;
        ++lp.counts.fresh;
        ++checked;
        if (stalled > settings.stalled) {
            perturb_costs(lp, settings);
            stalled = 0;
        }
        if (checked >= settings.check_every)
            return {PAUSED, p};
    }
}

// The primal method.

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
