// Matrices in slices as the CPU reads them; solvers/sparse/slices.py says how they are laid out.
#pragma once

#include <array>
#include <cmath>

#include "kernels/storage.h"
#include "native/threads.h"

namespace {

using Numbers = native::Span<const double>;
using NumbersOut = native::Span<double>;

/// A matrix as kernels get it.
template <class Index> struct Slices {
    std::int64_t slices, height;
    native::Grid<const Index> meta;
    StoredIndices<Index> indices;
    StoredValues values;
    Numbers table;
};

/// The arguments by which a matrix is passed; a CPU needs no memory for parts of long rows.
template <class Index>
inline Slices<Index>
slices_of(int slices, int height, native::Grid<const Index> meta, StoredIndices<Index> indices,
          StoredValues values, Numbers table, native::Grid<const Index> /*splits*/,
          native::Grid<const double> /*partials*/, native::Span<const Index> /*tickets*/) {
    native::check_length("meta", meta.shape(0), slices);
    native::check_length("a row of meta", meta.shape(1), 4);
    return {slices, height, meta, indices, values, table};
}

/// A matrix whose slices are rows in their places, which is how a CPU lays it out.
template <class Index> struct PlainRows {
    native::Grid<const Index> meta;
    native::Span<const Index> indices;
    Numbers values;

    /// Call take(i, row) for each row i of a slice.
    template <class Take> void each_row(std::int64_t at, const Take &take) const {
        take(static_cast<std::int64_t>(meta(at, 2)), meta[at]);
    }

    /// Call take(value, column) for each entry of a row.
    template <class Take> void each_entry(native::Span<const Index> row, const Take &take) const {
        const std::int64_t end = row[0] + row[1];
#pragma GCC unroll 4 // rows are short: their jumps take as long as their sums
        for (std::int64_t entry = row[0]; entry < end; ++entry)
            take(values[entry], static_cast<std::int64_t>(indices[entry]));
    }
};

/// A matrix in slices of any height, as a GPU lays it out: read entry by entry, for tests.
struct SlicedRows {
    /// Where a row stands: ``lanes`` entries in each of ``steps`` steps.
    struct Row {
        std::int64_t begin, steps, stride, lanes;
    };

    const Slices<std::int32_t> &matrix;

    template <class Take> void each_row(std::int64_t at, const Take &take) const {
        const std::int64_t first = matrix.meta(at, 2), code = matrix.meta(at, 3);
        for (std::int64_t which = 0; which < ((code >> 6) & 63); ++which)
            take(first + which, row_of(at, which));
    }

    template <class Take> void each_entry(const Row &row, const Take &take) const {
        for (std::int64_t step = 0; step < row.steps; ++step)
            for (std::int64_t lane = 0; lane < row.lanes; ++lane) {
                const std::int64_t entry = row.begin + step * row.stride + lane;
                take(value(entry), column(entry));
            }
    }

  private:
    /// A row of one unit or several stands in one piece, which its first slice describes.
    Row row_of(std::int64_t at, std::int64_t which) const {
        const std::int64_t code = matrix.meta(at, 3), lanes = std::int64_t{1} << (code & 15);
        const std::int64_t first = matrix.meta(at, 0) * matrix.height, steps = matrix.meta(at, 1);
        if ((code >> 4) & 3)
            return {first, steps * (code >> 12) * matrix.height, 1, 1};
        return {first + which * lanes, steps, matrix.height, lanes};
    }

    double value(std::int64_t entry) const {
        const auto read = [&](auto values) { return value_at(values, entry, matrix.table); };
        return std::visit(read, matrix.values);
    }

    std::int64_t column(std::int64_t entry) const {
        const auto read = [&](auto indices) { return static_cast<std::int64_t>(indices[entry]); };
        return std::visit(read, matrix.indices);
    }
};

/// The products of a row with several vectors.
template <class Matrix, class Row, class... Vectors>
inline std::array<double, sizeof...(Vectors)> products_of(const Matrix &matrix, const Row &row,
                                                          const Vectors &...vectors) {
    std::array<double, sizeof...(Vectors)> totals{};
    matrix.each_entry(row, [&](double value, std::int64_t column) {
        std::size_t which = 0;
        ((totals[which++] += value * vectors[column]), ...);
    });
    return totals;
}

/// Call work(rows) with the matrix as what it is.
template <class Index, class Work>
inline void with_rows(const Slices<Index> &matrix, const Work &work) {
    const auto *indices = std::get_if<native::Span<const Index>>(&matrix.indices);
    const auto *values = std::get_if<Numbers>(&matrix.values);
    if (matrix.height == 1 && indices != nullptr && values != nullptr)
        work(PlainRows<Index>{matrix.meta, *indices, *values});
    else if constexpr (std::is_same_v<Index, std::int32_t>)
        work(SlicedRows{matrix});
    else
        native::refuse("slices of several rows have indices of 32 bits");
}

/// Call work(i, row, rows) for each row, on up to ``threads`` threads.
template <class Index, class Work>
inline void for_each_row(const Slices<Index> &matrix, int threads, const Work &work) {
    with_rows(matrix, [&](const auto &rows) {
        native::parallel_for(threads, matrix.slices, [&](std::int64_t at) {
            rows.each_row(at, [&](std::int64_t i, const auto &row) { work(i, row, rows); });
        });
    });
}

} // namespace
