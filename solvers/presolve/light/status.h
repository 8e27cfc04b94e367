// How columns and rows stand in a basis.
#pragma once

#include <cstdint>

namespace presolve::light {

/// The numbers of solvers/core/outcome.py.
enum Status : std::int8_t { LOWER, BASIC, UPPER, ZERO };

/// Multipliers up to this size do not decide what is basic.
inline constexpr double NOISE = 1e-9;

} // namespace presolve::light
