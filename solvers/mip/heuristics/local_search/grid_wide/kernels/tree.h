// What tree.cuh does by a warp, by one thread.
#pragma once

#include <bit>

#include "mip/heuristics/local_search/gpu/kernels/lane_sum.h"
#include "native/bindings.h"

namespace {

using REAL = double;
using INDEX = std::int32_t;
using COSTS_T = double;
#include "levels.cuh"

inline Tree tree_of(native::Span<INDEX> nodes, int rows) {
    Tree tree;
    tree.shape(reinterpret_cast<unsigned *>(nodes.data()), rows);
    native::check_length("tree", nodes.size(), tree.size);
    return tree;
}

/// Note that a row has become violated or holds again.
inline void tree_change(const Tree &tree, int row, bool enters) {
    tree.nodes[row >> 5] ^= 1u << (row & 31);
    int node = row >> 10;
    for (int level = 1; level <= tree.top; ++level, node >>= 5)
        tree.nodes[tree.first[level] + node] += enters ? 1u : ~0u;
}

/// Number of violated rows.
inline int tree_count(const Tree &tree) {
    unsigned total = 0;
    for (int node = 0; node < 32; ++node)
        total += tree.nodes[tree.first[tree.top] + node];
    return static_cast<int>(total);
}

/// The violated row with ``rank`` lower ones before it.
inline int tree_find(const Tree &tree, int rank) {
    int node = 0;
    for (int level = tree.top; level >= 0; --level) {
        node *= 32;
        for (;; ++node) {
            const unsigned own = tree.nodes[tree.first[level] + node];
            const int rows = level > 0 ? static_cast<int>(own) : std::popcount(own);
            if (rank < rows)
                break;
            rank -= rows;
        }
    }
    unsigned bits = tree.nodes[node];
    for (; rank > 0; --rank)
        bits &= bits - 1;
    return 32 * node + std::countr_zero(bits);
}

} // namespace
