// Patterns: choices of items for one knapsack, priced and listed.
//
// Every item costs its price u_i where it is packed, so that a pattern is worth the sum of
// p_i - u_i. The bound of Lagrange's relaxation is the sum of all prices and of every knapsack's
// best pattern; a packing falls short of it by what its patterns are worth less than the best, the
// patterns' slacks, and by the prices of the items left out. So a packing worth a target has
// patterns of small slack only, and these can be listed. Prices are whole numbers, and everything
// here is exact.
#include <tuple>
#include <vector>

#include "native/bindings.h"
#include "subset_sum.h"

namespace knapsack::multiple {
namespace {

using native::Grid;

/// Nodes of a search for a best pattern; beyond them the bound of its relaxation has to do.
constexpr std::int64_t PRICING_NODES = 50'000;

/// Why a listing ended early.
constexpr std::int64_t NO_ROOM = -1, UNFINISHED = -2;

/// Items that fit into a knapsack, by falling value per weight.
struct Fitting {
    std::vector<std::int64_t> value, weight, item;

    explicit Fitting(std::int64_t most) {
        value.reserve(most);
        weight.reserve(most);
        item.reserve(most);
    }
    void add(std::int64_t item_value, std::int64_t item_weight, std::int64_t i) {
        value.push_back(item_value);
        weight.push_back(item_weight);
        item.push_back(i);
    }
    std::int64_t count() const { return static_cast<std::int64_t>(item.size()); }
    Integers values() const { return {value.data(), count()}; }
    Integers weights() const { return {weight.data(), count()}; }
};

/// Return the value of the relaxation over items from ``first`` on.
inline double relaxed(Integers value, Integers weight, std::int64_t first, std::int64_t count,
                      std::int64_t now, std::int64_t room) {
    std::int64_t bound = now, left = room, k = first;
    while (k < count && weight[k] <= left && value[k] > 0) {
        left -= weight[k];
        bound += value[k];
        ++k;
    }
    if (k < count && value[k] > 0)
        return double(bound) + double(left) * (double(value[k]) / double(weight[k]));
    return double(bound);
}

/// Find a pattern of largest value among items not ``used``, and mark its items there as well.
///
/// Return its value and a bound on every pattern's. ``order`` lists items by falling value per
/// weight.
std::tuple<std::int64_t, std::int64_t> best_pattern(Integers value, Integers weight, Integers order,
                                                    std::int64_t capacity, Span<bool> used) {
    Fitting fitting(order.size());
    for (const std::int64_t i : order)
        if (value[i] > 0 && !used[i] && weight[i] <= capacity)
            fitting.add(value[i], weight[i], i);
    const std::int64_t count = fitting.count();
    const Flags chosen(count);
    const auto [best, finished] =
        best_subset(fitting.values(), fitting.weights(), count, capacity, 0, PRICING_NODES, chosen);
    if (best > 0)
        for (std::int64_t k = 0; k < count; ++k)
            if (chosen[k])
                used[fitting.item[k]] = true;
    if (finished)
        return {best, best};
    const double bound = relaxed(fitting.values(), fitting.weights(), 0, count, 0, capacity);
    return {best, static_cast<std::int64_t>(bound * (1.0 + ERROR)) + 1};
}

/// Where patterns go: pattern k has items ``item[k, :length[k]]`` and is worth ``worth[k]``.
struct Listed {
    Grid<std::int16_t> item;
    Span<std::int64_t> length, worth;
    std::int64_t found = 0;

    /// Add a pattern of ``depth`` fitting items; false without room.
    bool add(const Fitting &fitting, const std::vector<std::int64_t> &path, std::int64_t depth,
             std::int64_t value) {
        if (found == worth.size() || depth > item.shape(1))
            return false;
        for (std::int64_t place = 0; place < depth; ++place)
            item(found, place) = static_cast<std::int16_t>(fitting.item[path[place]]);
        length[found] = depth;
        worth[found] = value;
        ++found;
        return true;
    }
};

/// List patterns of fitting items, depth first; ``list_patterns`` says what is returned.
std::int64_t list_fitting(const Fitting &fitting, std::int64_t capacity, std::int64_t least,
                          std::int64_t lightest, std::int64_t nodes, Listed &listed) {
    const Integers value = fitting.values(), weight = fitting.weights();
    const std::int64_t count = fitting.count();
    // what the items from k on weigh together
    std::vector<std::int64_t> rest(count + 1);
    for (std::int64_t k = count - 1; k >= 0; --k)
        rest[k] = rest[k + 1] + weight[k];
    std::vector<std::int64_t> path(count + 1), following(count + 2);
    const auto reaches = [&](std::int64_t first, std::int64_t now, std::int64_t room) {
        return relaxed(value, weight, first, count, now, room) * (1.0 + ERROR) + ERROR >=
               double(least);
    };
    std::int64_t depth = 0, now = 0, room = capacity;
    if (now >= least && lightest <= 0 && !listed.add(fitting, path, 0, 0))
        return NO_ROOM;
    for (std::int64_t node = 0; node < nodes; ++node) {
        if ((node & 4095) == 0)
            native::poll();
        const std::int64_t k = following[depth];
        if (k < count && reaches(k, now, room)) {
            following[depth] = k + 1;
            if (weight[k] > room || capacity - room + rest[k] < lightest)
                continue;
            if (!reaches(k + 1, now + value[k], room - weight[k]))
                continue;
            path[depth] = k;
            now += value[k];
            room -= weight[k];
            ++depth;
            following[depth] = k + 1;
            if (now >= least && capacity - room >= lightest &&
                !listed.add(fitting, path, depth, now))
                return NO_ROOM;
            continue;
        }
        if (depth == 0)
            return listed.found;
        --depth;
        now -= value[path[depth]];
        room += weight[path[depth]];
    }
    return UNFINISHED;
}

/// List patterns worth ``least`` that weigh ``lightest``; return how many.
///
/// Pattern k gets items ``item[k, :length[k]]`` and its value ``worth[k]``. Where there are more
/// than rows, or a longer one, ``NO_ROOM`` is returned; after ``nodes``, ``UNFINISHED``.
std::int64_t list_patterns(Integers value, Integers weight, Integers order, std::int64_t capacity,
                           std::int64_t least, std::int64_t lightest, std::int64_t nodes,
                           Grid<std::int16_t> item, Span<std::int64_t> length,
                           Span<std::int64_t> worth) {
    native::check_length("item", item.shape(0), worth.size());
    native::check_length("length", length.size(), worth.size());
    Fitting fitting(order.size());
    for (const std::int64_t i : order)
        if (weight[i] <= capacity)
            fitting.add(value[i], weight[i], i);
    Listed listed{item, length, worth};
    return list_fitting(fitting, capacity, least, lightest, nodes, listed);
}

} // namespace
} // namespace knapsack::multiple

NATIVE_MODULE(knapsack_multiple_patterns) {
    using namespace knapsack::multiple;
    native::expose(module, "best_pattern", &best_pattern, "value", "weight", "order", "capacity",
                   "used");
    native::expose(module, "list_patterns", &list_patterns, "value", "weight", "order", "capacity",
                   "least", "lightest", "nodes", "item", "length", "worth");
    NATIVE_CONSTANTS(module, "solvers.knapsack.multiple.listed", UNFINISHED);
}
