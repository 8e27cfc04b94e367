// A matrix in compressed rows, and how its rows are shared out; products.py states the contracts.

#pragma once

#include "both.cuh"

struct Compressed {
    INDEX rows;
    Array<const INDEX> starts, indices;
    Array<const REAL> values;
};

struct Shares {
    int lanes;
    INDEX long_length, chunk, chunks;
    Array<const INDEX> chunk_rows, chunk_firsts;
    Array<REAL> partials;
    Array<INDEX> tickets;
};
