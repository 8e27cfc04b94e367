// How columns and rows stand in a basis, and what it needs to know of a value that the way back
// chose.
#pragma once

#include <cstdint>

namespace presolve::light {

/// Where a value stands that the way back had to choose.
enum Place : std::int64_t {
    // a column that was slack of its row
    COLUMN_AT_BOUND,
    ROW_AT_LOWER,
    ROW_AT_UPPER,
    // two columns that were one
    SECOND_AT_LEAST,
    SECOND_AT_MOST,
    FIRST_AT_LOWER,
    FIRST_AT_UPPER
};

/// Sides of a row or column that came from another, as steps have them in their payload.
inline constexpr std::int64_t LOWER_SIDE = 1, UPPER_SIDE = 2;

/// The numbers of solvers/core/outcome.py.
enum Status : std::int8_t { LOWER, BASIC, UPPER, ZERO };

/// Multipliers up to this size do not decide what is basic.
inline constexpr double NOISE = 1e-9;

} // namespace presolve::light
