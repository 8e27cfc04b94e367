// The violated rows as a tree of counts, in which any number of threads change rows at once.
//
// The lowest level has a bit for each row; every node above counts the bits below 32 nodes of the
// level beneath it, up to a top level of 32 nodes at most. Levels stand one after the other, each
// filled up to a multiple of 32. What the tree holds does not depend on the order of changes, and
// the k-th violated row is found by a warp in one look at each level. Changes of the top level,
// where all threads would meet, are gathered for each block first.

#pragma once

#include "grid.cuh"

constexpr int MOST_LEVELS = 7;

__device__ inline int padded(int nodes) { return (nodes + 31) & ~31; }

struct Tree {
    unsigned* nodes;
    int top;                  // number of the top level
    int first[MOST_LEVELS];   // where each level begins
    int size;

    // Called by one thread; ``rows`` decides the shape.
    __device__ void shape(unsigned* memory, int rows) {
        nodes = memory;
        int level = 0, width = (rows + 31) / 32;
        first[0] = 0;
        size = padded(max(width, 1));
        do {
            width = (width + 31) / 32;
            first[++level] = size;
            size += padded(max(width, 1));
        } while (width > 32);
        top = level;
    }

    // Notes that a row has become violated or holds again; ``of_top`` (32) are the block's.
    __device__ void change(int row, bool enters, int* of_top) const {
        atomicXor(nodes + (row >> 5), 1u << (row & 31));
        int node = row >> 10;
        for (int level = 1; level < top; ++level, node >>= 5)
            atomicAdd((int*)nodes + first[level] + node, enters ? 1 : -1);
        atomicAdd(of_top + node, enters ? 1 : -1);
    }

    // Number of violated rows; all lanes of a warp call it.
    __device__ int count() const { return warp_count(int(nodes[first[top] + lane_number()])); }

    // The violated row with ``rank`` lower ones before it; all lanes of a warp call it.
    __device__ int find(int rank) const {
        const int lane = lane_number();
        int node = 0;
        for (int level = top; level >= 0; --level) {
            const unsigned own = nodes[first[level] + 32 * node + lane];
            const int rows = level ? int(own) : __popc(own);
            const int before = warp_before(rows);
            const unsigned here =
                __ballot_sync(ALL_LANES, before <= rank && rank < before + rows);
            const int source = max(__ffs(int(here)) - 1, 0);
            rank -= __shfl_sync(ALL_LANES, before, source);
            node = 32 * node + source;
        }
        const unsigned bits = nodes[node];
        const bool mine = (bits >> lane) & 1u;
        const int below = __popc(bits & ((1u << lane) - 1u));
        const unsigned here = __ballot_sync(ALL_LANES, mine && below == rank);
        return 32 * node + max(__ffs(int(here)) - 1, 0);
    }
};
