// Efficiencies compared exactly, and Dantzig's bound on what items bring by falling efficiency.
#pragma once

#include <algorithm>
#include <cstdint>

#include "native/bindings.h"

namespace knapsack {

/// Products of two numbers of up to 62 bits; comparing two efficiencies takes such.
__extension__ using Wide = __int128;

/// Whether a * b > c * d, exactly.
inline bool exceeds(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    return static_cast<Wide>(a) * b > static_cast<Wide>(c) * d;
}

using native::Span;

/// Products below this, in double precision, do not overflow 64 bits.
inline constexpr double SAFE_PRODUCT = 9.0e18;

/// Factor that makes a quotient computed in double precision too large rather than too small.
inline constexpr double BROAD = 1.0 + 1e-15;

/// The last place of a rising vector, from 0 on, whose value does not exceed ``limit``; 0 if none.
inline std::int64_t last_up_to(Span<const std::int64_t> rising, std::int64_t limit) {
    const std::int64_t *behind = std::upper_bound(rising.begin(), rising.end(), limit);
    return std::max<std::int64_t>(behind - rising.begin() - 1, 0);
}

/// Things by falling efficiency, and the sums before each (n + 1,).
struct Sorted {
    Span<const std::int64_t> profit, weight, profit_before, weight_before;

    std::int64_t size() const { return profit.size(); }
};

/// Refuse arrays that do not fit together.
inline void check_sorted(const Sorted &things) {
    native::check_length("weight", things.weight.size(), things.size());
    native::check_lengths(things.size() + 1, {{"profit_before", things.profit_before},
                                              {"weight_before", things.weight_before}});
}

/// An upper bound on the relaxation's value at any capacity >= 0, rounded down.
///
/// It is exact where the product of profit and rest stays below 2^63, else up to 1 too large for
/// every 1e15 of the last item's profit.
inline std::int64_t relaxed(const Sorted &things, std::int64_t capacity) {
    const std::int64_t k = last_up_to(things.weight_before, capacity);
    const std::int64_t before = things.profit_before[k];
    if (k >= things.size())
        return before;
    const std::int64_t profit = things.profit[k], weight = things.weight[k];
    const std::int64_t rest = capacity - things.weight_before[k];
    const double product = static_cast<double>(rest) * static_cast<double>(profit);
    if (product < SAFE_PRODUCT)
        return before + native::floor_divide(rest * profit, weight);
    const double part = product / static_cast<double>(weight) * BROAD;
    return before + std::min(static_cast<std::int64_t>(part) + 1, profit);
}

/// Bounds item j's best packing against the break solution: out if that has it, else in.
///
/// An item whose bound does not exceed the best known profit stays as the break solution has it
/// (Dembo and Hammer's reduction with each item's own break item).
inline std::int64_t opposite_bound(const Sorted &items, std::int64_t capacity,
                                   std::int64_t break_item, std::int64_t j) {
    const std::int64_t profit = items.profit[j], weight = items.weight[j];
    if (j < break_item)
        return relaxed(items, capacity + weight) - profit;
    return weight > capacity ? 0 : relaxed(items, capacity - weight) + profit;
}

} // namespace knapsack

NATIVE_STRUCT(knapsack::Sorted, profit, weight, profit_before, weight_before)
