// Sizes and places of a batch of boxes, as batch.py has them, and words with a bit for each lane.

#pragma once

#include "both.cuh"

constexpr int LANES = 32;
constexpr int LONG_ROW = 256;
constexpr int LONG_COLUMN = 2048;
constexpr int PARTS = 32;  // of a long row

enum BatchControl {
    NUM_ROWS = 0, NUM_LONG_ROWS = 2, NUM_COLUMNS = 4, DEAD = 6, WORK = 8, ROUNDS = 9
};

BOTH bool has(unsigned word, int lane) { return (word >> lane) & 1u; }

// Entries [first, last) of a row whose binary columns end at `split`.
struct Stretch {
    INDEX first, split, last;

    // One of PARTS parts, in order.
    BOTH Stretch part(int which) const {
        const INDEX size = (last - first + PARTS - 1) / PARTS;
        const INDEX begin = first + which * size < last ? first + which * size : last;
        const INDEX end = begin + size < last ? begin + size : last;
        const INDEX middle = split < begin ? begin : (split > end ? end : split);
        return {begin, middle, end};
    }
};
