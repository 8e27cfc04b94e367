// Product of a matrix in padded columns on the CPU; ell.py states the contract.
#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// Multiply the matrix by a vector.
template <class Index>
void ell_multiply(std::int64_t rows, Span<const Index> lengths, Span<const Index> indices,
                  Span<const double> values, Span<const double> vector, Span<double> product,
                  int threads) {
    check_length("lengths", lengths.size(), rows);
    check_length("values", values.size(), indices.size());
    check_length("product", product.size(), rows);
    parallel_for(threads, rows, [&](std::int64_t row) {
        const std::int64_t length = lengths[row];
        double total = 0.0;
        for (std::int64_t k = 0, entry = row; k < length; ++k, entry += rows)
            total += values[entry] * vector[indices[entry]];
        product[row] = total;
    });
}

} // namespace

NATIVE_MODULE(papers_sparse_formats_ell) { NATIVE_KERNELS_BY_INDEX(module, ell_multiply); }
