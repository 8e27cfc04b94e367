// The tree of violated rows, in which any number of threads change rows at once.
//
// What it holds does not depend on the order of changes, and the k-th violated row is found by a
// warp in one look at each level. Changes of the top level, where all threads would meet, are
// gathered for each block first.

#pragma once

#include "grid.cuh"
#include "levels.cuh"

// Notes that a row has become violated or holds again; ``of_top`` (32) are the block's.
__device__ inline void tree_change(const Tree& tree, int row, bool enters, int* of_top) {
    atomicXor(tree.nodes + (row >> 5), 1u << (row & 31));
    int node = row >> 10;
    for (int level = 1; level < tree.top; ++level, node >>= 5)
        atomicAdd((int*)tree.nodes + tree.first[level] + node, enters ? 1 : -1);
    atomicAdd(of_top + node, enters ? 1 : -1);
}

// Number of violated rows; all lanes of a warp call it.
__device__ inline int tree_count(const Tree& tree) {
    return warp_count(int(tree.nodes[tree.first[tree.top] + lane_number()]));
}

// The violated row with ``rank`` lower ones before it; all lanes of a warp call it.
__device__ inline int tree_find(const Tree& tree, int rank) {
    const int lane = lane_number();
    int node = 0;
    for (int level = tree.top; level >= 0; --level) {
        const unsigned own = tree.nodes[tree.first[level] + 32 * node + lane];
        const int rows = level ? int(own) : __popc(own);
        const int before = warp_before(rows);
        const unsigned here =
            __ballot_sync(ALL_LANES, before <= rank && rank < before + rows);
        const int source = max(__ffs(int(here)) - 1, 0);
        rank -= __shfl_sync(ALL_LANES, before, source);
        node = 32 * node + source;
    }
    const unsigned bits = tree.nodes[node];
    const bool mine = (bits >> lane) & 1u;
    const int below = __popc(bits & ((1u << lane) - 1u));
    const unsigned here = __ballot_sync(ALL_LANES, mine && below == rank);
    return 32 * node + max(__ffs(int(here)) - 1, 0);
}
