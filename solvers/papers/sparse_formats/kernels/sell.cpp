// Products of matrices in padded columns and in sorted slices on the CPU; sell.py states the
// contracts.
#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

using Ints = Span<const std::int32_t>;
using Reals = Span<const double>;

/// The sum of so many entries at equal distances, from ``entry`` on.
inline double gathered_sum(std::int64_t entry, std::int64_t count, std::int64_t stride,
                           Ints indices, Reals values, Reals vector) {
    double total = 0.0;
    for (std::int64_t k = 0; k < count; ++k, entry += stride)
        total += values[entry] * vector[indices[entry]];
    return total;
}

/// Multiply the matrix by a vector.
void sell_multiply(std::int64_t rows, int slice_shift, Ints slice_starts, Ints lengths, Ints order,
                   Ints indices, Reals values, Reals vector, Span<double> product, int threads) {
    const std::int64_t height = std::int64_t{1} << slice_shift;
    check_length("slice_starts", slice_starts.size(), (rows + height - 1) >> slice_shift);
    check_length("lengths", lengths.size(), rows);
    check_length("order", order.size(), rows);
    check_length("values", values.size(), indices.size());
    check_length("product", product.size(), rows);
    parallel_for(threads, rows, [&](std::int64_t place) {
        const std::int64_t first = slice_starts[place >> slice_shift] + (place & (height - 1));
        product[order[place]] =
            gathered_sum(first, lengths[place], height, indices, values, vector);
    });
}

/// Multiply the matrix by a vector.
void ell_multiply(std::int64_t rows, Ints lengths, Ints indices, Reals values, Reals vector,
                  Span<double> product, int threads) {
    check_length("lengths", lengths.size(), rows);
    check_length("values", values.size(), indices.size());
    check_length("product", product.size(), rows);
    parallel_for(threads, rows, [&](std::int64_t row) {
        product[row] = gathered_sum(row, lengths[row], rows, indices, values, vector);
    });
}

} // namespace

NATIVE_MODULE(papers_sparse_formats_sell) { NATIVE_KERNELS(module, ell_multiply, sell_multiply); }
