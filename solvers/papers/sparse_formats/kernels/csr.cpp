// Product of a matrix in compressed rows on the CPU; csr.py states the contract.
#include <cmath>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

using REAL = double;
using INDEX = std::int32_t;
#include "csr.cuh"

/// Multiply the matrix by a vector; one thread has no use for shares of rows.
void csr_multiply(const Compressed &matrix, const Shares &, Span<const double> vector,
                  Span<double> product, int threads) {
    const auto &[rows, starts, indices, values] = matrix;
    check_length("starts", starts.size(), std::int64_t{rows} + 1);
    check_length("product", product.size(), rows);
    check_length("indices", indices.size(), starts[rows]);
    check_length("values", values.size(), starts[rows]);
    parallel_for(threads, rows, [&](std::int64_t row) {
        const std::int64_t end = matrix.starts[row + 1];
        double total = 0.0;
#pragma GCC unroll 4 // rows are short: their jumps take as long as their sums
        for (std::int64_t entry = matrix.starts[row]; entry < end; ++entry)
            total += matrix.values[entry] * vector[matrix.indices[entry]];
        product[row] = total;
    });
}

} // namespace

NATIVE_STRUCT(Compressed, rows, starts, indices, values)
NATIVE_STRUCT(Shares, lanes, long_length, chunk, chunks, chunk_rows, chunk_firsts, partials,
              tickets)

NATIVE_MODULE(papers_sparse_formats_csr) { NATIVE_KERNELS(module, csr_multiply); }
