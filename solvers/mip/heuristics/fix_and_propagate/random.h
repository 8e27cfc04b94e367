// Random numbers for compiled loops: one 64-bit state per dive, the same on every machine.
//
// The generator is SplitMix64 (Steele, Lea, Flood 2014): one addition and three mixing steps.
#pragma once

#include "native/bindings.h"

namespace mip::fix_and_propagate {

/// The state (1,).
using RandomState = native::Span<std::uint64_t>;

/// Draw a number from [0, 1).
inline double uniform(RandomState state) {
    std::uint64_t z = state[0] + 0x9E3779B97F4A7C15U;
    state[0] = z;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    z = z ^ (z >> 31);
    return static_cast<double>(z >> 11) / 9007199254740992.0;
}

/// Draw a whole number from 0 to ``end - 1``.
inline std::int64_t below(RandomState state, std::int64_t end) {
    return std::min(end - 1, static_cast<std::int64_t>(uniform(state) * static_cast<double>(end)));
}

} // namespace mip::fix_and_propagate
