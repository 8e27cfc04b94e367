// The dictionary of a basis on the CPU, x_B = D x_N, and what the dual and the primal method do to
// it: flips, pivots that exchange two variables, perturbations.
//
// With the slack basis D is A itself. After e pivots, D = -B^-1 N for N the nonbasic columns of
// [A -I], and the reduced costs are d_N = c_N + D'c_B.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "native/bindings.h"

namespace {

using REAL = double;
using INDEX = std::int32_t;
#include "batch.cuh"

using Numbers = native::Span<const double>;
using NumbersOut = native::Span<double>;
using Ints = native::Span<const std::int32_t>;
using IntsOut = native::Span<std::int32_t>;

/// The matrix as it is given, and how rows and columns are scaled.
struct Given {
    Ints starts, indices;
    Numbers values, row_scale, column_scale;
};

/// Cost, bounds and sides of an LP as they are given.
struct Data {
    Numbers cost, lower, upper, row_lower, row_upper;
};

/// The figures of ``solvers.simplex.batch.data.Parameters``.
struct Settings {
    double tolerance, smallest_pivot, wanted_pivot, accuracy, stalled, check_every, perturbation;
    int rounds;

    explicit Settings(Numbers given)
        : tolerance(given[TOLERANCE]), smallest_pivot(given[SMALLEST_PIVOT]),
          wanted_pivot(given[WANTED_PIVOT]), accuracy(given[ACCURACY]), stalled(given[STALLED]),
          check_every(given[CHECK_EVERY]), perturbation(given[PERTURBATION]),
          rounds(static_cast<int>(given[ROUNDS])) {}
};

/// Pivots and bound flips made, the most there may be, pivots since the dictionary was built, and
/// perturbations so far.
struct Counts {
    std::int64_t pivots = 0, most = 0, fresh = 0;
    int perturbed = 0;
};

/// An LP under way, and its memory.
struct Lp {
    std::int64_t m, n;
    std::vector<double> numbers;
    std::vector<std::int32_t> integers;
    native::Grid<double> D;
    /// By row: value of the basic variable, weight of dual pricing, the pivot column.
    NumbersOut value, weight, column;
    /// By column: reduced cost and value of the nonbasic variable, weight of primal pricing, the
    /// pivot row, ratios of candidates.
    NumbersOut reduced, point, price, row, ratio;
    /// By variable: cost and bounds, as they are shifted and perturbed.
    NumbersOut cost, low, high;
    IntsOut status, basic, nonbasic, candidates;
    double primal_tolerance = 0.0, dual_tolerance = 0.0, cost_size = 0.0;
    Counts counts;

    Lp(std::int64_t m, std::int64_t n)
        : m(m), n(n), numbers(m * n + 3 * m + 5 * n + 3 * (n + m)), integers((n + m) + m + n + n),
          D(numbers.data(), {m, n}) {
        double *next = numbers.data() + m * n;
        for (NumbersOut *one : {&value, &weight, &column})
            *one = take(next, m);
        for (NumbersOut *one : {&reduced, &point, &price, &row, &ratio})
            *one = take(next, n);
        for (NumbersOut *one : {&cost, &low, &high})
            *one = take(next, n + m);
        std::int32_t *next_integer = integers.data();
        status = take(next_integer, n + m);
        basic = take(next_integer, m);
        nonbasic = take(next_integer, n);
        candidates = take(next_integer, n);
    }
    Lp(const Lp &) = delete;
    Lp &operator=(const Lp &) = delete;

    /// By how much the basic variable of row i is outside its bounds; negative within them.
    double outside(std::int64_t i) const {
        const std::int32_t v = basic[i];
        return std::max(low[v] - value[i], value[i] - high[v]);
    }
    bool is_attractive(std::int64_t j) const {
        const std::int32_t v = nonbasic[j];
        return ::is_attractive(reduced[j], status[v], low[v], high[v], dual_tolerance);
    }

