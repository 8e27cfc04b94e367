// Matrices in slices as the CPU reads them; solvers/sparse/slices.py says how they are laid out.
#pragma once

#include <array>
#include <cmath>

#include "kernels/storage.h"
#include "native/threads.h"

namespace {

using Numbers = native::Span<const double>;
using NumbersOut = native::Span<double>;

using REAL = double;
#include "sliced.cuh"

template <class Index> using Slices = SlicedMatrix<Index, StoredIndices<Index>, StoredValues>;

/// Refuse a matrix without a description of each slice.
template <class Index> void check_matrix(const Slices<Index> &matrix) {
    const bool plain = matrix.height == 1;
    native::check_length("meta", matrix.meta.shape(0), matrix.slices + plain);
    native::check_length("a row of meta", matrix.meta.shape(1), plain ? 1 : 4);
}

/// Refuse vectors of the rows that are too short; tests alone have slices of several rows.
template <class Index, class... Vectors>
void check_owned(const Slices<Index> &matrix, const Vectors &...vectors) {
    check_matrix(matrix);
    const std::int64_t rows = matrix.height == 1 ? matrix.slices : 0;
    (native::check_length("a vector of the rows", vectors.size(), rows), ...);
}

/// A matrix whose slices are rows in their places, which is how a CPU lays it out: its meta data is
/// where each row begins, and where the last one ends.
template <class Index> struct PlainRows {
    struct Row {
        std::int64_t begin, end;
    };

    native::Grid<const Index> starts;
    native::Span<const Index> indices;
    Numbers values;

    /// Call take(i, row) for each row i of a slice.
    template <class Take> void each_row(std::int64_t at, const Take &take) const {
        take(at, Row{starts(at, 0), starts(at + 1, 0)});
    }

    /// Call take(value, column) for each entry of a row.
    template <class Take> void each_entry(const Row &row, const Take &take) const {
#pragma GCC unroll 4 // rows are short: their jumps take as long as their sums
        for (std::int64_t entry = row.begin; entry < row.end; ++entry)
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
        const std::int64_t first = matrix.meta(at, 2);
        const int code = matrix.meta(at, 3);
        for (std::int64_t which = 0; which < slice_rows(code); ++which)
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
    /// Slices of rows with units of their own follow each other; the first says how many.
    Row row_of(std::int64_t at, std::int64_t which) const {
        const int code = matrix.meta(at, 3), lanes = slice_lanes(code);
        const std::int64_t first = std::int64_t{matrix.meta(at, 0)} * matrix.height;
        const std::int64_t steps = matrix.meta(at, 1), slices = slice_kind(code) ? code >> 12 : 1;
        return {first + which * lanes, steps * slices, matrix.height, lanes};
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

using Slices32 = Slices<std::int32_t>;
using Slices64 = Slices<std::int64_t>;
NATIVE_STRUCT(Slices32, slices, height, meta, indices, values, table, splits, partials, tickets)
NATIVE_STRUCT(Slices64, slices, height, meta, indices, values, table, splits, partials, tickets)
