// What is said of an LP at its end on the CPU: the point, or what proves that there is no optimum.
#pragma once

#include "dictionary.h"

namespace {

/// Write the point, on or within its bounds, and the row duals.
inline void write_point(const Lp &lp, const Data &data, const Given &given, NumbersOut x,
                        NumbersOut y) {
    std::fill(y.begin(), y.end(), 0.0);
    for (std::int64_t j = 0; j < lp.n; ++j) {
        const std::int32_t v = lp.nonbasic[j];
        if (v >= lp.n)
            y[v - lp.n] = lp.reduced[j] * given.row_scale[v - lp.n];
        else if (lp.status[v] == LOWER)
            x[v] = data.lower[v];
        else
            x[v] = lp.status[v] == UPPER ? data.upper[v] : 0.0;
    }
    for (std::int64_t i = 0; i < lp.m; ++i) {
        const std::int32_t v = lp.basic[i];
        if (v < lp.n)
            x[v] = std::min(std::max(lp.value[i] * given.column_scale[v], data.lower[v]),
                            data.upper[v]);
    }
}

/// Write the multipliers of the rows that prove row p of the dictionary infeasible.
///
/// What no ratio test looks at is rounding, here and in a ray.
inline void write_farkas(const Lp &lp, const Given &given, std::int64_t p, double smallest,
                         NumbersOut y) {
    const std::int64_t n = lp.n;
    const std::int32_t leaving = lp.basic[p];
    const double sign = lp.value[p] < lp.low[leaving] ? 1.0 : -1.0;
    std::fill(y.begin(), y.end(), 0.0);
    for (std::int64_t j = 0; j < n; ++j) {
        const std::int32_t v = lp.nonbasic[j];
        if (v >= n && std::fabs(lp.D(p, j)) > smallest)
            y[v - n] = -sign * lp.D(p, j) * given.row_scale[v - n];
    }
    if (leaving >= n)
        y[leaving - n] = sign * given.row_scale[leaving - n];
}

/// Write the direction in which column q of the dictionary improves without end.
inline void write_ray(const Lp &lp, const Given &given, std::int64_t q, double smallest,
                      NumbersOut ray) {
    const double direction = lp.reduced[q] > 0.0 ? -1.0 : 1.0;
    const std::int32_t entering = lp.nonbasic[q];
    std::fill(ray.begin(), ray.end(), 0.0);
    if (entering < lp.n)
        ray[entering] = direction * given.column_scale[entering];
    for (std::int64_t i = 0; i < lp.m; ++i) {
        const std::int32_t v = lp.basic[i];
        if (v < lp.n && std::fabs(lp.D(i, q)) > smallest)
            ray[v] = direction * lp.D(i, q) * given.column_scale[v];
    }
}

} // namespace
