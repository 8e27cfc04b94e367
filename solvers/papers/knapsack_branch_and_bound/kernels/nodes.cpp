// Twins of nodes.cu, by tiles as there; words have 32 or 64 bits, and so have all arrays.
#include <algorithm>
#include <bit>
#include <vector>

#include "native/bindings.h"
#include "native/threads.h"

namespace knapsack::tree {
namespace {

using native::Span;

constexpr std::int64_t ROUNDS = 8, CHUNK = 32 * ROUNDS, WARPS = 8, TILE = CHUNK * WARPS;

/// Words of a tile's marks.
constexpr std::int64_t TILE_WORDS = WARPS * ROUNDS;

enum Control { CAPACITY, BEST, FOUND, FOUND_NODE, NODE, LENGTH, AT, LEFT_OUT, UPPER, CONTROL_SIZE };

/// More than any node's place.
constexpr std::int64_t NO_NODE = INT32_MAX;

#include "nodes.cuh"

template <class Word> using Read = Nodes<const Word>;

template <class Word> void check(const Marks<Word> &marks, std::int64_t tiles) {
    native::check_length("chunk_count", marks.chunk_count.size(), 2 * tiles * WARPS);
    native::check_length("tile_place", marks.tile_place.size(), 2 * tiles);
    native::check_length("kept", marks.kept.size(), 2 * tiles * TILE_WORDS);
}

template <class Word>
void check(const Items<Word> &items, const Read<Word> &nodes, std::int64_t count) {
    native::check_length("item_weight", items.weight.size(), items.profit.size());
    native::check_length("item_lightest", items.lightest.size(), items.profit.size() + 1);
    native::check_length("weight", nodes.weight.size(), count);
    native::check_length("profit", nodes.profit.size(), count);
    native::check_length("slack", nodes.slack.size(), count);
}

/// Mark what stays of a tile and count it; tell of each new node's completed profit.
template <class Word, class See>
void mark_tile(const Items<Word> &items, Word capacity, const Read<Word> &nodes,
               const Marks<Word> &marks, std::int64_t tiles, std::int64_t tile, std::int64_t count,
               int item, Word best, const See &see) {
    const std::int64_t half = tiles * TILE_WORDS;
    Word old_sum = 0, new_sum = 0;
    for (std::int64_t chunk = tile * WARPS; chunk < (tile + 1) * WARPS; ++chunk) {
        Word old_nodes = 0, new_nodes = 0;
        for (std::int64_t word = chunk * ROUNDS; word < (chunk + 1) * ROUNDS; ++word) {
            std::uint32_t old_bits = 0, new_bits = 0;
            for (std::int64_t e = word * 32; e < std::min((word + 1) * 32, count); ++e) {
                const Node<Word> node = node_at(nodes, e);
                const Node<Word> made = node.without(item, items, capacity);
                const bool old_stays =
                    node.is_promising(items, capacity, best) && item < node.slack;
                const bool new_stays = made.is_promising(items, capacity, best);
                old_bits |= std::uint32_t{old_stays} << (e & 31);
                new_bits |= std::uint32_t{new_stays} << (e & 31);
                see(e, made.completed(items, capacity));
            }
            marks.kept[word] = static_cast<Word>(old_bits);
            marks.kept[half + word] = static_cast<Word>(new_bits);
            old_nodes += std::popcount(old_bits);
            new_nodes += std::popcount(new_bits);
        }
        marks.chunk_count[chunk] = old_nodes;
        marks.chunk_count[tiles * WARPS + chunk] = new_nodes;
        old_sum += old_nodes;
        new_sum += new_nodes;
    }
    marks.tile_place[tile] = old_sum;
    marks.tile_place[tiles + tile] = new_sum;
}

/// Mark what stays, and find the best packing.
template <class Word>
void expand(const Items<Word> &items, const Read<Word> &nodes, const Marks<Word> &marks,
            Span<Word> control, int tiles, int count, int item, int threads) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    check(marks, tiles);
    check(items, nodes, count);
    const Word capacity = control[CAPACITY];
    const Word best = control[BEST];
    std::vector<Word> found(tiles, best);
    native::parallel_for(threads, tiles, [&](std::int64_t tile) {
        native::poll();
        Word most = best;
        mark_tile(items, capacity, nodes, marks, tiles, tile, count, item, best,
                  [&](std::int64_t, Word completed) { most = std::max(most, completed); });
        found[tile] = most;
    });
    control[FOUND] = best;
    for (const Word most : found)
        control[FOUND] = std::max(control[FOUND], most);
}

/// Mark again with a better packing.
template <class Word>
void recount(const Items<Word> &items, const Read<Word> &nodes, const Marks<Word> &marks,
             Span<Word> control, int tiles, int count, int item, int threads) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    check(marks, tiles);
    check(items, nodes, count);
    const Word capacity = control[CAPACITY];
    const Word best = control[FOUND];
    if (best <= control[BEST])
        return;
    std::vector<std::int64_t> first(tiles, NO_NODE);
    native::parallel_for(threads, tiles, [&](std::int64_t tile) {
        native::poll();
        std::int64_t node = NO_NODE;
        mark_tile(items, capacity, nodes, marks, tiles, tile, count, item, best,
                  [&](std::int64_t e, Word completed) {
                      if (completed == best)
                          node = std::min(node, count + e);
                  });
        first[tile] = node;
    });
    std::int64_t node = NO_NODE;
    for (const std::int64_t found : first)
        node = std::min(node, found);
    control[FOUND_NODE] = static_cast<Word>(node);
}

