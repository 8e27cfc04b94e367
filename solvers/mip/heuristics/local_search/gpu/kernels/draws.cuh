// What only the many walkers have: sizes, and random numbers that follow from key and counter alone.
#pragma once

#include "model.cuh"

constexpr int ROW_ENTRIES = 64;        // entries of a row that are tried at once
constexpr int MOST_ROWS = 16;          // violated rows sampled in a step
constexpr int MOST_TIES = 4095;        // candidates that ties tell apart
constexpr int LIFT_WINDOW = 64;         // objective columns compared after a first lift
constexpr int LIFT_PATIENCE = 1024;     // and looked at for the first, as layout.py says
constexpr int FORCED_BREAKTHROUGHS = 32; // objective columns tried where no row is violated
constexpr int BUMPED_ROWS = 256;       // violated rows made heavier at a local minimum, at most
constexpr int WARP_LINE = 256;         // columns and rows longer than this are read by all lanes
constexpr double CLOCK_LIMIT = 4e6;    // moves after which stamps start anew, exact in 32 bits

// Purposes of random numbers within a step.
constexpr int STEP_DRAWS = 64, DRAW_ROW = 0, DRAW_OFFSET = 16, DRAW_BREAK = 32, DRAW_SMOOTH = 33,
              DRAW_BUMP = 34, DRAW_FORCED = 35, DRAW_FORCED_OFFSET = 36, DRAW_TENURE = 37,
              DRAW_TIE = 38, DRAW_LIFT_TIE = 39, DRAW_PAIR = 40, DRAW_PAIR_TIE = 41,
              DRAW_PAIR_OFFSET = 42, DRAW_FORCED_TIE = 43, DRAW_TENURE_PARTNER = 44,
              DRAW_BROKEN_TIE = 45;

struct Random {
    unsigned long long key;
    BOTH unsigned draw(long long step, int purpose) const {
        const unsigned long long counter = (unsigned long long)(step * STEP_DRAWS + purpose);
        return unsigned(mix(key + counter * GOLDEN) >> 32);
    }
    BOTH int below(long long step, int purpose, int bound) const {
        return int(((unsigned long long)draw(step, purpose) * (unsigned long long)bound) >> 32);
    }
    BOTH bool chance(long long step, int purpose, double probability) const {
        return double(draw(step, purpose)) < probability * 4294967296.0;
    }
};

BOTH Random random_of(int seed, int walker, int number) {
    const unsigned long long name =
        ((unsigned long long)(unsigned)seed << 32) | (unsigned long long)walker;
    return Random{mix(name + (unsigned long long)(unsigned)number * GOLDEN)};
}
