// Gaussian elimination by three kernels for each column, on the CPU; elimination.py states the
// contracts.
#include <cmath>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

void check_shape(std::int64_t n, Grid<const double> augmented) {
    check_length("augmented", augmented.shape(0), n);
    check_length("augmented", augmented.shape(1), n + 1);
}

/// Find the largest entry of a column, from a row on.
void find_pivot(std::int64_t n, std::int64_t k, Grid<const double> augmented,
                Span<std::int32_t> row, int) {
    check_shape(n, augmented);
    check_length("row", row.size(), 1);
    double largest = 0.0;
    for (std::int64_t i = k; i < n; ++i)
        largest = std::max(largest, std::abs(augmented(i, k)));
    std::int64_t i = k;
    while (i < n && std::abs(augmented(i, k)) != largest)
        ++i;
    row[0] = static_cast<std::int32_t>(i);
}

/// Interchange two rows.
void swap_rows(std::int64_t n, std::int64_t k, std::int64_t other, Grid<double> augmented, int) {
    check_shape(n, augmented);
    for (std::int64_t j = 0; j <= n; ++j)
        std::swap(augmented(k, j), augmented(other, j));
}

NATIVE_HOT void subtract_multiple(double multiplier, const double *pivot, double *row,
                                  std::int64_t size) {
    for (std::int64_t j = 0; j < size; ++j)
        row[j] -= multiplier * pivot[j];
}

/// Subtract multiples of a row from those below.
void eliminate(std::int64_t n, std::int64_t k, Grid<double> augmented, int threads) {
    check_shape(n, augmented);
    parallel_for(threads, n - k - 1, [&](std::int64_t below) {
        const std::int64_t i = k + 1 + below;
        subtract_multiple(augmented(i, k) / augmented(k, k), augmented[k].data() + k + 1,
                          augmented[i].data() + k + 1, n - k);
    });
}

} // namespace

NATIVE_MODULE(papers_dense_lu_elimination) {
    NATIVE_KERNELS(module, find_pivot, swap_rows, eliminate);
}
