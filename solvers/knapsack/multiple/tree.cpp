// Depth-first search item by item: the loop of engine.py.
#include "native/bindings.h"
#include "subset_sum.h"

namespace knapsack::multiple {
namespace {

/// Places in ``control``: items decided, their profit, the profit to beat, nodes so far.
enum : std::int64_t { DEPTH, PROFIT, BEST, NODES };

/// Why a search returns.
enum : std::int64_t { FINISHED, PAUSED };

/// Choice of an item that nothing was decided for.
constexpr std::int64_t UNTRIED = -1;

/// A search: items by falling efficiency, knapsacks, and what is decided.
struct Tree {
    Integers profit, weight;
    Span<std::int64_t> choice, room, control;

    std::int64_t items() const { return profit.size(); }
    std::int64_t knapsacks() const { return room.size(); }

    /// Take an item out of a knapsack again.
    void take_out(std::int64_t i, std::int64_t j) const {
        room[j] += weight[i];
        control[PROFIT] -= profit[i];
    }
    void put_in(std::int64_t i, std::int64_t j) const {
        room[j] -= weight[i];
        control[PROFIT] += profit[i];
    }
};

/// Return what items from ``first`` on can add at most; ``least`` is the smallest weight.
double bound(const Tree &tree, std::int64_t first, std::int64_t least) {
    std::int64_t room = 0;
    for (const std::int64_t left : tree.room)
        if (left >= least)
            room += left;
    std::int64_t added = 0;
    for (std::int64_t i = first; i < tree.items(); ++i) {
        if (tree.weight[i] > room) {
            const double part = double(room) * (double(tree.profit[i]) / double(tree.weight[i]));
            return (double(added) + part) * (1.0 + ERROR);
        }
        room -= tree.weight[i];
        added += tree.profit[i];
    }
    return double(added);
}

/// Return the knapsack to try next for an item, their number for none, or -1 at the end.
std::int64_t next_choice(const Tree &tree, std::int64_t i) {
    const std::int64_t m = tree.knapsacks(), last = tree.choice[i];
    if (last == m)
        return -1;
    // the tightest first: by room, and of equal rooms the first only
    const std::int64_t least = last >= 0 ? tree.room[last] : tree.weight[i] - 1;
    std::int64_t best = m;
    for (std::int64_t j = 0; j < m; ++j)
        if (tree.room[j] > least && (best == m || tree.room[j] < tree.room[best]))
            best = j;
    return best;
}

/// Whether an item that is no better is packed, or one that is no worse left out before.
bool is_dominated(const Tree &tree, std::int64_t i, std::int64_t choice) {
    const std::int64_t m = tree.knapsacks(), profit = tree.profit[i], weight = tree.weight[i];
    for (std::int64_t k = 0; k < i; ++k) {
        if (choice == m && tree.choice[k] != m) {
            if (tree.weight[k] > weight && tree.profit[k] <= profit)
                return true;
            if (tree.weight[k] == weight && tree.profit[k] < profit)
                return true;
        }
        if (choice != m && tree.choice[k] == m && tree.weight[k] <= weight &&
            tree.profit[k] >= profit)
            return true;
    }
    return false;
}

/// Look at the next choice of the item at the search's depth; go down with it, or back.
void step(const Tree &tree, Span<std::int64_t> best, std::int64_t least) {
    const Span<std::int64_t> control = tree.control;
    const std::int64_t i = control[DEPTH], n = tree.items(), m = tree.knapsacks();
    const std::int64_t last = i < n ? tree.choice[i] : UNTRIED;
    if (0 <= last && last < m)
        tree.take_out(i, last);
    bool back = i == n;
    if (back && control[PROFIT] > control[BEST]) {
        control[BEST] = control[PROFIT];
        std::copy_n(tree.choice.data(), n, best.data());
    }
    if (!back && last == UNTRIED)
        back = double(control[PROFIT]) + bound(tree, i, least) < double(control[BEST] + 1);
    const std::int64_t choice = back ? -1 : next_choice(tree, i);
    if (choice < 0) {
        if (i < n)
            tree.choice[i] = UNTRIED;
        --control[DEPTH];
        return;
    }
    tree.choice[i] = choice;
    if (choice != m)
        tree.put_in(i, choice);
    // where it is dominated nothing but leaving it out remains, not even another knapsack
    if (!is_dominated(tree, i, choice))
        ++control[DEPTH];
}

/// Search for packings; ``best`` (n,) gets the choices of the best one.
///
/// The search pauses after ``nodes`` nodes, and between two where ``stop[0]`` is set.
std::int64_t search(const Tree &tree, Span<std::int64_t> best, std::int64_t nodes,
                    Span<const std::int8_t> stop) {
    native::check_lengths(tree.items(),
                          {{"best", best}, {"choice", tree.choice}, {"weight", tree.weight}});
    native::check_length("control", tree.control.size(), 4);
    native::check_length("stop", stop.size(), 1);
    const auto lightest = std::min_element(tree.weight.begin(), tree.weight.end());
    const std::int64_t least = lightest == tree.weight.end() ? 0 : *lightest;
    for (std::int64_t node = 0; node < nodes; ++node) {
        if (tree.control[DEPTH] < 0)
            return FINISHED;
        if (native::is_set(stop))
            return PAUSED;
        if ((node & 4095) == 0)
            native::poll();
        ++tree.control[NODES];
        step(tree, best, least);
    }
    return PAUSED;
}

} // namespace
} // namespace knapsack::multiple

NATIVE_STRUCT(knapsack::multiple::Tree, profit, weight, choice, room, control)

NATIVE_MODULE(knapsack_multiple_tree) {
    using namespace knapsack::multiple;
    native::expose(module, "search", &search, "tree", "best", "nodes", "stop");
    NATIVE_CONSTANTS(module, "solvers.knapsack.multiple.engine", DEPTH, PROFIT, BEST, NODES,
                     UNTRIED, FINISHED, PAUSED);
}
