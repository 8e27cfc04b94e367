// Items and nodes, and what follows from a node, on both devices; nodes.py states what it is for.

#pragma once

#include "both.cuh"

// All items by falling efficiency, and one behind them without profit that never fits.
template <class Word> struct Items {
    Array<const Word> profit, weight, lightest;
};

// Lists of nodes, read or written.
template <class Word> struct Nodes {
    Array<Word> weight, profit, slack;
};

// Marks of old nodes and of new ones behind them, and their numbers in chunks and tiles.
template <class Word> struct Marks {
    Array<Word> chunk_count, tile_place, kept;
};

// Weight and profit of a packing, and the first item that does not fit any more.
template <class Word> struct Node {
    Word weight, profit, slack;

    // Dantzig's bound exceeds the best profit: without a division, and without large products,
    // since the rest is below the slack item's weight.
    BOTH bool is_promising(const Items<Word>& items, Word capacity, Word best) const {
        const Word most = items.profit[slack], lacking = best + 1 - profit;
        const Word wanted = lacking < 0 ? 0 : lacking <= most ? lacking : most + 1;
        return (capacity - weight) * most >= wanted * items.weight[slack];
    }

    // The node that leaves an item out, filled until one does not fit.
    BOTH Node without(int item, const Items<Word>& items, Word capacity) const {
        Node made = *this;
        if (item < slack) {
            made.weight -= items.weight[item];
            made.profit -= items.profit[item];
        } else {
            ++made.slack;
        }
        // compared with the rest, for the last item's weight may leave no bit for a sum
        for (; items.weight[made.slack] <= capacity - made.weight; ++made.slack) {
            made.weight += items.weight[made.slack];
            made.profit += items.profit[made.slack];
        }
        return made;
    }

    // The profit with every later item that still fits; none does below the lightest's weight.
    BOTH Word completed(const Items<Word>& items, Word capacity) const {
        Word rest = capacity - weight, sum = profit;
        for (Word i = slack + 1; rest >= items.lightest[i]; ++i) {
            if (items.weight[i] <= rest) {
                rest -= items.weight[i];
                sum += items.profit[i];
            }
        }
        return sum;
    }
};

template <class Word> BOTH Node<Word> node_at(const Nodes<const Word>& nodes, long long e) {
    return {nodes.weight[e], nodes.profit[e], nodes.slack[e]};
}

template <class Word>
BOTH void put(const Nodes<Word>& nodes, long long place, const Node<Word>& node) {
    nodes.weight[place] = node.weight;
    nodes.profit[place] = node.profit;
    nodes.slack[place] = node.slack;
}
