// What an annealing over groups holds (see state.py).
#pragma once

#include <cstdint>

#include "mip/model.h"

namespace mip::annealing {

using native::Grid;
using native::Span;

/// Places of ``numbers``.
constexpr std::int64_t ENERGY = 0, WORK = 1, MOVES = 2, STAMP = 3;

struct State {
    SparseRows by_column;
    Span<const std::int32_t> start, column, value;
    Grid<const std::int32_t> table;
    Span<const double> lower, upper, weight;
    Span<double> activity, delta;
    Span<std::int64_t> stamp;
    Span<std::int32_t> touched, holder, current, best;
    Span<double> numbers;
    Span<std::uint64_t> random;
};

} // namespace mip::annealing
