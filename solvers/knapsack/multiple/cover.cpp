// Choosing listed patterns that pack items at most once: a search within a budget of slack.
//
// A packing is worth the bound less the slacks of its patterns and the prices of the items left
// out, so that a target leaves a budget; and what it weighs at least leaves one of waste. Every
// node is made smaller first (narrow.h), and dropped where its surrogate problem, one knapsack with
// all the room left, is worth too little. It then branches on the item or kind of knapsack with the
// fewest patterns: with the cheapest of them, and without it.
#include <vector>

#include "narrow.h"
#include "native/bindings.h"
#include "subset_sum.h"

namespace knapsack::multiple {
namespace {

/// Nodes of a search for the surrogate problem of a node; without its end nothing is concluded.
constexpr std::int64_t SURROGATE_NODES = 300;

/// Why a search returns.
enum : std::int64_t { FINISHED, PAUSED, NO_ROOM };

/// Return the item that the fewest patterns hold, or the number of items and the kind.
std::int64_t scarcest(const Cover &cover, const Stack &stack, std::int64_t level,
                      std::int64_t slack, const Counted &counted) {
    const std::int64_t n = cover.items();
    std::int64_t scarce = -1, fewest = FAR;
    for (std::int64_t i = 0; i < n; ++i) {
        // an item that may be left out has that as one more choice
        if (stack.state(level, i) == FREE) {
            const std::int64_t choices = counted.of_item[i] + (cover.good(PRICE, i) <= slack);
            if (choices < fewest) {
                scarce = i;
                fewest = choices;
            }
        }
    }
    for (std::int64_t t = 0; t < cover.kinds(); ++t)
        if (stack.left(level, t) > 0 && counted.of_kind[t] < fewest) {
            scarce = n + t;
            fewest = counted.of_kind[t];
        }
    return scarce;
}

/// Whether a pattern is of a kind, or has an item, as ``scarcest`` numbers them.
bool holds(const Cover &cover, std::int64_t pattern, std::int64_t scarce) {
    if (cover.pattern(KIND, pattern) == scarce - cover.items())
        return true;
    for (std::int64_t k = 0; k < cover.pattern(LENGTH, pattern); ++k)
        if (cover.item(pattern, k) == scarce)
            return true;
    return false;
}

/// Return the place of the pattern to branch on: of the scarcest item or kind, the cheapest.
std::int64_t branching_place(const Cover &cover, const Stack &stack, std::int64_t level,
                             std::int64_t slack, const Counted &counted) {
    const std::int64_t scarce = scarcest(cover, stack, level, slack, counted);
    const Span<const std::int32_t> active = stack.patterns(level);
    std::int64_t best = -1, least = FAR;
    for (std::int64_t at = 0; at < active.size(); ++at) {
        const std::int64_t p = active[at];
        const std::int64_t over = cover.pattern(SLACK, p) - counted.slack[cover.pattern(KIND, p)];
        if (over < least && holds(cover, p, scarce)) {
            best = at;
            least = over;
        }
    }
    return best < 0 ? best : stack.node(level, START) + best;
}

/// Begin a node below with what is known here and one pattern more.
void begin_child(const Cover &cover, const Stack &stack, std::int64_t level, std::int64_t p) {
    const std::int64_t child = level + 1;
    stack.node(child, CHOSEN) = p;
    stack.node(child, SPENT) = stack.node(level, SPENT) + cover.pattern(SLACK, p);
    stack.node(child, WASTED) = stack.node(level, WASTED) + cover.pattern(WASTE, p);
    std::copy_n(stack.left[level].data(), stack.left.shape(1), stack.left[child].data());
    --stack.left(child, cover.pattern(KIND, p));
    --stack.left(child, cover.kinds());
    std::copy_n(stack.state[level].data(), stack.state.shape(1), stack.state[child].data());
    for (std::int64_t k = 0; k < cover.pattern(LENGTH, p); ++k)
        stack.state(child, cover.item(p, k)) = PACKED;
}

/// Choose a pattern in a node below, and take it out of this one; false without room.
bool push(const Cover &cover, const Stack &stack, std::int64_t level, std::int64_t place) {
    const Span<std::int32_t> active = stack.active;
    const std::int64_t begin = stack.node(level, START), end = begin + stack.node(level, SIZE);
    const std::int32_t p = active[place];
    active[place] = active[end - 1];
    --stack.node(level, SIZE);
    const std::int64_t child = level + 1, kind = cover.pattern(KIND, p);
    if (end + stack.node(level, SIZE) + 1 > active.size())
        return false;
    begin_child(cover, stack, level, p);
    const Span<const std::int8_t> state = stack.state[child];
    const bool exhausted = stack.left(child, kind) == 0;
    std::int64_t size = 0;
    for (std::int64_t source = begin; source < end - 1; ++source) {
        const std::int32_t other = active[source];
        bool keep = !(exhausted && cover.pattern(KIND, other) == kind);
        for (std::int64_t k = 0; keep && k < cover.pattern(LENGTH, other); ++k)
            keep = state[cover.item(other, k)] != PACKED;
        if (keep)
            active[end + size++] = other;
    }
    if (!exhausted && cover.pattern(LENGTH, p) == 0) // several knapsacks may stay empty
        active[end + size++] = p;
    stack.node(child, START) = end;
    stack.node(child, SIZE) = size;
    return true;
}

/// Whether the surrogate problem of a node, one knapsack with all room that may be used, falls
/// short of the target.
///
/// Every knapsack wastes what the fullest of its patterns does at least.
bool falls_short(const Cover &cover, const Stack &stack, std::int64_t level, std::int64_t target,
                 const Counted &counted) {
    const std::int64_t n = cover.items();
    std::vector<std::int64_t> profit(n), weight(n);
    std::int64_t count = 0, packed = 0, room = 0, total = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        if (stack.state(level, i) == PACKED) {
            packed += cover.good(PROFIT, i);
        } else if (stack.state(level, i) == FREE) {
            profit[count] = cover.good(PROFIT, i);
            weight[count] = cover.good(WEIGHT, i);
            total += profit[count];
            ++count;
        }
    }
    for (std::int64_t t = 0; t < cover.kinds(); ++t)
        if (stack.left(level, t) > 0)
            room += stack.left(level, t) * (cover.capacity[t] - counted.waste[t]);
    const std::int64_t floor = target - 1 - packed;
    if (floor < 0 || total <= floor)
        return total <= floor;
    const Flags chosen(count);
    const auto [found, finished] = best_subset({profit.data(), count}, {weight.data(), count},
                                               count, room, floor, SURROGATE_NODES, chosen);
    return finished && found <= floor;
}

/// Search for choices of patterns worth ``control[TARGET]``; return why it ended.
///
/// ``found`` gets the patterns of the best one, and -1 behind them.
std::int64_t search(const Cover &cover, const Stack &stack, Span<std::int64_t> control,
                    Span<std::int64_t> found, std::int64_t nodes) {
    const std::int64_t kinds = cover.kinds();
    native::check_length("control", control.size(), 6);
    native::check_length("node", stack.node.shape(0), found.size());
    Counted counted(cover.items(), kinds);
    for (std::int64_t node = 0; node < nodes; ++node) {
        const std::int64_t level = control[LEVEL];
        if (level < 0)
            return FINISHED;
        native::poll();
        ++control[NODES];
        const std::int64_t least = Narrowing(cover, stack, level, control, counted).propagate();
        const bool last = stack.left(level, kinds) == 0;
        if (least < 0 || (!last && falls_short(cover, stack, level, control[TARGET], counted))) {
            --control[LEVEL];
            continue;
        }
        if (last) {
            control[TARGET] =
                native::floor_divide(control[TOTAL] - least, std::int64_t(control[SCALE])) + 1;
            for (std::int64_t k = 0; k < found.size(); ++k)
                found[k] = k < level ? stack.node(k + 1, CHOSEN) : -1;
            --control[LEVEL];
            continue;
        }
        const std::int64_t budget = control[TOTAL] - control[SCALE] * control[TARGET];
        const std::int64_t place = branching_place(cover, stack, level, budget - least, counted);
        if (!push(cover, stack, level, place))
            return NO_ROOM;
        ++control[LEVEL];
    }
    return PAUSED;
}

} // namespace
} // namespace knapsack::multiple

NATIVE_STRUCT(knapsack::multiple::Cover, item, pattern, good, capacity)
NATIVE_STRUCT(knapsack::multiple::Stack, active, node, left, state)

NATIVE_MODULE(knapsack_multiple_cover) {
    using namespace knapsack::multiple;
    native::expose(module, "search", &search, "cover", "stack", "control", "found", "nodes");
    NATIVE_CONSTANTS(module, "solvers.knapsack.multiple.listed", FINISHED, NO_ROOM);
    NATIVE_CONSTANTS(module, "solvers.knapsack.multiple.listed", LENGTH, KIND, SLACK, WASTE, SIZE,
                     TARGET, NODES, TOTAL, SCALE, SPARE);
}
