// What loops share with model.py.
#pragma once

namespace mip {

/// By how much a row may be missed.
inline constexpr double FEASIBILITY_TOLERANCE = 1e-6;

} // namespace mip
