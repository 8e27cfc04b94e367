// What loops read of a model, as model.py lays it out.
#pragma once

#include "native/bindings.h"

namespace mip {

/// By how much a row may be missed.
inline constexpr double FEASIBILITY_TOLERANCE = 1e-6;

/// Violation that heuristics leave, and coefficients that move nothing: a tenth of the tolerance.
inline constexpr double SLOP = 1e-7;

/// Difference that is put down to rounding, relative to what is compared, and steps, coefficients
/// and changes of bounds that count as none.
inline constexpr double SAME = 1e-9;

/// What sums lose in rounding, relative to their terms: a hundred thousand entries lose less.
inline constexpr double ROUNDING = 1e-12;

/// Bounds beyond this count as none, and no column goes there: a double no longer tells integers
/// apart.
inline constexpr double LARGEST_BOUND = 1e15;

using SparseRows = native::SparseRows<std::int32_t>;

/// A, its transpose, and which columns are integer.
struct Matrix {
    SparseRows rows, columns;
    native::Span<const std::uint8_t> is_integer;
};

struct Model : Matrix {
    native::Span<const double> cost, lower, upper, row_lower, row_upper;
};

/// Refuse arrays that do not belong together: of m rows and n columns.
inline void check_shapes(const Matrix &matrix, std::int64_t m, std::int64_t n) {
    native::check_rows("rows", matrix.rows, m);
    native::check_rows("columns", matrix.columns, n);
    native::check_length("is_integer", matrix.is_integer.size(), n);
}

inline void check_shapes(const Model &model) {
    const std::int64_t m = model.row_lower.size(), n = model.cost.size();
    check_shapes(model, m, n);
    native::check_length("row_upper", model.row_upper.size(), m);
    native::check_length("lower", model.lower.size(), n);
    native::check_length("upper", model.upper.size(), n);
}

} // namespace mip

NATIVE_STRUCT(mip::Matrix, rows, columns, is_integer)
NATIVE_STRUCT(mip::Model, rows, columns, is_integer, cost, lower, upper, row_lower, row_upper)
