// Splitting a choice of items among knapsacks, and improving what has become of it.
//
// A surrogate problem, one knapsack with all the capacity, chooses items; filling the knapsacks one
// after the other by subset sums packs them all, where there is enough freedom (Pisinger 1999,
// section 3.1). Where that fails, pairs of knapsacks are emptied and filled again, and single ones
// with what was left outside.
#include <vector>

#include "native/bindings.h"
#include "subset_sum.h"

namespace knapsack::multiple {
namespace {

/// Items that are kept for the exact end of a filling, where there are many.
constexpr std::int64_t LAST_ITEMS = 40;

/// Items up to which all are in the subset sum, if the sums are few enough.
constexpr std::int64_t ALL_ITEMS = 250;

/// Product of items and capacity up to which all items are in it.
constexpr std::int64_t ALL_SUMS = 2'000'000;

/// Items outside that are candidates for a knapsack, the most efficient ones first.
constexpr std::int64_t MOST_OUTSIDE = 60;

/// Nodes of a search for the best filling of one knapsack or two.
constexpr std::int64_t NODES = 2'000;

using Values = std::vector<std::int64_t>;

Integers view(const Values &values) {
    return {values.data(), static_cast<std::int64_t>(values.size())};
}

/// Pack items into knapsacks in the order of both; return how many are left over.
///
/// ``order`` lists the items wanted; ``place`` is -1 for them and becomes their knapsack.
std::int64_t split(Integers weight, Integers capacity, Integers order, Span<std::int64_t> place) {
    native::check_length("place", place.size(), weight.size());
    const std::int64_t n = order.size();
    Values small(n), kept(n);
    const Flags chosen(n);
    std::int64_t left = n;
    for (std::int64_t j = 0; j < capacity.size() && left > 0; ++j) {
        native::poll();
        std::int64_t room = capacity[j], total = 0;
        for (const std::int64_t i : order)
            if (place[i] < 0)
                total += weight[i];
        const bool all = left <= ALL_ITEMS && room <= ALL_SUMS / left;
        const std::int64_t end = all ? left : LAST_ITEMS;
        const std::int64_t margin = total / left * (end / 2);
        // first of all items without thought, until the end is near
        for (const std::int64_t i : order) {
            if (end == left || room <= margin)
                break;
            if (place[i] < 0 && weight[i] <= room) {
                place[i] = j;
                room -= weight[i];
                --left;
            }
        }
        std::int64_t count = 0;
        for (const std::int64_t i : order)
            if (place[i] < 0 && weight[i] <= room && count < end) {
                small[count] = weight[i];
                kept[count] = i;
                ++count;
            }
        closest_subset(view(small), count, room, chosen);
        for (std::int64_t k = 0; k < count; ++k)
            if (chosen[k]) {
                place[kept[k]] = j;
                --left;
            }
    }
    return left;
}

/// Items that go into knapsacks, and what those in there now are worth.
struct Candidates {
    Values item, profit, weight;
    std::int64_t outside = 0, before = 0;

    std::int64_t count() const { return static_cast<std::int64_t>(item.size()); }
};

/// Knapsacks, what is in them, and random numbers.
class Packing {
  public:
    Packing(Integers profit, Integers weight, Integers capacity, Span<std::int64_t> place,
            std::int64_t seed)
        : profit_(profit), weight_(weight), capacity_(capacity), place_(place), state_(seed) {}

    /// Fill a knapsack as well as its items and some outside allow; return the profit gained.
    std::int64_t refill(std::int64_t j) {
        const Candidates at_hand = candidates(j, j, capacity_[j]);
        if (at_hand.outside == 0)
            return 0;
        const Flags chosen(at_hand.count());
        const std::int64_t found = best_of(at_hand, capacity_[j], chosen);
        if (found > at_hand.before)
            for (std::int64_t k = 0; k < at_hand.count(); ++k)
                place_[at_hand.item[k]] = chosen[k] ? j : -1;
        return found - at_hand.before;
    }

    /// Fill two knapsacks together as well as possible and divide that; return the profit gained.
    ///
    /// Where that cannot be divided, the items at hand are divided anew, the first knapsack as full
    /// as possible, so that the room of both is in the second.
    std::int64_t refill_pair(std::int64_t a, std::int64_t b) {
        const std::int64_t room = capacity_[a] + capacity_[b];
        const Candidates at_hand = candidates(a, b, room);
        const Flags chosen(at_hand.count());
        const std::int64_t found = best_of(at_hand, room, chosen);
        Values items;
        items.reserve(at_hand.count());
        if (found != at_hand.before) {
            for (std::int64_t k = 0; k < at_hand.count(); ++k)
                if (chosen[k])
                    items.push_back(at_hand.item[k]);
            if (divide(items, a, b)) {
                for (std::int64_t k = 0; k < at_hand.count(); ++k)
                    if (!chosen[k])
                        place_[at_hand.item[k]] = -1;
                return found - at_hand.before;
            }
        }
        items.clear();
        for (const std::int64_t i : at_hand.item)
            if (place_[i] >= 0)
                items.push_back(i);
        return divide(items, a, b) ? refill(b) : 0;
    }

