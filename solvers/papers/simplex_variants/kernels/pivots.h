// What the loops of the paper's solver share: views of arrays, and the exchange of two variables.
#pragma once

#include "native/bindings.h"
#include "native/numbers.h"
#include "native/threads.h"

namespace simplex::paper {
using REAL = double;
using INDEX = std::int32_t;
} // namespace simplex::paper

#include "rules.cuh"

NATIVE_STRUCT(simplex::paper::Matrix, starts, rows, values)
NATIVE_STRUCT(simplex::paper::Shape, size, stride, columns, parts)
NATIVE_STRUCT(simplex::paper::Costs, cost, y, pivot_row, position, basic_cost)
NATIVE_STRUCT(simplex::paper::Offers, offered, reduced, weight, offers)

namespace simplex::paper {

using native::check_lengths;

using Index = INDEX;
using Reals = native::Span<const double>;
using Ints = native::Span<const Index>;
using RealsOut = native::Span<double>;
using IntsOut = native::Span<Index>;
using Choice = Candidate<double, Index>;

/// Numbers of control that kernels read.
inline constexpr std::int64_t CONTROL_SIZE = 32;

inline constexpr Choice NOBODY = {0.0, -1};

inline Index at(std::int64_t i) { return static_cast<Index>(i); }

/// Add a multiple of a vector to another one, for the width of vectors that the processor has.
[[maybe_unused]] NATIVE_HOT static void add_multiple(double *__restrict line, double factor,
                                                     const double *__restrict other,
                                                     std::int64_t size) {
    for (std::int64_t i = 0; i < size; ++i)
        line[i] += factor * other[i];
}

inline void check(const Matrix &matrix, std::int64_t columns) {
    check_lengths(columns + 1, {{"starts", matrix.starts}});
    check_lengths(matrix.starts[columns], {{"rows", matrix.rows}, {"values", matrix.values}});
}

/// The basic variables as the ratio test sees them.
struct Basic {
    std::int64_t columns;
    Reals x;
    Ints variable;
    Reals d, control;

    bool artificial(std::int64_t i) const { return variable[i] >= columns; }
    Ratio<double> ratio(std::int64_t i) const {
        return ratio_of(x[i], d[i], artificial(i), control.data());
    }
    /// What speaks for position i to leave: its pivot element, or Bland's rule.
    double key(std::int64_t i) const {
        return control[BLAND] != 0.0 ? static_cast<double>(-variable[i]) : std::fabs(d[i]);
    }
};

/// Exchange the entering variable and the one at r, or say that the pivot is too small.
inline bool exchange_at(Index r, double step, double pivot, IntsOut basic, IntsOut position,
                        RealsOut control) {
    if (!is_safe(pivot, control.data()))
        return false;
    const Index q = static_cast<Index>(control[ENTERING]);
    position[basic[r]] = -1;
    position[q] = r;
    basic[r] = q;
    note_pivot(r, step, pivot, control.data());
    return true;
}

} // namespace simplex::paper
