// Numbers that a walker keeps between launches (walk.py has them by the same names and order), pairs
// of numbers, and random numbers that follow from key and counter alone.
#pragma once

#include "both.cuh"

enum Field {
    STEP, ORIGIN, REFRESH, OBJECTIVE, VIOLATED, WEIGHTED, OBJECTIVE_WEIGHT, TARGET, LIMIT, BEST,
    KEPT, CURSOR, IDLE, LAST, LAST_UP, MOVES, MINIMA, VISITED, ROWS, TENURE, SPREAD, SMOOTHING,
    JUMP, BREAKTHROUGHS, FRACTION, PAIRS, SCALE, GRANULARITY,
    PATIENCE, FIELDS
};

constexpr int RECORD = 32;             // doubles kept for each walker, FIELDS of them used
constexpr double NONE = 1e300;         // an objective that nothing has reached
constexpr double TOLERANCE = 9e-7;     // violations up to here count as none
constexpr double LEAST_GAIN = 1e-9;    // scores and steps up to here count as none
constexpr double LARGEST_WEIGHT = 1e6;
constexpr int ROW_ENTRIES = 64;        // entries of a row that are tried at once
constexpr int LOOKS = 8;               // entries of a long row among which one that can move is taken
constexpr int MOST_ROWS = 16;
constexpr int MOST_TIES = 4095;        // candidates that ties tell apart
constexpr int LIFT_WINDOW = 64;
constexpr int LIFT_PATIENCE = 1024;
constexpr int FORCED_BREAKTHROUGHS = 32;
constexpr int BUMPED_ROWS = 256;
constexpr int LONG_COLUMN = 256;       // columns and rows longer than this are read by all lanes
constexpr int LONG_ROW = 256;
constexpr double CLOCK_LIMIT = 4e6;    // moves after which stamps start anew, exact in 32 bits

// Purposes of random numbers within a step.
constexpr int STEP_DRAWS = 64, DRAW_ROW = 0, DRAW_OFFSET = 16, DRAW_BREAK = 32, DRAW_SMOOTH = 33,
              DRAW_BUMP = 34, DRAW_FORCED = 35, DRAW_FORCED_OFFSET = 36, DRAW_TENURE = 37,
              DRAW_TIE = 38, DRAW_LIFT_TIE = 39, DRAW_PAIR = 40, DRAW_PAIR_TIE = 41,
              DRAW_PAIR_OFFSET = 42, DRAW_FORCED_TIE = 43, DRAW_TENURE_PARTNER = 44,
              DRAW_BROKEN_TIE = 45;

#ifdef __CUDACC__
#define READ_AT_ONCE alignas(2 * sizeof(REAL))
#else
#define READ_AT_ONCE
#endif

struct READ_AT_ONCE Pair {
    REAL first;   // a column's value or a row's slack
    REAL second;  // a column's stamp or a row's weight
};

constexpr unsigned long long GOLDEN = 0x9e3779b97f4a7c15ull;

BOTH unsigned long long mix(unsigned long long z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

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

BOTH Random random_of(int seed, int walker, int epoch) {
    const unsigned long long name =
        ((unsigned long long)(unsigned)seed << 32) | (unsigned long long)walker;
    return Random{mix(name + (unsigned long long)(unsigned)epoch * GOLDEN)};
}
