// Product of a matrix in compressed rows on the CPU; csr.py states the contract.
#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

using Ints = Span<const std::int32_t>;
using Reals = Span<const double>;

/// Multiply the matrix by a vector.
void csr_multiply(std::int64_t rows, int, Ints starts, Ints indices, Reals values, std::int64_t,
                  std::int64_t, std::int64_t, Ints, Ints, Span<double>, Span<std::int32_t>,
                  Reals vector, Span<double> product, int threads) {
    check_length("starts", starts.size(), rows + 1);
    check_length("product", product.size(), rows);
    check_length("indices", indices.size(), starts[rows]);
    check_length("values", values.size(), starts[rows]);
    parallel_for(threads, rows, [&](std::int64_t row) {
        const std::int64_t end = starts[row + 1];
        double total = 0.0;
#pragma GCC unroll 4 // rows are short: their jumps take as long as their sums
        for (std::int64_t entry = starts[row]; entry < end; ++entry)
            total += values[entry] * vector[indices[entry]];
        product[row] = total;
    });
}

} // namespace

NATIVE_MODULE(papers_sparse_formats_csr) { NATIVE_KERNELS(module, csr_multiply); }
