// Where a value stands that the way back had to choose: what the basis needs to know of it.
#pragma once

#include <cstdint>

namespace presolve::light {

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

} // namespace presolve::light
