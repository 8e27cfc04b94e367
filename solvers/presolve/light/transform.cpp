// The sparse product A T of a substitution: rows without a replaced column are only copied.
#include <algorithm>
#include <cmath>
#include <vector>

#include "native/bindings.h"

using namespace native;

namespace {

/// Entries below this part of the largest in their row are what rounding left of a zero.
constexpr double ROUNDING = 1e-12;

/// Longer rows are left to SciPy to sort, which for short ones costs more than the product.
constexpr std::int64_t LONGEST_SORTED = 500;

/// Rows written between two looks at the clock.
constexpr std::int64_t ROWS_PER_POLL = 4096;

/// Charge the cost of each replaced column to the other columns of its equation.
template <class Index>
void charge_columns(const SparseRows<Index> &rows, Span<const std::int64_t> equation,
                    Span<const double> pivot, Span<const std::int64_t> column, Span<double> cost) {
    check_rows("rows", rows, rows.indptr.size() - 1);
    check_length("pivot", pivot.size(), equation.size());
    check_length("column", column.size(), equation.size());
    for (std::int64_t pair = 0; pair < equation.size(); ++pair) {
        const double price = cost[column[pair]] / pivot[pair];
        if (price == 0.0)
            continue;
        const std::int64_t end = rows.indptr[equation[pair] + 1];
        for (std::int64_t entry = rows.indptr[equation[pair]]; entry < end; ++entry)
            if (rows.indices[entry] != column[pair])
                cost[rows.indices[entry]] -= price * rows.data[entry];
    }
}

/// A row that is being put together: ``total`` and ``seen`` of each new column, and the columns
/// seen, in the order they came.
template <class Index> struct Row {
    std::vector<double> total;
    std::vector<char> seen;
    Span<Index> new_index;
    Span<double> new_value;
    std::int64_t first = 0, filled = 0;

    void add(std::int64_t j, double amount) {
        total[j] += amount;
        if (!seen[j]) {
            seen[j] = true;
            new_index[filled++] = static_cast<Index>(j);
        }
    }

    /// Sort the columns: they are a sorted piece with a few more behind.
    void sort() {
        for (std::int64_t k = first + 1; k < filled; ++k) {
            const Index number = new_index[k];
            std::int64_t at = k;
            for (; at > first && new_index[at - 1] > number; --at)
                new_index[at] = new_index[at - 1];
            new_index[at] = number;
        }
    }

    /// Write the values, leave out what cancelled, and clear the scratch for the next row.
    void flush() {
        const std::int64_t end = filled;
        double largest = 0.0;
        for (std::int64_t k = first; k < end; ++k)
            largest = std::max(largest, std::abs(total[new_index[k]]));
        filled = first;
        for (std::int64_t k = first; k < end; ++k) {
            const Index j = new_index[k];
            if (std::abs(total[j]) > ROUNDING * largest) {
                new_index[filled] = j;
                new_value[filled++] = total[j];
            }
            total[j] = 0.0;
            seen[j] = false;
        }
        first = filled;
    }
};

/// Write the rows that stay, in the columns that stay.
///
/// ``place`` (n,) is the new number of a column, one of ``columns``, or -1 minus its pair's;
/// ``side`` (k,) the constant of each replaced column; ``shift`` what the constants add to each
/// row.
template <class Index>
void replace_columns(const SparseRows<Index> &matrix, Span<const std::int64_t> equation,
                     Span<const double> pivot, Span<const double> side,
                     Span<const std::int64_t> rows, Span<const std::int64_t> place,
                     std::int64_t columns, Span<Index> new_start, Span<Index> new_index,
                     Span<double> new_value, Span<double> shift) {
    check_rows("matrix", matrix, matrix.indptr.size() - 1);
    check_length("pivot", pivot.size(), equation.size());
    check_length("side", side.size(), equation.size());
    check_length("new_start", new_start.size(), rows.size() + 1);
    check_length("new_value", new_value.size(), new_index.size());
    check_length("shift", shift.size(), rows.size());
    const auto start = matrix.indptr, index = matrix.indices;
    const auto value = matrix.data;
    Row<Index> row{std::vector<double>(columns), std::vector<char>(columns), new_index, new_value};
    for (std::int64_t made = 0; made < rows.size(); ++made) {
        if (made % ROWS_PER_POLL == 0)
            poll();
        shift[made] = 0.0;
        bool changed = false;
        const std::int64_t end = start[rows[made] + 1];
        for (std::int64_t entry = start[rows[made]]; entry < end; ++entry) {
            const std::int64_t j = place[index[entry]];
            if (j >= 0) {
                row.add(j, value[entry]);
                continue;
            }
            changed = true;
            const std::int64_t pair = -1 - j, last = start[equation[pair] + 1];
            const double factor = value[entry] / pivot[pair];
            shift[made] += value[entry] * side[pair];
            for (std::int64_t other = start[equation[pair]]; other < last; ++other)
                if (place[index[other]] >= 0)
                    row.add(place[index[other]], -factor * value[other]);
        }
        if (changed && row.filled - row.first <= LONGEST_SORTED)
            row.sort();
        row.flush();
        new_start[made + 1] = static_cast<Index>(row.filled);
    }
}

template <class Index> void declare(native::Module &module) {
    expose(module, "charge_columns", &charge_columns<Index>, "rows", "equation", "pivot", "column",
           "cost");
    expose(module, "replace_columns", &replace_columns<Index>, "matrix", "equation", "pivot",
           "side", "rows", "place", "columns", "new_start", "new_index", "new_value", "shift");
}

} // namespace

NATIVE_MODULE(presolve_light_transform) {
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
