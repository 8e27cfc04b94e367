// Residuals of points and duals of many LPs on the CPU, one LP after the other; check.py says
// which.
#include <vector>

#include "lps.h"
#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// What is found out about each LP, in the columns of ``figures``.
enum Figure {
    OBJECTIVE,
    DUAL_OBJECTIVE,
    PRIMAL,
    PRIMAL_RELATIVE,
    DUAL,
    DUAL_RELATIVE,
    GAP_RELATIVE,
    INSIDE,
    FIGURES
};

/// The numbers of one LP, and what is found out about it.
struct Lp {
    Numbers values, cost, lower, upper, row_lower, row_upper;
    double offset;
    Numbers x;
    NumbersOut y, reduced, figures;
};

/// Clip the duals and price the columns; return the support of the rows.
double check_rows(const Pattern &pattern, const Lp &lp) {
    double support = 0.0, squares = 0.0, sides = 0.0, largest = 0.0;
    for (std::int64_t i = 0; i < pattern.rows; ++i) {
        const double low = lp.row_lower[i], high = lp.row_upper[i];
        if (!std::isfinite(lp.y[i] > 0.0 ? low : high))
            lp.y[i] = 0.0;
        const double price = lp.y[i];
        const double total = price_row(pattern, lp.values, i, price, lp.x, lp.reduced);
        const double outside = std::max(std::max(0.0, low - total), total - high);
        squares += outside * outside;
        largest = std::max(largest, outside);
        double size = std::isfinite(low) ? std::fabs(low) : 0.0;
        size = std::isfinite(high) ? std::max(size, std::fabs(high)) : size;
        sides += size * size;
        if (price != 0.0)
            support += price * (price > 0.0 ? low : high);
    }
    lp.figures[PRIMAL] = largest;
    lp.figures[PRIMAL_RELATIVE] = std::sqrt(squares) / (1.0 + std::sqrt(sides));
    return support;
}

/// Grade reduced costs and gap.
void check_columns(const Lp &lp, double support) {
    double value = 0.0, squares = 0.0, costs = 0.0, largest = 0.0;
    bool inside = true;
    for (std::int64_t j = 0; j < lp.x.size(); ++j) {
        const double low = lp.lower[j], high = lp.upper[j], reduced = lp.reduced[j];
        inside = inside && low <= lp.x[j] && lp.x[j] <= high;
        value += lp.cost[j] * lp.x[j];
        costs += lp.cost[j] * lp.cost[j];
        const double side = reduced > 0.0 ? low : high;
        if (std::isfinite(side)) {
            support += reduced * side;
        } else {
            squares += reduced * reduced;
            largest = std::max(largest, std::fabs(reduced));
        }
    }
    value += lp.offset;
    support += lp.offset;
    lp.figures[OBJECTIVE] = value;
    lp.figures[DUAL_OBJECTIVE] = support;
    lp.figures[DUAL] = largest;
    lp.figures[DUAL_RELATIVE] = std::sqrt(squares) / (1.0 + std::sqrt(costs));
    lp.figures[GAP_RELATIVE] =
        std::fabs(value - support) / (1.0 + std::fabs(value) + std::fabs(support));
    lp.figures[INSIDE] = inside ? 1.0 : 0.0;
}

/// Check LP after LP.
void check(std::int64_t count, std::int64_t rows, std::int64_t columns, const GivenLps &lps,
           int claims, Ints ending, Numbers x, NumbersOut y, NumbersOut figures, int threads) {
    const int varying = lps.varying;
    const Pattern pattern = pattern_of(count, rows, columns, lps.starts, lps.indices, lps.is_full);
    const OfEach<double> values("values", lps.values, pattern.nonzeros(), varying, 0, count);
    const OfEach<double> costs("cost", lps.cost, columns, varying, 1, count);
    const OfEach<double> lowers("lower", lps.lower, columns, varying, 2, count);
    const OfEach<double> uppers("upper", lps.upper, columns, varying, 3, count);
    const OfEach<double> row_lowers("row_lower", lps.row_lower, rows, varying, 4, count);
    const OfEach<double> row_uppers("row_upper", lps.row_upper, rows, varying, 5, count);
    const OfEach<double> offsets("offset", lps.offset, 1, varying, 6, count);
    check_length("ending", ending.size(), count);
    check_length("x", x.size(), count * columns);
    check_length("y", y.size(), count * rows);
    check_length("figures", figures.size(), count * FIGURES);
    parallel_for(threads, count, [&](std::int64_t k) {
        poll();
        const NumbersOut found = figures.part(k * FIGURES, (k + 1) * FIGURES);
        if (ending[k] < 0 || !((claims >> ending[k]) & 1)) {
            std::fill(found.begin(), found.end(), NaN);
            return;
        }
        const Numbers own = costs.of(k);
        std::vector<double> reduced(own.begin(), own.end());
        const Lp lp{values.of(k),
                    own,
                    lowers.of(k),
                    uppers.of(k),
                    row_lowers.of(k),
                    row_uppers.of(k),
                    offsets.of(k)[0],
                    x.part(k * columns, (k + 1) * columns),
                    y.part(k * rows, (k + 1) * rows),
                    NumbersOut(reduced.data(), columns),
                    found};
        check_columns(lp, check_rows(pattern, lp));
    });
}

/// Copy number after number.
void narrow(std::int64_t count, Span<const std::int32_t> wide,
            AnySpan<std::uint8_t, std::uint16_t, std::int32_t> narrowed, int threads) {
    check_length("wide", wide.size(), count);
    std::visit(
        [&](auto values) {
            check_length("values", values.size(), count);
            using Narrow = typename decltype(values)::Element;
            parallel_for(threads, count,
                         [&](std::int64_t i) { values[i] = static_cast<Narrow>(wide[i]); });
        },
        narrowed);
}

} // namespace

NATIVE_STRUCT(GivenLps, starts, indices, column_starts, column_rows, column_entries, is_full,
              varying, values, cost, lower, upper, row_lower, row_upper, offset)

NATIVE_MODULE(simplex_batch_check) {
    NATIVE_CONSTANTS(module, "solvers.simplex.batch.kernels.check", OBJECTIVE, DUAL_OBJECTIVE,
                     PRIMAL, PRIMAL_RELATIVE, DUAL, DUAL_RELATIVE, GAP_RELATIVE, INSIDE);
    NATIVE_KERNELS(module, check, narrow);
}
