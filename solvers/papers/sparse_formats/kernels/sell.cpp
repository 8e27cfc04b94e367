// Products of matrices in padded columns and in sorted slices on the CPU; sell.py states the
// contracts.
#include "kernels/storage.h"
#include "native/threads.h"

using namespace native;

namespace {

template <class Index> struct Layout {
    std::int64_t rows;
    int slice_shift;
    Span<const Index> slice_starts, lengths, order;
    bool ordered;
};

template <class Index, class Stored, class Value>
void multiply_places(const Layout<Index> &layout, Span<const Stored> indices,
                     Span<const Value> values, Span<const double> dictionary,
                     Span<const Index> bases, int base_shift, Span<const double> vector,
                     Span<double> product, int threads) {
    const std::int64_t height = std::int64_t{1} << layout.slice_shift;
    parallel_for(threads, layout.rows, [&](std::int64_t place) {
        std::int64_t entry =
            layout.slice_starts[place >> layout.slice_shift] + (place & (height - 1));
        const std::int64_t length = layout.lengths[place];
        double total = 0.0;
        for (std::int64_t k = 0; k < length; ++k, entry += height)
            total += value_at(values, entry, dictionary) *
                     vector[column_at(indices, entry, bases, place, base_shift)];
        product[layout.ordered ? layout.order[place] : place] = total;
    });
}

/// Multiply the matrix by a vector.
template <class Index>
void sell_multiply(std::int64_t rows, int slice_shift, Span<const Index> slice_starts,
                   Span<const Index> lengths, Span<const Index> order, int ordered,
                   StoredIndices<Index> indices, StoredValues values, Span<const double> dictionary,
                   Span<const Index> bases, int base_shift, Span<const double> vector,
                   Span<double> product, int threads) {
    const std::int64_t slices = (rows + (std::int64_t{1} << slice_shift) - 1) >> slice_shift;
    check_length("slice_starts", slice_starts.size(), slices);
    check_length("lengths", lengths.size(), rows);
    check_length("order", order.size(), ordered ? rows : 0);
    check_length("product", product.size(), rows);
    const Layout<Index> layout{rows, slice_shift, slice_starts, lengths, order, ordered != 0};
    std::visit(
        [&](auto indices, auto values) {
            check_length("values", values.size(), indices.size());
            multiply_places(layout, indices, values, dictionary, bases, base_shift, vector, product,
                            threads);
        },
        indices, values);
}

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

NATIVE_MODULE(papers_sparse_formats_sell) {
    NATIVE_KERNELS_BY_INDEX(module, ell_multiply, sell_multiply);
}
