// Numbers that a walker keeps between launches (walk.py has them by the same names and order), pairs
// of numbers, and the mixing of bits that random numbers come from.
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
constexpr int LOOKS = 8;               // entries of a long row among which one that can move is taken

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
