// The figures of a primal and a dual point of a linear program; lp_answer.py says which.
//
// Each row and column is looked at once, with its product. Sums are those of blocks of neighbours,
// which the caller adds up: any number of threads gives the same bits.
#include <algorithm>
#include <cmath>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// Rows or columns whose figures are summed one after the other.
constexpr std::int64_t BLOCK = 256;

/// Call work(i, sums) for every i, with the figures of i's block, zeros at first.
template <int SUMS, class Work>
void in_blocks(std::int64_t count, Grid<double> sums, int threads, const Work &work) {
    const std::int64_t blocks = (count + BLOCK - 1) / BLOCK;
    check_length("sums", sums.shape(0), SUMS);
    check_length("a row of sums", sums.shape(1), blocks);
    parallel_for(threads, blocks, [&](std::int64_t block) {
        double own[SUMS] = {};
        const std::int64_t end = std::min(count, (block + 1) * BLOCK);
        for (std::int64_t i = block * BLOCK; i < end; ++i)
            work(i, own);
        for (int which = 0; which < SUMS; ++which)
            sums(which, block) = own[which];
    });
}

template <class Index>
double product_of(const SparseRows<Index> &rows, std::int64_t i, Span<const double> vector) {
    double sum = 0.0;
    const std::int64_t end = rows.indptr[i + 1];
    for (std::int64_t entry = rows.indptr[i]; entry < end; ++entry)
        sum += rows.data[entry] * vector[rows.indices[entry]];
    return sum;
}

/// A value within bounds; what is not a number stays so.
double between(double low, double value, double high) {
    return value < low ? low : (value > high ? high : value);
}

/// The size of a side, zero of one that is not finite.
double finite_size(double side) { return std::isfinite(side) ? std::abs(side) : 0.0; }

/// Put the point into its bounds.
void clip(Span<double> x, Span<const double> lower, Span<const double> upper, int threads) {
    check_length("lower", lower.size(), x.size());
    check_length("upper", upper.size(), x.size());
    parallel_for(threads, x.size(),
                 [&](std::int64_t j) { x[j] = between(lower[j], x[j], upper[j]); });
}

/// Find the larger finite side of each row or column, in magnitude; 0 without any.
void side_sizes(Span<const double> low, Span<const double> high, Span<double> sizes, int threads) {
    check_length("high", high.size(), low.size());
    check_length("sizes", sizes.size(), low.size());
    parallel_for(threads, low.size(), [&](std::int64_t k) {
        sizes[k] = std::max(finite_size(low[k]), finite_size(high[k]));
    });
}

/// Put zero for each finite limit: the limits of directions in which one may go on for ever.
void recede(Span<const double> limit, Span<double> receded, int threads) {
    check_length("receded", receded.size(), limit.size());
    parallel_for(threads, limit.size(),
                 [&](std::int64_t k) { receded[k] = std::isfinite(limit[k]) ? 0.0 : limit[k]; });
}

/// Put columns without entries at the bound that their cost prefers, where there is one.
template <class Index>
void settle_alone(Span<const Index> starts, Span<const double> cost, Span<const double> lower,
                  Span<const double> upper, Span<double> x, int threads) {
    check_length("starts", starts.size(), x.size() + 1);
    for (const auto &one : {cost, lower, upper})
        check_length("cost, lower or upper", one.size(), x.size());
    parallel_for(threads, x.size(), [&](std::int64_t j) {
        if (starts[j + 1] != starts[j] || cost[j] == 0.0)
            return;
        const double preferred = cost[j] > 0.0 ? lower[j] : upper[j];
        if (std::isfinite(preferred))
            x[j] = preferred;
    });
}

/// Fill the activities of rows, unless there is no room for them, and take from y what leans on an
/// infinite side.
///
/// ``sums`` get the squares of the violations, what y earns of the sides, the squares of the sides'
/// sizes, and the largest violation.
template <class Index>
void judge_rows(const SparseRows<Index> &rows, Span<const double> lower, Span<const double> upper,
                Span<const double> x, Span<double> y, Span<double> activity, Grid<double> sums,
                int threads) {
    const std::int64_t m = y.size();
    check_rows("rows", rows, m);
    for (const auto &one : {lower, upper})
        check_length("lower or upper", one.size(), m);
    const bool kept = activity.size() > 0;
    if (kept)
        check_length("activity", activity.size(), m);
    in_blocks<4>(m, sums, threads, [&](std::int64_t i, double *own) {
        const double found = product_of(rows, i, x);
        if (kept)
            activity[i] = found;
        const double violation = found - between(lower[i], found, upper[i]);
        own[0] += violation * violation;
        own[3] = std::max(own[3], std::abs(violation));
        const double size = std::max(finite_size(lower[i]), finite_size(upper[i]));
        own[2] += size * size;
        if (!std::isfinite(lower[i]) && y[i] > 0.0)
            y[i] = 0.0;
        if (!std::isfinite(upper[i]) && y[i] < 0.0)
            y[i] = 0.0;
        if (y[i] != 0.0)
            own[1] += y[i] * (y[i] > 0.0 ? lower[i] : upper[i]);
    });
}

/// Fill the reduced costs of columns, unless there is no room for them; ``columns`` may be empty
/// where y is zero.
///
/// ``sums`` get the squares of those that no bound supports, what the others earn of their bounds,
/// how many no bound supports, the objective, the squares of the costs, the squares of what leaves
/// the bounds, and the largest of that and of what no bound supports.
template <class Index>
void judge_columns(const SparseRows<Index> &columns, Span<const double> cost,
                   Span<const double> lower, Span<const double> upper, Span<const double> x,
                   Span<const double> y, Span<double> reduced, Grid<double> sums, int threads) {
    const std::int64_t n = x.size();
    check_rows("columns", columns, n);
    for (const auto &one : {cost, lower, upper})
        check_length("cost, lower or upper", one.size(), n);
    const bool kept = reduced.size() > 0;
    if (kept)
        check_length("reduced", reduced.size(), n);
    in_blocks<8>(n, sums, threads, [&](std::int64_t j, double *own) {
        const double price = cost[j] - product_of(columns, j, y);
        if (kept)
            reduced[j] = price;
        const double side = price > 0.0 ? lower[j] : upper[j];
        if (std::isfinite(side)) {
            own[1] += price * side;
        } else {
            own[0] += price * price;
            own[2] += price != 0.0 ? 1.0 : 0.0;
            own[7] = std::max(own[7], std::abs(price));
        }
        own[3] += cost[j] * x[j];
        own[4] += cost[j] * cost[j];
        const double outside = x[j] - between(lower[j], x[j], upper[j]);
        own[5] += outside * outside;
        own[6] = std::max(own[6], std::abs(outside));
    });
}

template <class Index> void declare(native::Module &module) {
    expose(module, "settle_alone", &settle_alone<Index>, "starts", "cost", "lower", "upper", "x",
           "threads");
    expose(module, "judge_rows", &judge_rows<Index>, "rows", "lower", "upper", "x", "y", "activity",
           "sums", "threads");
    expose(module, "judge_columns", &judge_columns<Index>, "columns", "cost", "lower", "upper", "x",
           "y", "reduced", "sums", "threads");
}

} // namespace

NATIVE_MODULE(core_lp_answer) {
    NATIVE_CONSTANTS(module, "solvers.core.lp_answer", BLOCK);
    expose(module, "side_sizes", &side_sizes, "low", "high", "sizes", "threads");
    expose(module, "recede", &recede, "limit", "receded", "threads");
    expose(module, "clip", &clip, "x", "lower", "upper", "threads");
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
