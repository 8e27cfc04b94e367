// Looks at every column and row of a problem, for what takes no part; part.py has the rules.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// Whether a value is at the bound that its reduced cost prefers.
bool is_priced_out(double value, double low, double high, double price) {
    return (value <= low && price > 0.0) || (value >= high && price < 0.0);
}

void check_columns(std::int64_t n, std::initializer_list<Span<const double>> vectors) {
    for (const auto &one : vectors)
        check_length("lower, upper, x or price", one.size(), n);
}

/// Mark the columns that are not idle; ``moved`` is empty where nothing moves any more.
void mark_columns(Span<const double> lower, Span<const double> upper, Span<const double> x,
                  Span<const double> price, Span<const double> moved, double margin,
                  Span<bool> kept, int threads) {
    check_columns(kept.size(), {lower, upper, x, price});
    const bool moves = moved.size() > 0;
    if (moves)
        check_length("moved", moved.size(), kept.size());
    parallel_for(threads, kept.size(), [&](std::int64_t j) {
        const bool far = !moves || std::abs(price[j]) > margin * moved[j];
        const bool idle = far && is_priced_out(x[j], lower[j], upper[j], price[j]);
        kept[j] = !(idle || lower[j] == upper[j]);
    });
}

/// Mark the rows that are not idle, likewise.
void mark_rows(Span<const double> lower, Span<const double> upper, Span<const double> activity,
               Span<const double> dual, Span<const double> moved, double margin, Span<bool> kept,
               int threads) {
    check_columns(kept.size(), {lower, upper, activity, dual});
    const bool moves = moved.size() > 0;
    if (moves)
        check_length("moved", moved.size(), kept.size());
    parallel_for(threads, kept.size(), [&](std::int64_t i) {
        const double reach = moves ? margin * moved[i] : 0.0;
        const bool is_slack = activity[i] - lower[i] > reach && upper[i] - activity[i] > reach;
        kept[i] = !(dual[i] == 0.0 && is_slack);
    });
}

/// Mark columns left out whose reduced cost calls them in.
void mark_called_in(Span<const double> lower, Span<const double> upper, Span<const double> x,
                    Span<const double> price, Span<const bool> kept, Span<bool> wrong,
                    int threads) {
    check_columns(kept.size(), {lower, upper, x, price});
    check_length("wrong", wrong.size(), kept.size());
    parallel_for(threads, kept.size(), [&](std::int64_t j) {
        wrong[j] = !kept[j] && price[j] != 0.0 && lower[j] != upper[j] &&
                   !is_priced_out(x[j], lower[j], upper[j], price[j]);
    });
}

/// Add up the lengths of the rows that are marked, into one sum for each of some parts.
template <class Index>
void count_entries(Span<const Index> starts, Span<const bool> marked, Span<std::int64_t> sums,
                   int threads) {
    const std::int64_t rows = marked.size(), parts = sums.size();
    check_length("starts", starts.size(), rows + 1);
    parallel_for(threads, parts, [&](std::int64_t part) {
        std::int64_t sum = 0;
        for (std::int64_t i = rows * part / parts; i < rows * (part + 1) / parts; ++i)
            sum += marked[i] ? static_cast<std::int64_t>(starts[i + 1] - starts[i]) : 0;
        sums[part] = sum;
    });
}

/// Put the sizes of the differences of two vectors.
void distances(Span<const double> one, Span<const double> other, Span<double> size, int threads) {
    check_columns(size.size(), {one, other});
    parallel_for(threads, size.size(),
                 [&](std::int64_t k) { size[k] = std::abs(one[k] - other[k]); });
}

template <class Index> void declare(native::Module &module) {
    expose(module, "count_entries", &count_entries<Index>, "starts", "marked", "sums", "threads");
}

} // namespace

NATIVE_MODULE(pdlp_shrinking_part) {
    expose(module, "mark_columns", &mark_columns, "lower", "upper", "x", "price", "moved", "margin",
           "kept", "threads");
    expose(module, "mark_rows", &mark_rows, "lower", "upper", "activity", "dual", "moved", "margin",
           "kept", "threads");
    expose(module, "mark_called_in", &mark_called_in, "lower", "upper", "x", "price", "kept",
           "wrong", "threads");
    expose(module, "distances", &distances, "one", "other", "size", "threads");
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
