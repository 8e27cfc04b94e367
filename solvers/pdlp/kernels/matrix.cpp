// Products and row sizes on the CPU; matrix.py states the contracts.
#include "slices.h"

using namespace native;

namespace {

// What a row is scaled by.
constexpr int LARGEST = 0, TOTAL = 1;

template <class Index>
void multiply(int slices, int height, Grid<const Index> meta, StoredIndices<Index> indices,
              StoredValues values, Numbers table, Grid<const Index> splits,
              Grid<const double> partials, Span<const Index> tickets, Numbers vector,
              NumbersOut product, int threads) {
    const auto matrix =
        slices_of(slices, height, meta, indices, values, table, splits, partials, tickets);
    check_length("product", product.size(), height == 1 ? slices : 0);
    for_each_row(matrix, threads, [&](std::int64_t i, const auto &row, const auto &rows) {
        product[i] = products_of(rows, row, vector)[0];
    });
}

template <class Index>
void multiply_scaled(int slices, int height, Grid<const Index> meta, StoredIndices<Index> indices,
                     StoredValues values, Numbers table, Grid<const Index> splits,
                     Grid<const double> partials, Span<const Index> tickets, Numbers factor,
                     Numbers vector, NumbersOut product, int threads) {
    const auto matrix =
        slices_of(slices, height, meta, indices, values, table, splits, partials, tickets);
    check_length("product", product.size(), height == 1 ? slices : 0);
    check_length("factor", factor.size(), product.size());
    for_each_row(matrix, threads, [&](std::int64_t i, const auto &row, const auto &rows) {
        product[i] = factor[i] * products_of(rows, row, vector)[0];
    });
}

/// Magnitudes of a row's entries, zeros left out.
struct Sizes {
    double most = 0.0, added = 0.0;

    void add(double size) {
        most = std::max(most, size);
        added += size;
    }
    /// What a row with this scale of its own is to be divided by, squared.
    double square(int mode, double own) const { return own * (mode == LARGEST ? most : added); }
};

/// Divide the scale of each row by the root of the row's size.
template <class Index>
void rescale(int slices, int height, Grid<const Index> meta, StoredIndices<Index> indices,
             StoredValues values, Numbers table, Grid<const Index> splits,
             Grid<const double> partials, Span<const Index> tickets, int mode, Numbers row_scale,
             Numbers column_scale, NumbersOut rescaled, int threads) {
    const auto matrix =
        slices_of(slices, height, meta, indices, values, table, splits, partials, tickets);
    check_length("rescaled", rescaled.size(), height == 1 ? slices : 0);
    check_length("row_scale", row_scale.size(), rescaled.size());
    for_each_row(matrix, threads, [&](std::int64_t i, const auto &row, const auto &rows) {
        Sizes sizes;
        rows.each_entry(row, [&](double value, std::int64_t column) {
            if (value != 0.0)
                sizes.add(std::fabs(value * column_scale[column]));
        });
        const double own = row_scale[i], square = sizes.square(mode, own);
        rescaled[i] = 0.0 < square && square < INF ? own / std::sqrt(square) : own;
    });
}

/// Find one over the geometric mean of the magnitudes of each row, damped by the ridge.
template <class Index>
void balance(int slices, int height, Grid<const Index> meta, StoredIndices<Index> indices,
             StoredValues values, Numbers table, Grid<const Index> splits,
             Grid<const double> partials, Span<const Index> tickets, double ridge,
             Numbers column_scale, NumbersOut balanced, int threads) {
    const auto matrix =
        slices_of(slices, height, meta, indices, values, table, splits, partials, tickets);
    check_length("balanced", balanced.size(), height == 1 ? slices : 0);
    for_each_row(matrix, threads, [&](std::int64_t i, const auto &row, const auto &rows) {
        double total = 0.0, count = 0.0;
        rows.each_entry(row, [&](double value, std::int64_t column) {
            if (value != 0.0) {
                total += std::log(std::fabs(value * column_scale[column]));
                count += 1.0;
            }
        });
        balanced[i] = count > 0.0 ? std::exp(-total / ((1.0 + ridge) * count)) : 1.0;
    });
}

} // namespace

NATIVE_MODULE(pdlp_matrix) {
    NATIVE_CONSTANTS(module, "solvers.pdlp.kernels.matrix", LARGEST, TOTAL);
    NATIVE_KERNELS_BY_INDEX(module, multiply, multiply_scaled, rescale, balance);
}