    /// Draw a random number, by the generator of Lewis, Goodman and Miller (1969).
    std::int64_t drawn(std::int64_t below) {
        state_ = native::floor_modulo<std::int64_t>(state_ * 16807, 2147483647);
        return state_ % below;
    }

  private:
    /// Return what may be in knapsacks a and b: their items, and some outside.
    Candidates candidates(std::int64_t a, std::int64_t b, std::int64_t room) const {
        Candidates found;
        const std::int64_t n = profit_.size();
        for (Values *values : {&found.item, &found.profit, &found.weight})
            values->reserve(n);
        for (std::int64_t i = 0; i < n; ++i) {
            if (place_[i] == a || place_[i] == b)
                found.before += profit_[i];
            else if (place_[i] >= 0 || found.outside >= MOST_OUTSIDE || weight_[i] > room)
                continue;
            else
                ++found.outside;
            found.item.push_back(i);
            found.profit.push_back(profit_[i]);
            found.weight.push_back(weight_[i]);
        }
        return found;
    }

    /// Choose the best candidates that fit; return their profit, or that of what is there now.
    static std::int64_t best_of(const Candidates &at_hand, std::int64_t room, Span<bool> chosen) {
        return best_subset(view(at_hand.profit), view(at_hand.weight), at_hand.count(), room,
                           at_hand.before, NODES, chosen)
            .first;
    }

    /// Divide items among two knapsacks, the first as full as possible; false if they do not fit.
    ///
    /// They are shuffled before: another order gives another division.
    bool divide(Values &items, std::int64_t a, std::int64_t b) {
        const std::int64_t count = static_cast<std::int64_t>(items.size());
        for (std::int64_t k = count - 1; k > 0; --k)
            std::swap(items[k], items[drawn(k + 1)]);
        Values weights(count);
        std::int64_t rest = 0;
        for (std::int64_t k = 0; k < count; ++k)
            rest += weights[k] = weight_[items[k]];
        const Flags first(count);
        rest -= closest_subset(view(weights), count, capacity_[a], first);
        if (rest > capacity_[b])
            return false;
        for (std::int64_t k = 0; k < count; ++k)
            place_[items[k]] = first[k] ? a : b;
        return true;
    }

    Integers profit_, weight_, capacity_;
    Span<std::int64_t> place_;
    std::int64_t state_;
};

/// Refill knapsacks, alone and in pairs, until the profit is ``target``; return the profit.
///
/// ``rounds`` is how often, without success, until it is given up, and a tenth of how often at all.
/// It ends where ``stop[0]`` is set, too.
std::int64_t improve(Integers profit, Integers weight, Integers capacity, Span<std::int64_t> place,
                     std::int64_t target, std::int64_t rounds, std::int64_t seed,
                     Span<const std::int8_t> stop) {
    native::check_lengths(profit.size(), {{"weight", weight}, {"place", place}});
    native::check_length("stop", stop.size(), 1);
    Packing packing(profit, weight, capacity, place, seed);
    const std::int64_t m = capacity.size();
    std::int64_t now = 0;
    for (std::int64_t i = 0; i < profit.size(); ++i)
        if (place[i] >= 0)
            now += profit[i];
    for (std::int64_t j = 0; j < m && !native::is_set(stop); ++j)
        now += packing.refill(j);
    std::int64_t idle = 0;
    for (std::int64_t round = 0; round < 10 * rounds; ++round) {
        if (now >= target || idle >= rounds || m < 2 || native::is_set(stop))
            break;
        native::poll();
        const std::int64_t a = packing.drawn(m);
        std::int64_t b = packing.drawn(m - 1);
        b += b >= a;
        const std::int64_t gained = packing.refill_pair(a, b);
        now += gained;
        idle = gained > 0 ? 0 : idle + 1;
    }
    return now;
}

} // namespace
} // namespace knapsack::multiple

NATIVE_MODULE(knapsack_multiple_split) {
    using namespace knapsack::multiple;
    native::expose(module, "split", &split, "weight", "capacity", "order", "place");
    native::expose(module, "improve", &improve, "profit", "weight", "capacity", "place", "target",
                   "rounds", "seed", "stop");
}
