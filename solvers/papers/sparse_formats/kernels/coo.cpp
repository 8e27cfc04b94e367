// Product of a matrix in coordinates on the CPU; coo.py states the contracts.
#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

using Index = std::int32_t;

/// Set the product to zero.
void coo_clear(std::int64_t rows, Span<double> product, int threads) {
    check_length("product", product.size(), rows);
    parallel_for(threads, rows, [&](std::int64_t row) { product[row] = 0.0; });
}

/// Sum the rows within each chunk of entries.
void coo_segments(std::int64_t entries, std::int64_t chunk, Span<const Index> row_indices,
                  Span<const Index> indices, Span<const double> values, Span<const double> vector,
                  Span<double> product, Span<double> carries, int threads) {
    const std::int64_t chunks = (entries + chunk - 1) / chunk;
    check_length("row_indices", row_indices.size(), entries);
    check_length("indices", indices.size(), entries);
    check_length("values", values.size(), entries);
    check_length("carries", carries.size(), 2 * chunks);
    parallel_for(threads, chunks, [&](std::int64_t own) {
        const std::int64_t begin = own * chunk;
        const std::int64_t end = std::min(begin + chunk, entries);
        const Index first_row = row_indices[begin];
        Index open_row = first_row;
        double open_sum = 0.0, first_sum = 0.0;
        for (std::int64_t entry = begin; entry < end; ++entry) {
            const Index row = row_indices[entry];
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
void coo_carries(std::int64_t entries, std::int64_t chunk, Span<const Index> row_indices,
                 Span<const double> carries, Span<double> product, int threads) {
    const std::int64_t count = 2 * ((entries + chunk - 1) / chunk);
    check_length("row_indices", row_indices.size(), entries);
    check_length("carries", carries.size(), count);
    const auto row_of = [&](std::int64_t carry) {
        const std::int64_t begin = (carry / 2) * chunk;
        return row_indices[carry % 2 == 0 ? begin : std::min(begin + chunk, entries) - 1];
    };
    parallel_for(threads, count, [&](std::int64_t own) {
        const Index row = row_of(own);
        if (own > 0 && row_of(own - 1) == row)
            return;
        double total = 0.0;
        for (std::int64_t carry = own; carry < count && row_of(carry) == row; ++carry)
            total += carries[carry];
        product[row] = total;
    });
}

} // namespace

NATIVE_MODULE(papers_sparse_formats_coo) {
    NATIVE_KERNELS(module, coo_clear, coo_segments, coo_carries);
}
