// The violated rows as a tree of counts.
//
// The lowest level has a bit for each row; every node above counts the bits below 32 nodes of the
// level beneath it, up to a top level of 32 nodes at most. Levels stand one after the other, each
// filled up to a multiple of 32.

#pragma once

#include "both.cuh"

constexpr int MOST_LEVELS = 7;

BOTH int padded(int nodes) { return (nodes + 31) & ~31; }

struct Tree {
    unsigned* nodes;
    int top;                  // number of the top level
    int first[MOST_LEVELS];   // where each level begins
    int size;

    // Called by one thread; ``rows`` decides the shape.
    BOTH void shape(unsigned* memory, int rows) {
        nodes = memory;
        int level = 0, width = (rows + 31) / 32;
        first[0] = 0;
        size = padded(larger(width, 1));
        do {
            width = (width + 31) / 32;
            first[++level] = size;
            size += padded(larger(width, 1));
        } while (width > 32);
        top = level;
    }
};
