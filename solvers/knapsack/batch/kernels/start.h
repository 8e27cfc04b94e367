// What a problem goes through before its search: form, order, first packings, bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "native/arrays.h"

namespace knapsack::many {

using native::Span;
using Integers = Span<const std::int64_t>;

/// Items that one word of a history holds.
inline constexpr std::int64_t WORD = 64;

/// Two of them can be added in 64 bits, with more room than rounding to double precision takes.
inline constexpr double LARGEST_PRODUCT = 4e18;

/// Words with a bit for each item.
class Bits {
  public:
    explicit Bits(std::int64_t words) : words_(words) {}

    void clear() { std::fill(words_.begin(), words_.end(), 0); }
    bool has(std::int64_t item) const { return (words_[item / WORD] >> (item % WORD)) & 1; }
    void flip(std::int64_t item) { words_[item / WORD] ^= std::uint64_t{1} << (item % WORD); }
    void set(std::int64_t item) { words_[item / WORD] |= std::uint64_t{1} << (item % WORD); }
    std::uint64_t &word(std::int64_t number) { return words_[number]; }
    std::uint64_t word(std::int64_t number) const { return words_[number]; }
    std::int64_t words() const { return static_cast<std::int64_t>(words_.size()); }

  private:
    std::vector<std::uint64_t> words_;
};

/// Items by falling efficiency, all of positive profit and weight.
struct Items {
    std::int64_t count = 0;
    std::vector<std::int64_t> profit, weight;
    std::vector<std::int64_t> profit_before, weight_before; // of the items before each
    std::vector<std::int64_t> opposite;                     // bound against the break solution
    std::vector<std::int64_t> origin;                       // place among the given items

    explicit Items(std::int64_t most)
        : profit(most), weight(most), profit_before(most + 1), weight_before(most + 1),
          opposite(most), origin(most) {}

    /// Return the item at which so much weight is exceeded, the heaviest items left out.
    std::int64_t break_item(std::int64_t capacity) const {
        const auto end = weight_before.begin() + count + 1;
        return std::upper_bound(weight_before.begin(), end, capacity) - weight_before.begin() - 1;
    }

    /// Put an item behind all that are no less efficient.
    void insert(std::int64_t item_profit, std::int64_t item_weight, std::int64_t item_origin) {
        std::int64_t at = count++;
        while (at > 0 && item_profit * weight[at - 1] > profit[at - 1] * item_weight) {
            profit[at] = profit[at - 1];
            weight[at] = weight[at - 1];
            origin[at] = origin[at - 1];
            --at;
        }
        profit[at] = item_profit;
        weight[at] = item_weight;
        origin[at] = item_origin;
    }
};

/// A problem's capacity in the units of its form, and how to tell a given profit from one in it.
struct Form {
    std::int64_t capacity, profit_unit, base;
};

/// Whether some product that the search computes might not fit in 64 bits.
inline bool too_large(Integers profit, Integers weight) {
    double most_profit = 0.0, most_weight = 0.0;
    for (std::int64_t j = 0; j < profit.size(); ++j) {
        most_profit = std::max(most_profit, std::abs(double(profit[j])));
        most_weight = std::max(most_weight, std::abs(double(weight[j])));
    }
    const double count = double(profit.size() + 1);
    return count * (most_profit + 1.0) * (most_weight + 1.0) > LARGEST_PRODUCT;
}

/// Return the greatest common divisor, 1 of no numbers.
inline std::int64_t divisor(const std::vector<std::int64_t> &values, std::int64_t count) {
    std::int64_t found = 0;
    for (std::int64_t j = 0; j < count && found != 1; ++j)
        found = std::gcd(values[j], found);
    return std::max<std::int64_t>(found, 1);
}

/// Divide profits and weights by what divides them all, and add them up.
inline void settle_units(Items &items, std::int64_t profit_unit, std::int64_t weight_unit) {
    items.profit_before[0] = items.weight_before[0] = 0;
    for (std::int64_t j = 0; j < items.count; ++j) {
        if (profit_unit > 1)
            items.profit[j] /= profit_unit;
        if (weight_unit > 1)
            items.weight[j] /= weight_unit;
        items.profit_before[j + 1] = items.profit_before[j] + items.profit[j];
        items.weight_before[j + 1] = items.weight_before[j] + items.weight[j];
    }
}

/// Bring a problem into its form.
///
/// ``turned`` gets the bits of the items that are packed before anything else.
inline Form arrange(Integers profit, Integers weight, std::int64_t capacity, Items &items,
                    Bits &turned) {
    std::int64_t total = 0, base = 0;
    for (const std::int64_t one : weight)
        total += std::abs(one);
    std::int64_t room = std::max(std::min(capacity, total), -total - 1);
    for (std::int64_t j = 0; j < profit.size(); ++j)
        if (weight[j] < 0 || (weight[j] == 0 && profit[j] > 0)) {
            turned.set(j);
            room -= weight[j];
            base += profit[j];
        }
    items.count = 0;
    for (std::int64_t j = 0; j < profit.size(); ++j) {
        const std::int64_t sign = turned.has(j) ? -1 : 1;
        if (sign * profit[j] > 0 && sign * weight[j] <= room)
            items.insert(sign * profit[j], sign * weight[j], j);
    }
    const std::int64_t profit_unit = divisor(items.profit, items.count);
    const std::int64_t weight_unit = divisor(items.weight, items.count);
    settle_units(items, profit_unit, weight_unit);
    if (room > 0)
        room /= weight_unit;
    return {room, profit_unit, base};
}

/// Add to the break solution in ``flags`` whatever still fits, in order; return the profit.
inline std::int64_t greedy_packing(const Items &items, std::int64_t capacity, std::int64_t broken,
                                   Bits &flags) {
    std::int64_t total = items.profit_before[broken];
    std::int64_t room = capacity - items.weight_before[broken];
    for (std::int64_t j = broken + 1; j < items.count; ++j)
        if (items.weight[j] <= room) {
            room -= items.weight[j];
            total += items.profit[j];
            flags.set(j);
        }
    return total;
}

/// Put one item into the break solution, or the break item for another; return what is best.
inline std::int64_t best_exchange(const Items &items, std::int64_t capacity, std::int64_t broken,
                                  std::int64_t best, const Bits &start, Bits &flags) {
    const std::int64_t base = items.profit_before[broken];
    const std::int64_t room = capacity - items.weight_before[broken];
    std::int64_t found = -1;
    for (std::int64_t j = 0; j < items.count; ++j) {
        const bool in = j >= broken;
        const std::int64_t value =
            base + (in ? items.profit[j] : items.profit[broken] - items.profit[j]);
        const std::int64_t weight = in ? items.weight[j] : items.weight[broken] - items.weight[j];
        if (weight <= room && value > best) {
            best = value;
            found = j;
        }
    }
    if (found >= 0) {
        flags = start;
        flags.flip(found);
        if (found < broken)
            flags.flip(broken);
    }
    return best;
}

/// Bound each item's best packing against the break solution, rounded down.
inline void bound_opposites(Items &items, std::int64_t capacity, std::int64_t broken) {
    for (std::int64_t j = 0; j < items.count; ++j) {
        const std::int64_t sign = j < broken ? 1 : -1;
        const std::int64_t room = capacity + sign * items.weight[j];
        const std::int64_t k = items.break_item(room);
        std::int64_t bound = items.profit_before[k] - sign * items.profit[j];
        if (k < items.count)
            bound += (room - items.weight_before[k]) * items.profit[k] / items.weight[k];
        items.opposite[j] = bound;
    }
}

} // namespace knapsack::many
