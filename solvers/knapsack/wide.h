// Products of two whole numbers compared exactly: 64 bits are not enough for them.
//
// An efficiency is a ratio of two numbers of up to 62 bits, so that comparing two takes products of
// 124 bits, which are two instructions each.
#pragma once

#include <cstdint>

namespace knapsack {

__extension__ using Wide = __int128;

/// Whether a * b > c * d, exactly.
inline bool exceeds(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    return static_cast<Wide>(a) * b > static_cast<Wide>(c) * d;
}

} // namespace knapsack
