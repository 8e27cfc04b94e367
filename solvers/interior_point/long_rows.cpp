// Rows of a sparse symmetric matrix that touch very many others, and the matrix without them.
#include <stdexcept>

#include "native/bindings.h"

using namespace native;

namespace {

/// Count how many others each row touches, in a lower triangle.
void count_touched(Span<const std::int32_t> row, Span<const std::int32_t> column,
                   Span<std::int32_t> touched) {
    check_length("column", column.size(), row.size());
    const std::int64_t size = touched.size();
    for (std::int64_t at = 0; at < row.size(); ++at) {
        if (row[at] < 0 || column[at] < 0 || row[at] >= size || column[at] >= size)
            throw std::invalid_argument("a row or a column is outside the matrix");
        if (row[at] == column[at])
            continue;
        ++touched[row[at]];
        ++touched[column[at]];
    }
}

/// Keep the entries between rows that stay, by their numbers there; return how many they are.
///
/// The numbers of the others are negative. All rows are in range, and the targets as long as the
/// triangle.
std::int64_t keep_entries(Span<const std::int32_t> row, Span<const std::int32_t> column,
                          Span<const std::int32_t> number, Span<std::int32_t> to_row,
                          Span<std::int32_t> to_column) {
    check_length("column", column.size(), row.size());
    check_length("to_row", to_row.size(), row.size());
    check_length("to_column", to_column.size(), row.size());
    std::int64_t kept = 0;
    for (std::int64_t at = 0; at < row.size(); ++at) {
        const std::int32_t one = number[row[at]], other = number[column[at]];
        if (one < 0 || other < 0)
            continue;
        to_row[kept] = one;
        to_column[kept++] = other;
    }
    return kept;
}

} // namespace

NATIVE_MODULE(interior_point_long_rows) {
    native::expose(module, "count_touched", &count_touched, "row", "column", "touched");
    native::expose(module, "keep_entries", &keep_entries, "row", "column", "number", "to_row",
                   "to_column");
}
