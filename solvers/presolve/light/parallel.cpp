// Rows that are multiples of each other, and columns that are.
//
// Candidates are found by a hash over the living entries, each relative to the first, in a table
// with one place per hash: a row or column is compared with the one that stands there.
//
// * Of two parallel rows one keeps the tighter of both sides; a dual that leans on a side that came
//   from the other goes back to it.
// * Two parallel columns of the same price become one, whose bounds are the sums of theirs. Where
//   the price differs and one of them has no bound to lean on, the dearer is fixed.
#include "workspace.h"

namespace presolve::light {
namespace {

/// Ratios that differ by no more than this part are one ratio in different roundings.
constexpr double SAME = 1e-14;

constexpr double SAME_PRICE = 1e-13;

/// Mantissas enter the hash in steps of 1 over this.
constexpr double HASH_DIGITS = 0x1p36;

/// What a ratio of one enters the hash as, and of minus one: equal and opposite entries are
/// frequent, and need no division.
constexpr std::int64_t ONE = static_cast<std::int64_t>(0.5 * HASH_DIGITS) * 2048 + 1;
constexpr std::int64_t MINUS_ONE = static_cast<std::int64_t>(-0.5 * HASH_DIGITS) * 2048 + 1;

/// Rows or columns, with what is alive of those they meet.
template <class Index> struct Owners : SparseRows<Index> {
    Span<const std::int64_t> removed;

    bool lives(std::int64_t entry) const { return removed[this->indices[entry]] == ALIVE; }
};

template <class Index> Owners<Index> rows_of(const Workspace<Index> &w) {
    return {w.by_row, w.column_removed};
}

template <class Index> Owners<Index> columns_of(const Workspace<Index> &w) {
    return {w.by_column, w.row_removed};
}

/// The leading digits of a ratio and its exponent, as one number.
std::int64_t digits_of(double ratio) {
    int exponent;
    const double mantissa = std::frexp(ratio, &exponent);
    return static_cast<std::int64_t>(std::floor(mantissa * HASH_DIGITS + 0.5)) * 2048 + exponent;
}

std::uint64_t mixed(std::uint64_t number) {
    number *= 0x9E3779B97F4A7C15;
    return number ^ (number >> 29);
}

/// A hash of an owner's living entries that does not depend on their common factor.
template <class Index> std::int64_t hash_of(const Owners<Index> &owners, std::int64_t owner) {
    std::uint64_t found = 14695981039346656037ull;
    double first = 0.0;
    const std::int64_t end = owners.indptr[owner + 1];
    for (std::int64_t entry = owners.indptr[owner]; entry < end; ++entry) {
        if (!owners.lives(entry))
            continue;
        const double value = owners.data[entry];
        if (first == 0.0)
            first = value;
        const std::int64_t digits = value == first    ? ONE
                                    : value == -first ? MINUS_ONE
                                                      : digits_of(value / first);
        found = mixed(found ^ static_cast<std::uint64_t>(owners.indices[entry]));
        found = mixed(found ^ static_cast<std::uint64_t>(digits));
    }
    return static_cast<std::int64_t>(found >> 8);
}

/// The factor from the first owner to the second, 0 where they are not parallel.
///
/// Both have the same number of living entries.
template <class Index>
double ratio_of(const Owners<Index> &owners, std::int64_t first, std::int64_t second) {
    const auto &[start, index, value] = static_cast<const SparseRows<Index> &>(owners);
    double ratio = 0.0;
    std::int64_t entry = start[first];
    const std::int64_t end = start[first + 1], other_end = start[second + 1];
    for (std::int64_t other = start[second]; other < other_end; ++other) {
        if (!owners.lives(other))
            continue;
        while (entry < end && !owners.lives(entry))
            ++entry;
        if (entry == end || index[entry] != index[other])
            return 0.0;
        if (ratio == 0.0)
            ratio = value[other] / value[entry];
        else if (std::abs(value[other] - ratio * value[entry]) > SAME * std::abs(value[other]))
            return 0.0;
        ++entry;
    }
    return ratio;
}

/// Let row i stand for row k = ratio * row i, unless they contradict each other.
template <class W> void merge_rows(const W &w, std::int64_t i, std::int64_t k, double ratio) {
    double low = w.row_lower[k] / ratio, high = w.row_upper[k] / ratio;
    if (ratio < 0.0)
        std::swap(low, high);
    double new_low = std::max(w.row_lower[i], low), new_high = std::min(w.row_upper[i], high);
    if (new_low > new_high) {
        if (new_low - new_high > SAME * std::max(std::abs(new_low), std::abs(new_high)))
            return;
        if (new_low == w.row_lower[i])
            new_high = new_low;
        else
            new_low = new_high;
    }
    const double from_second =
        (new_low > w.row_lower[i] ? 1.0 : 0.0) + (new_high < w.row_upper[i] ? 2.0 : 0.0);
    const auto kept = static_cast<double>(i);
    remove_row(w, k, note(w, PARALLEL_ROW, k, -1, kept, ratio, from_second, 0.0));
    if (from_second != 0.0) {
        w.row_lower[i] = new_low;
        w.row_upper[i] = new_high;
        w.row_changed[i] = true;
    }
}

/// Fix k or j where z_k = ratio z_j + difference and a sign of one tells that of the other.
template <class W>
void fix_dearer(const W &w, std::int64_t j, std::int64_t k, double ratio, double difference) {
    const bool positive = ratio > 0.0;
    // ratio z_j
    const bool at_least_zero = positive ? w.upper[j] == INF : w.lower[j] == -INF;
    const bool at_most_zero = positive ? w.lower[j] == -INF : w.upper[j] == INF;
    if (at_least_zero && difference > 0.0 && w.lower[k] > -INF) {
        fix_column(w, k, w.lower[k]);
    } else if (at_most_zero && difference < 0.0 && w.upper[k] < INF) {
        fix_column(w, k, w.upper[k]);
    } else if ((w.upper[k] == INF && difference < 0.0) ||
               (w.lower[k] == -INF && difference > 0.0)) {
        const bool to_lower = (difference < 0.0) == positive; // z_j = (z_k - difference) / ratio
        if (to_lower && w.lower[j] > -INF)
            fix_column(w, j, w.lower[j]);
        else if (!to_lower && w.upper[j] < INF)
            fix_column(w, j, w.upper[j]);
    }
}

/// Treat column k = ratio * column j.
template <class W> void merge_columns(const W &w, std::int64_t j, std::int64_t k, double ratio) {
    const double difference = w.cost[k] - ratio * w.cost[j];
    const double size = std::max(std::abs(w.cost[k]), std::abs(ratio * w.cost[j]));
    if (std::abs(difference) > SAME_PRICE * size)
        return fix_dearer(w, j, k, ratio, difference);
    const double at_lower = ratio * w.lower[k], at_upper = ratio * w.upper[k];
    const auto kept = static_cast<double>(j);
    const std::int64_t step = note(w, PARALLEL_COLUMN, -1, k, kept, ratio, w.lower[j], w.upper[j]);
    remove_column(w, k, step, 0.0);
    w.lower[j] += std::min(at_lower, at_upper);
    w.upper[j] += std::max(at_lower, at_upper);
    w.column_changed[j] = true;
}

/// Merge rows; ``table`` is scratch, of a power of two places.
template <class Index>
void merge_parallel_rows(const Workspace<Index> &w, Span<std::int32_t> table) {
    check(w);
    std::fill(table.begin(), table.end(), -1);
    const Owners<Index> rows = rows_of(w);
    for (std::int64_t i = 0; i < w.rows(); ++i) {
        if (i % OWNERS_PER_POLL == 0)
            poll();
        if (!w.has_row(i) || w.row_length[i] < 2)
            continue;
        if (out_of_budget(w))
            return;
        const std::int64_t place = hash_of(rows, i) & (table.size() - 1);
        w.count[WORK] += w.by_row.length(i);
        const std::int64_t first = table[place];
        if (first < 0) {
            table[place] = static_cast<std::int32_t>(i);
        } else if (w.row_length[first] == w.row_length[i]) {
            const double ratio = ratio_of(rows, first, i);
            if (ratio != 0.0)
                merge_rows(w, first, i, ratio);
        }
    }
}

/// Merge columns; ``table`` is scratch, of a power of two places.
///
/// So is ``places`` (n,). All hashes come first: the look into the table waits for memory, and
/// without them in between the processor waits for several at once.
template <class Index>
void merge_parallel_columns(const Workspace<Index> &w, Span<std::int32_t> table,
                            Span<std::int32_t> places) {
    check(w);
    check_length("places", places.size(), w.columns());
    std::fill(table.begin(), table.end(), -1);
    const Owners<Index> columns = columns_of(w);
    for (std::int64_t k = 0; k < w.columns(); ++k) {
        if (k % OWNERS_PER_POLL == 0)
            poll();
        if (w.has_column(k))
            places[k] = static_cast<std::int32_t>(hash_of(columns, k) & (table.size() - 1));
    }
    for (std::int64_t k = 0; k < w.columns(); ++k) {
        if (k % OWNERS_PER_POLL == 0)
            poll();
        if (!w.has_column(k) || w.column_length[k] < 1)
            continue;
        if (out_of_budget(w))
            return;
        std::int32_t &place = table[places[k]];
        w.count[WORK] += w.by_column.length(k);
        const std::int64_t first = place;
        if (first < 0 || !w.has_column(first)) {
            place = static_cast<std::int32_t>(k);
        } else if (w.column_length[first] == w.column_length[k]) {
            const double ratio = ratio_of(columns, first, k);
            if (ratio != 0.0) {
                merge_columns(w, first, k, ratio);
                if (!w.has_column(first))
                    place = static_cast<std::int32_t>(k);
            }
        }
    }
}

template <class Index> void declare(nanobind::module_ &module) {
    native::expose(module, "merge_parallel_rows", &merge_parallel_rows<Index>, "workspace",
                   "table");
    native::expose(module, "merge_parallel_columns", &merge_parallel_columns<Index>, "workspace",
                   "table", "places");
}

} // namespace
} // namespace presolve::light

NATIVE_MODULE(presolve_light_parallel) {
    using namespace presolve::light;
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
