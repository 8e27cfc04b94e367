// Products of a matrix in each format on the CPU; products.py states the contracts.
#include <algorithm>
#include <cmath>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

using REAL = double;
using INDEX = std::int32_t;
#include "products.cuh"

using Ints = Span<const INDEX>;
using Reals = Span<const double>;

/// Multiply the matrix by a vector; one thread has no use for shares of rows.
void csr_multiply(const Compressed &matrix, const Shares &, Reals vector, Span<double> product,
                  int threads) {
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

/// Set the product to zero.
void coo_clear(std::int64_t rows, Span<double> product, int threads) {
    check_length("product", product.size(), rows);
    parallel_for(threads, rows, [&](std::int64_t row) { product[row] = 0.0; });
}

/// Sum the rows within each chunk of entries.
void coo_segments(std::int64_t entries, std::int64_t chunk, Ints row_indices, Ints indices,
                  Reals values, Reals vector, Span<double> product, Span<double> carries,
                  int threads) {
    const std::int64_t chunks = (entries + chunk - 1) / chunk;
    check_length("row_indices", row_indices.size(), entries);
    check_length("indices", indices.size(), entries);
    check_length("values", values.size(), entries);
    check_length("carries", carries.size(), 2 * chunks);
    parallel_for(threads, chunks, [&](std::int64_t own) {
        const std::int64_t begin = own * chunk;
        const std::int64_t end = std::min(begin + chunk, entries);
        const INDEX first_row = row_indices[begin];
        INDEX open_row = first_row;
        double open_sum = 0.0, first_sum = 0.0;
        for (std::int64_t entry = begin; entry < end; ++entry) {
            const INDEX row = row_indices[entry];
            if (row != open_row) {
                if (open_row == first_row)
                    first_sum = open_sum;
                else
                    product[open_row] = open_sum;
                open_row = row;
                open_sum = 0.0;
            }
            open_sum += values[entry] * vector[indices[entry]];
        }
        const bool one_row = open_row == first_row;
        carries[2 * own] = one_row ? open_sum : first_sum;
        carries[2 * own + 1] = one_row ? 0.0 : open_sum;
    });
}

/// Add up what neighbouring chunks hold of the same row.
void coo_carries(std::int64_t entries, std::int64_t chunk, Ints row_indices, Reals carries,
                 Span<double> product, int threads) {
    const std::int64_t count = 2 * ((entries + chunk - 1) / chunk);
    check_length("row_indices", row_indices.size(), entries);
    check_length("carries", carries.size(), count);
    const auto row_of = [&](std::int64_t carry) {
        const std::int64_t begin = (carry / 2) * chunk;
        return row_indices[carry % 2 == 0 ? begin : std::min(begin + chunk, entries) - 1];
    };
    parallel_for(threads, count, [&](std::int64_t own) {
        const INDEX row = row_of(own);
        if (own > 0 && row_of(own - 1) == row)
            return;
        double total = 0.0;
        for (std::int64_t carry = own; carry < count && row_of(carry) == row; ++carry)
            total += carries[carry];
        product[row] = total;
    });
}

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

NATIVE_STRUCT(Compressed, rows, starts, indices, values)
NATIVE_STRUCT(Shares, lanes, long_length, chunk, chunks, chunk_rows, chunk_firsts, partials,
              tickets)

NATIVE_MODULE(papers_sparse_formats_products) {
    NATIVE_KERNELS(module, csr_multiply, coo_clear, coo_segments, coo_carries, ell_multiply,
                   sell_multiply);
}
