// What a launch over many LPs takes, on both devices; simplex.py says what it is.

#pragma once

#include "both.cuh"

// Arrays that the bits of `varying` give a row for each LP, and the pattern that all share.
struct Batch {
    Array<const INDEX> starts, indices;
    int varying;
    Array<const REAL> values, cost, lower, upper, row_lower, row_upper;
    Array<const INDEX> given;
};

// LPs as they were given, and the places of their entries by columns, which a GPU reads.
struct GivenLps {
    Array<const INDEX> starts, indices, column_starts, column_rows, column_entries;
    int is_full, varying;
    Array<const REAL> values, cost, lower, upper, row_lower, row_upper, offset;
};

struct StartBasis {
    Array<const REAL> row_scale, column_scale, dictionary;
    Array<const INDEX> heads;
    int start;
};

// Where blocks keep their LPs; of no use on a CPU.
struct Room {
    int leading, place, block, blocks, shared;
    INDEX scratch_step;
    Array<REAL> scratch;
};

struct Answers {
    Array<REAL> x, y, ray;
    Array<INDEX> basis, ending, iterations;
};

// The row that LP k has of an array, by the array's bit.
template <class Value>
BOTH const Value* own_row(const Value* values, long long width, long long k, int varying, int bit) {
    return values + (((varying >> bit) & 1) ? k * width : 0LL);
}
