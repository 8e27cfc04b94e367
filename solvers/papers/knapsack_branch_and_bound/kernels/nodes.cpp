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

/// All items by falling efficiency, and one behind them without profit that never fits.
template <class Word> struct Items {
    Span<const Word> profit;
    Span<const Word> weight;
    Word capacity;
};

/// Weight and profit of a packing, and the first item that does not fit any more.
template <class Word> struct Node {
    Word weight;
    Word profit;
    Word slack;

    /// Whether the upper bound exceeds the best profit, without a division.
    bool is_promising(const Items<Word> &items, Word best) const {
        const Word most = items.profit[slack];
        const Word wanted = std::max<Word>(0, std::min<Word>(best + 1 - profit, most + 1));
        return (items.capacity - weight) * most >= wanted * items.weight[slack];
    }

    /// The node that leaves an item out and fills up.
    Node without(std::int64_t item, const Items<Word> &items) const {
        Node made = *this;
        if (item < slack) {
            made.weight -= items.weight[item];
            made.profit -= items.profit[item];
        } else {
            ++made.slack;
        }
        for (; items.weight[made.slack] <= items.capacity - made.weight; ++made.slack) {
            made.weight += items.weight[made.slack];
            made.profit += items.profit[made.slack];
        }
        return made;
    }

    /// The profit with every later item that fits.
    Word completed(const Items<Word> &items, Span<const Word> lightest) const {
        Word rest = items.capacity - weight, sum = profit;
        for (std::int64_t i = slack + 1; rest >= lightest[i]; ++i)
            if (items.weight[i] <= rest) {
                rest -= items.weight[i];
                sum += items.profit[i];
            }
        return sum;
    }
};

/// A list of nodes.
template <class Word> struct Nodes {
    Span<const Word> weight;
    Span<const Word> profit;
    Span<const Word> slack;

    Node<Word> operator[](std::int64_t e) const { return {weight[e], profit[e], slack[e]}; }
};

/// Marks of old nodes and of new ones behind them, and their numbers in chunks and tiles.
template <class Word> struct Marks {
    Span<Word> chunk_count;
    Span<Word> tile_place;
    Span<Word> kept;
    std::int64_t tiles;

    void check() const {
        native::check_length("chunk_count", chunk_count.size(), 2 * tiles * WARPS);
        native::check_length("tile_place", tile_place.size(), 2 * tiles);
        native::check_length("kept", kept.size(), 2 * tiles * TILE_WORDS);
    }
};

template <class Word>
void check_nodes(const Items<Word> &items, const Nodes<Word> &nodes, std::int64_t count) {
    native::check_length("item_weight", items.weight.size(), items.profit.size());
    native::check_length("weight", nodes.weight.size(), count);
    native::check_length("profit", nodes.profit.size(), count);
    native::check_length("slack", nodes.slack.size(), count);
}

