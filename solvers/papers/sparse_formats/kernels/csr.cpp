// Product of a matrix in compressed rows on the CPU; csr.py states the contract.
#include "kernels/storage.h"
#include "native/threads.h"

using namespace native;

namespace {

template <class Index, class Stored, class Value>
void multiply_rows(std::int64_t rows, Span<const Index> starts, Span<const Stored> indices,
                   Span<const Value> values, Span<const double> dictionary, Span<const Index> bases,
                   int base_shift, Span<const double> vector, Span<double> product, int threads) {
    parallel_for(threads, rows, [&](std::int64_t row) {
        const std::int64_t end = starts[row + 1];
        double total = 0.0;
#pragma GCC unroll 4 // rows are short: their jumps take as long as their sums
        for (std::int64_t entry = starts[row]; entry < end; ++entry)
            total += value_at(values, entry, dictionary) *
                     vector[column_at(indices, entry, bases, row, base_shift)];
        product[row] = total;
    });
}

/// Multiply the matrix by a vector.
template <class Index>
void csr_multiply(std::int64_t rows, Span<const Index> starts, StoredIndices<Index> indices,
                  StoredValues values, Span<const double> dictionary, Span<const Index> bases,
                  int base_shift, Span<const Index>, int, Index, Index, Index, Index, Index, Index,
                  Index, Index, Index, Span<const Index>, Span<const Index>, Span<double>,
                  Span<Index>, Span<const double> vector, Span<double> product, int threads) {
    check_length("starts", starts.size(), rows + 1);
    check_length("product", product.size(), rows);
    std::visit(
        [&](auto indices, auto values) {
            check_length("indices", indices.size(), starts[rows]);
            check_length("values", values.size(), starts[rows]);
            multiply_rows(rows, starts, indices, values, dictionary, bases, base_shift, vector,
                          product, threads);
        },
        indices, values);
}

} // namespace

NATIVE_MODULE(papers_sparse_formats_csr) { NATIVE_KERNELS_BY_INDEX(module, csr_multiply); }
