// The point of point.cuh from arrays of Python.
#pragma once

#include "native/bindings.h"

namespace {

using REAL = double;
using INDEX = std::int32_t;
using IS_INTEGER_T = std::int32_t;
#include "point.cuh"

using Numbers = native::Span<const REAL>;
using Ints = native::Span<const INDEX>;

inline Point point_of(Ints column_start, Ints column_row, Numbers column_value, Numbers row_lower,
                      Numbers row_upper, Numbers activity, Numbers cost, Numbers lower,
                      Numbers upper, Numbers x, Ints is_integer) {
    const std::int64_t rows = row_lower.size(), columns = cost.size();
    native::check_length("column_start", column_start.size(), columns + 1);
    native::check_length("column_row", column_row.size(), column_start[columns]);
    native::check_length("column_value", column_value.size(), column_start[columns]);
    native::check_length("row_upper", row_upper.size(), rows);
    native::check_length("activity", activity.size(), rows);
    native::check_length("lower", lower.size(), columns);
    native::check_length("upper", upper.size(), columns);
    native::check_length("x", x.size(), columns);
    native::check_length("is_integer", is_integer.size(), columns);
    return {column_start.data(), column_row.data(), column_value.data(), row_lower.data(),
            row_upper.data(),    activity.data(),   cost.data(),         lower.data(),
            upper.data(),        x.data(),          is_integer.data()};
}

} // namespace