/// Turn counts into places.
template <class Word> void places(Span<Word> tile_place, Span<Word> control, int tiles, int) {
    native::check_length("tile_place", tile_place.size(), 2 * std::int64_t{tiles});
    native::check_length("control", control.size(), CONTROL_SIZE);
    Word total = 0;
    for (std::int64_t tile = 0; tile < 2 * std::int64_t{tiles}; ++tile) {
        const Word found = tile_place[tile];
        tile_place[tile] = total;
        total += found;
    }
    control[NODE] = control[FOUND] > control[BEST] ? control[FOUND_NODE] : Word{-1};
    control[BEST] = std::max(control[BEST], control[FOUND]);
    control[FOUND] = control[BEST];
    control[FOUND_NODE] = static_cast<Word>(NO_NODE);
    control[LENGTH] = total;
}

/// Call visit(e) for the marked nodes of a tile, whose marks begin at a word of ``kept``.
template <class Word, class Visit>
void each_marked(Span<const Word> kept, std::int64_t first_word, std::int64_t tile,
                 const Visit &visit) {
    for (std::int64_t word = tile * TILE_WORDS; word < (tile + 1) * TILE_WORDS; ++word) {
        auto bits = static_cast<std::uint32_t>(kept[first_word + word]);
        for (; bits; bits &= bits - 1)
            visit(word * 32 + std::countr_zero(bits));
    }
}

/// Put what stays side by side.
template <class Word>
void gather(const Items<Word> &items, const Read<Word> &nodes, const Marks<const Word> &marks,
            const Nodes<Word> &gathered, Span<const Word> control, int tiles, int item,
            int threads) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    const Word capacity = control[CAPACITY];
    const std::int64_t half = tiles * TILE_WORDS, length = control[LENGTH];
    check(items, nodes, 0);
    check(marks, tiles);
    native::check_length("kept_weight", gathered.weight.size(), length);
    native::check_length("kept_profit", gathered.profit.size(), length);
    native::check_length("kept_slack", gathered.slack.size(), length);
    native::parallel_for(threads, tiles, [&](std::int64_t tile) {
        native::poll();
        std::int64_t place = marks.tile_place[tile];
        each_marked(marks.kept, 0, tile,
                    [&](std::int64_t e) { put(gathered, place++, node_at(nodes, e)); });
        place = marks.tile_place[tiles + tile];
        each_marked(marks.kept, half, tile, [&](std::int64_t e) {
            put(gathered, place++, node_at(nodes, e).without(item, items, capacity));
        });
    });
}

/// Find where a node came from.
template <class Word>
void ancestor(const Marks<const Word> &marks, Span<Word> control, int tiles, int) {
    const std::int64_t half = tiles * TILE_WORDS;
    check(marks, tiles);
    native::check_length("control", control.size(), CONTROL_SIZE);
    std::int64_t rest = control[AT], low = 0, high = 2 * std::int64_t{tiles};
    while (high - low > 1) {
        const std::int64_t middle = (low + high) / 2;
        (marks.tile_place[middle] <= rest ? low : high) = middle;
    }
    rest -= marks.tile_place[low];
    std::int64_t chunk = low * WARPS;
    for (; rest >= marks.chunk_count[chunk]; ++chunk)
        rest -= marks.chunk_count[chunk];
    for (std::int64_t place = chunk * CHUNK; place < (chunk + 1) * CHUNK; ++place) {
        if (!(marks.kept[place / 32] >> (place % 32) & 1) || rest-- > 0)
            continue;
        control[LEFT_OUT] = place >= 32 * half;
        control[AT] = static_cast<Word>(place % (32 * half));
        return;
    }
}

/// Find the largest upper bound.
template <class Word>
void largest_bound(const Items<Word> &items, const Read<Word> &nodes, Span<Word> control, int tiles,
                   int count, int threads) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    const Word capacity = control[CAPACITY];
    check(items, nodes, count);
    std::vector<Word> largest(tiles, control[UPPER]);
    native::parallel_for(threads, tiles, [&](std::int64_t tile) {
        Word most = largest[tile];
        for (std::int64_t e = tile * TILE; e < std::min<std::int64_t>((tile + 1) * TILE, count);
             ++e) {
            const Node<Word> node = node_at(nodes, e);
            const Word part = (capacity - node.weight) * items.profit[node.slack];
            most = std::max<Word>(most, node.profit +
                                            native::floor_divide(part, items.weight[node.slack]));
        }
        largest[tile] = most;
    });
    for (const Word bound : largest)
        control[UPPER] = std::max(control[UPPER], bound);
}

} // namespace
} // namespace knapsack::tree

#define KNAPSACK_TREE_STRUCTURES(Word)                                                             \
    NATIVE_STRUCT(knapsack::tree::Items<Word>, profit, weight, lightest)                           \
    NATIVE_STRUCT(knapsack::tree::Nodes<Word>, weight, profit, slack)                              \
    NATIVE_STRUCT(knapsack::tree::Nodes<const Word>, weight, profit, slack)                        \
    NATIVE_STRUCT(knapsack::tree::Marks<Word>, chunk_count, tile_place, kept)                      \
    NATIVE_STRUCT(knapsack::tree::Marks<const Word>, chunk_count, tile_place, kept)
KNAPSACK_TREE_STRUCTURES(std::int32_t)
KNAPSACK_TREE_STRUCTURES(std::int64_t)

NATIVE_MODULE(papers_knapsack_branch_and_bound_nodes) {
    using namespace knapsack::tree;
    NATIVE_CONSTANTS(module, "solvers.papers.knapsack_branch_and_bound.kernels.nodes", ROUNDS,
                     CHUNK, WARPS, TILE, CAPACITY, BEST, FOUND, FOUND_NODE, NODE, LENGTH, AT,
                     LEFT_OUT, UPPER, CONTROL_SIZE, NO_NODE);
    NATIVE_KERNELS_BY_INDEX(module, expand, recount, places, gather, ancestor, largest_bound);
}
