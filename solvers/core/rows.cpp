// What is told of a matrix in one look at its entries.
#include <algorithm>
#include <cmath>

#include "native/bindings.h"

using namespace native;

namespace {

/// The smallest and the largest magnitude in each row; zero where it has no entry.
template <class Index>
void row_sizes(const SparseRows<Index> &rows, Span<double> smallest, Span<double> largest) {
    const std::int64_t m = smallest.size();
    check_rows("rows", rows, m);
    check_length("largest", largest.size(), m);
    for (std::int64_t i = 0; i < m; ++i) {
        double least = rows.length(i) > 0 ? INF : 0.0, most = 0.0;
        const std::int64_t end = rows.indptr[i + 1];
        for (std::int64_t entry = rows.indptr[i]; entry < end; ++entry) {
            const double size = std::abs(rows.data[entry]);
            least = std::min(least, size);
            most = std::max(most, size);
        }
        smallest[i] = least;
        largest[i] = most;
    }
}

template <class Index> void declare(nanobind::module_ &module) {
    expose(module, "row_sizes", &row_sizes<Index>, "rows", "smallest", "largest");
}

} // namespace

NATIVE_MODULE(core_rows) {
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