  private:
    template <class T> static native::Span<T> take(T *&next, std::int64_t size) {
        next += size;
        return {next - size, size};
    }
};

/// Four neighbouring numbers: of a loop over them, compilers for wide vectors make shuffles.
using Four = double __attribute__((vector_size(32), aligned(8), may_alias));

/// The sum of the squares of a row, by four sums that a processor makes at once.
[[gnu::always_inline]] inline double squares(const double *line, std::int64_t n) {
    Four sums = {};
    const std::int64_t whole = n - n % 4;
    for (std::int64_t j = 0; j < whole; j += 4) {
        const Four &entries = *reinterpret_cast<const Four *>(line + j);
        sums += entries * entries;
    }
    for (std::int64_t j = whole; j < n; ++j)
        sums[0] += line[j] * line[j];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Add a multiple of the pivot row to a row; return the sum of its squares then.
[[gnu::always_inline]] inline double add_row(double *line, const double *row, double factor,
                                             std::int64_t n) {
    Four sums = {};
    const std::int64_t whole = n - n % 4;
    for (std::int64_t j = 0; j < whole; j += 4) {
        Four &entries = *reinterpret_cast<Four *>(line + j);
        entries += factor * *reinterpret_cast<const Four *>(row + j);
        sums += entries * entries;
    }
    for (std::int64_t j = whole; j < n; ++j) {
        line[j] += factor * row[j];
        sums[0] += line[j] * line[j];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Add a multiple of the pivot row to a row.
[[gnu::always_inline]] inline void
add_plainly(double *__restrict line, const double *__restrict row, double factor, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j)
        line[j] += factor * row[j];
}

/// Let the nonbasic variable at q and the basic one at p change places; WEIGH the rows for dual
/// pricing by their squares.
template <bool WEIGH>
[[gnu::always_inline]] inline void exchange_rows(Lp &lp, std::int64_t p, std::int64_t q) {
    const std::int64_t m = lp.m, n = lp.n;
    double *const row = lp.row.data();
    const double *const leaving = lp.D[p].data();
    const double inverse = 1.0 / lp.D(p, q);
    for (std::int64_t j = 0; j < n; ++j)
        row[j] = -inverse * leaving[j];
    row[q] = inverse;
    for (std::int64_t i = 0; i < m; ++i) {
        double *const line = lp.D[i].data();
        const double factor = line[q];
        lp.column[i] = factor;
        if (i == p)
            std::copy(row, row + n, line);
        else if (factor == 0.0)
            continue;
        else
            line[q] = 0.0;
        if constexpr (WEIGH)
            lp.weight[i] = 1.0 + (i == p ? squares(line, n) : add_row(line, row, factor, n));
        else if (i != p)
            add_plainly(line, row, factor, n);
    }
    const double factor = lp.reduced[q];
    lp.reduced[q] = 0.0;
    add_plainly(lp.reduced.data(), row, factor, n);
    std::swap(lp.basic[p], lp.nonbasic[q]);
}

NATIVE_HOT void exchange(Lp &lp, std::int64_t p, std::int64_t q) { exchange_rows<false>(lp, p, q); }

NATIVE_HOT void exchange_and_weigh(Lp &lp, std::int64_t p, std::int64_t q) {
    exchange_rows<true>(lp, p, q);
}

/// Compute the dual pricing weights of all rows, from their squares.
inline void weigh_rows(Lp &lp) {
    for (std::int64_t i = 0; i < lp.m; ++i)
        lp.weight[i] = 1.0 + squares(lp.D[i].data(), lp.n);
}

/// The row of column q's largest entry among those whose logicals are to leave, or -1.
inline std::int64_t row_to_enter(const Lp &lp, std::int64_t q, double smallest) {
    std::int64_t p = -1;
    double largest = smallest;
    for (std::int64_t i = 0; i < lp.m; ++i) {
        const std::int64_t logical = lp.n + i;
        const double size = std::fabs(lp.D(i, q));
        if (size > largest && lp.basic[i] == logical && lp.status[logical] != BASIC) {
            p = i;
            largest = size;
        }
    }
    return p;
}

/// Make the dictionary of the basis that the statuses name, from the matrix as it is given.
///
/// Structurals enter in their order, each in the row of its largest entry among those whose
/// logicals are to leave. One without such an entry stays nonbasic, and the logicals that are left
/// over stay basic: a singular basis is repaired.
inline void build(Lp &lp, const Given &given, const Settings &settings) {
    std::fill(lp.D.data(), lp.D.data() + lp.D.size(), 0.0);
    for (std::int64_t i = 0; i < lp.m; ++i) {
        for (std::int64_t entry = given.starts[i]; entry < given.starts[i + 1]; ++entry) {
            const std::int64_t j = given.indices[entry];
            lp.D(i, j) = given.values[entry] * given.row_scale[i] * given.column_scale[j];
        }
        lp.basic[i] = static_cast<std::int32_t>(lp.n + i);
    }
    for (std::int64_t j = 0; j < lp.n; ++j)
        lp.nonbasic[j] = static_cast<std::int32_t>(j);
    for (std::int64_t q = 0; q < lp.n; ++q) {
        if (lp.status[q] != BASIC)
            continue;
        const std::int64_t p = row_to_enter(lp, q, settings.smallest_pivot);
        if (p >= 0)
            exchange(lp, p, q);
        else
            lp.status[q] = LOWER;
    }
    for (std::int64_t i = 0; i < lp.m; ++i)
        lp.status[lp.basic[i]] = BASIC;
    lp.counts.fresh = 0;
}

/// Put each nonbasic variable on the bound of its status, or on one that it has.
inline void to_bounds(Lp &lp) {
    for (std::int64_t j = 0; j < lp.n; ++j) {
        const std::int32_t v = lp.nonbasic[j];
        const double low = lp.low[v], high = lp.high[v];
        lp.point[j] = 0.0;
        if (low > -native::INF && (lp.status[v] != UPPER || high == native::INF)) {
            lp.status[v] = LOWER;
            lp.point[j] = low;
        } else if (high < native::INF) {
            lp.status[v] = UPPER;
            lp.point[j] = high;
        } else {
            lp.status[v] = ZERO;
        }
    }
}

/// Compute x_B = D x_N.
inline void basic_values(Lp &lp) {
    for (std::int64_t i = 0; i < lp.m; ++i) {
        double total = 0.0;
        for (std::int64_t j = 0; j < lp.n; ++j)
            total += lp.D(i, j) * lp.point[j];
        lp.value[i] = total;
    }
}

/// Compute d_N = c_N + D'c_B.
inline void reduced_costs(Lp &lp) {
    double *const reduced = lp.reduced.data();
    for (std::int64_t j = 0; j < lp.n; ++j)
        reduced[j] = lp.cost[lp.nonbasic[j]];
    for (std::int64_t i = 0; i < lp.m; ++i) {
        const double cost = lp.cost[lp.basic[i]];
        const double *const line = lp.D[i].data();
        if (cost != 0.0)
            for (std::int64_t j = 0; j < lp.n; ++j)
                reduced[j] += cost * line[j];
    }
}

/// Whether the point obeys [A -I] x = 0, up to a part of the terms of each row.
inline bool is_accurate(Lp &lp, const Given &given, const Settings &settings) {
    const std::int64_t n = lp.n;
    const auto put = [&](std::int32_t v, double value) {
        (v < n ? lp.row[v] : lp.column[v - n]) = value; // structurals, activities
    };
    for (std::int64_t j = 0; j < n; ++j)
        put(lp.nonbasic[j], lp.point[j]);
    for (std::int64_t i = 0; i < lp.m; ++i)
        put(lp.basic[i], lp.value[i]);
    for (std::int64_t i = 0; i < lp.m; ++i) {
        double activity = 0.0, size = 0.0;
        for (std::int64_t entry = given.starts[i]; entry < given.starts[i + 1]; ++entry) {
            const std::int64_t j = given.indices[entry];
            const double term =
                given.values[entry] * given.row_scale[i] * given.column_scale[j] * lp.row[j];
            activity += term;
            size += std::fabs(term);
        }
        // a comparison with NaN is false
        if (!(std::fabs(activity - lp.column[i]) <= settings.accuracy * (1.0 + size)))
            return false;
    }
    return true;
}

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