/// Mark what stays of a tile and count it; tell of each new node's completed profit.
template <class Word, class See>
void mark_tile(const Items<Word> &items, Span<const Word> lightest, const Nodes<Word> &nodes,
               const Marks<Word> &marks, std::int64_t tile, std::int64_t count, std::int64_t item,
               Word best, const See &see) {
    const std::int64_t tiles = marks.tiles, half = tiles * TILE_WORDS;
    Word old_sum = 0, new_sum = 0;
    for (std::int64_t chunk = tile * WARPS; chunk < (tile + 1) * WARPS; ++chunk) {
        Word old_nodes = 0, new_nodes = 0;
        for (std::int64_t word = chunk * ROUNDS; word < (chunk + 1) * ROUNDS; ++word) {
            std::uint32_t old_bits = 0, new_bits = 0;
            for (std::int64_t e = word * 32; e < std::min((word + 1) * 32, count); ++e) {
                const Node<Word> node = nodes[e], made = node.without(item, items);
                const bool old_stays = node.is_promising(items, best) && item < node.slack;
                const bool new_stays = made.is_promising(items, best);
                old_bits |= std::uint32_t{old_stays} << (e & 31);
                new_bits |= std::uint32_t{new_stays} << (e & 31);
                see(e, made.completed(items, lightest));
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
void expand(Span<const Word> item_profit, Span<const Word> item_weight, Span<const Word> lightest,
            Span<const Word> weight, Span<const Word> profit, Span<const Word> slack,
            Span<Word> chunk_count, Span<Word> tile_place, Span<Word> kept, Span<Word> control,
            int tiles, int count, int item, int threads) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    const Items<Word> items{item_profit, item_weight, control[CAPACITY]};
    const Nodes<Word> nodes{weight, profit, slack};
    const Marks<Word> marks{chunk_count, tile_place, kept, tiles};
    marks.check();
    check_nodes(items, nodes, count);
    const Word best = control[BEST];
    std::vector<Word> found(tiles, best);
    native::parallel_for(threads, tiles, [&](std::int64_t tile) {
        native::poll();
        Word most = best;
        mark_tile(items, lightest, nodes, marks, tile, count, item, best,
                  [&](std::int64_t, Word completed) { most = std::max(most, completed); });
        found[tile] = most;
    });
    control[FOUND] = best;
    for (const Word most : found)
        control[FOUND] = std::max(control[FOUND], most);
}

/// Mark again with a better packing.
template <class Word>
void recount(Span<const Word> item_profit, Span<const Word> item_weight, Span<const Word> lightest,
             Span<const Word> weight, Span<const Word> profit, Span<const Word> slack,
             Span<Word> chunk_count, Span<Word> tile_place, Span<Word> kept, Span<Word> control,
             int tiles, int count, int item, int threads) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    const Items<Word> items{item_profit, item_weight, control[CAPACITY]};
    const Nodes<Word> nodes{weight, profit, slack};
    const Marks<Word> marks{chunk_count, tile_place, kept, tiles};
    marks.check();
    check_nodes(items, nodes, count);
    const Word best = control[FOUND];
    if (best <= control[BEST])
        return;
    std::vector<std::int64_t> first(tiles, NO_NODE);
    native::parallel_for(threads, tiles, [&](std::int64_t tile) {
        native::poll();
        std::int64_t node = NO_NODE;
        mark_tile(items, lightest, nodes, marks, tile, count, item, best,
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
void gather(Span<const Word> item_profit, Span<const Word> item_weight, Span<const Word> weight,
            Span<const Word> profit, Span<const Word> slack, Span<const Word> chunk_count,
            Span<const Word> tile_place, Span<const Word> kept, Span<Word> kept_weight,
            Span<Word> kept_profit, Span<Word> kept_slack, Span<const Word> control, int tiles,
            int item, int threads) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    const Items<Word> items{item_profit, item_weight, control[CAPACITY]};
    const Nodes<Word> nodes{weight, profit, slack};
    const std::int64_t half = tiles * TILE_WORDS, length = control[LENGTH];
    check_nodes(items, nodes, 0);
    native::check_length("chunk_count", chunk_count.size(), 2 * tiles * WARPS);
    native::check_length("tile_place", tile_place.size(), 2 * std::int64_t{tiles});
    native::check_length("kept", kept.size(), 2 * half);
    native::check_length("kept_weight", kept_weight.size(), length);
    native::check_length("kept_profit", kept_profit.size(), length);
    native::check_length("kept_slack", kept_slack.size(), length);
    const auto put = [&](std::int64_t place, const Node<Word> &node) {
        kept_weight[place] = node.weight;
        kept_profit[place] = node.profit;
        kept_slack[place] = node.slack;
    };
    native::parallel_for(threads, tiles, [&](std::int64_t tile) {
        native::poll();
        std::int64_t place = tile_place[tile];
        each_marked(kept, 0, tile, [&](std::int64_t e) { put(place++, nodes[e]); });
        place = tile_place[tiles + tile];
        each_marked(kept, half, tile,
                    [&](std::int64_t e) { put(place++, nodes[e].without(item, items)); });
    });
}

/// Find where a node came from.
template <class Word>
void ancestor(Span<const Word> chunk_count, Span<const Word> tile_place, Span<const Word> kept,
              Span<Word> control, int tiles, int) {
    const std::int64_t half = tiles * TILE_WORDS;
    native::check_length("chunk_count", chunk_count.size(), 2 * tiles * WARPS);
    native::check_length("tile_place", tile_place.size(), 2 * std::int64_t{tiles});
    native::check_length("kept", kept.size(), 2 * half);
    native::check_length("control", control.size(), CONTROL_SIZE);
    std::int64_t rest = control[AT], low = 0, high = 2 * std::int64_t{tiles};
    while (high - low > 1) {
        const std::int64_t middle = (low + high) / 2;
        (tile_place[middle] <= rest ? low : high) = middle;
    }
    rest -= tile_place[low];
    std::int64_t chunk = low * WARPS;
    for (; rest >= chunk_count[chunk]; ++chunk)
        rest -= chunk_count[chunk];
    for (std::int64_t place = chunk * CHUNK; place < (chunk + 1) * CHUNK; ++place) {
        if (!(kept[place / 32] >> (place % 32) & 1) || rest-- > 0)
            continue;
        control[LEFT_OUT] = place >= 32 * half;
        control[AT] = static_cast<Word>(place % (32 * half));
        return;
    }
}

/// Find the largest upper bound.
template <class Word>
void largest_bound(Span<const Word> item_profit, Span<const Word> item_weight,
                   Span<const Word> weight, Span<const Word> profit, Span<const Word> slack,
                   Span<Word> control, int tiles, int count, int threads) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    const Items<Word> items{item_profit, item_weight, control[CAPACITY]};
    const Nodes<Word> nodes{weight, profit, slack};
    check_nodes(items, nodes, count);
    std::vector<Word> largest(tiles, control[UPPER]);
    native::parallel_for(threads, tiles, [&](std::int64_t tile) {
        Word most = largest[tile];
        for (std::int64_t e = tile * TILE; e < std::min<std::int64_t>((tile + 1) * TILE, count);
             ++e) {
            const Node<Word> node = nodes[e];
            const Word part = (items.capacity - node.weight) * items.profit[node.slack];
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

NATIVE_MODULE(papers_knapsack_branch_and_bound_nodes) {
    using namespace knapsack::tree;
    NATIVE_CONSTANTS(module, "solvers.papers.knapsack_branch_and_bound.kernels.nodes", ROUNDS,
                     CHUNK, WARPS, TILE, CAPACITY, BEST, FOUND, FOUND_NODE, NODE, LENGTH, AT,
                     LEFT_OUT, UPPER, CONTROL_SIZE, NO_NODE);
    NATIVE_KERNELS_BY_INDEX(module, expand, recount, places, gather, ancestor, largest_bound);
}
