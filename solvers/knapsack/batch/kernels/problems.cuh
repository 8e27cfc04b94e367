// What a launch over many problems takes, on both devices; many.py says what it is.
#pragma once

#include "both.cuh"

struct Problems {
    Array<const INDEX> starts;
    Array<const PROFIT_T> profit;
    Array<const WEIGHT_T> weight;
    Array<const INDEX> capacity;
};

// Lists to work in, and the number of the next problem, which a CPU has no use for.
struct Memory {
    Array<INDEX> lists, queue;
};

struct Packings {
    Array<INDEX> packed, value, ending, visited;
};

struct Sizes {
    int count, slots, words, room, near, most;
};
