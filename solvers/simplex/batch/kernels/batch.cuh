// What device code and C++ share: words, rules, and what a launch over many LPs takes (simplex.py).

#pragma once

#include "both.cuh"

// Bounds larger than this do not loosen the primal tolerance further.
constexpr REAL MOST_SIZE = 100;

// Part of the largest cost that reduced costs may be wrong by, whatever the tolerance.
constexpr REAL ROUNDING = 1e-15;

// Primal steps below this count as none.
constexpr REAL NO_STEP = 1e-12;

// How an LP ended; where it starts; where a block keeps it; the status of a variable; and how a run
// of pivots ended.
enum Ending { LIMIT, OPTIMAL, INFEASIBLE, UNBOUNDED, TROUBLE };
enum Start { SLACK, DICTIONARY, BASES };
enum Place { ALL_NEAR, MATRIX_FAR, ALL_FAR };
enum Status { LOWER, BASIC, UPPER, ZERO };
enum Pause { DONE, NO_PIVOT, AT_LIMIT, INACCURATE, PAUSED };

// What the array of parameters holds; ../data.py explains it.
enum Parameter {
    TOLERANCE, SMALLEST_PIVOT, WANTED_PIVOT, ACCURACY, STALLED, CHECK_EVERY, PERTURBATION, ROUNDS
};

// Whether a nonbasic variable of this reduced cost improves the objective by moving.
BOTH bool is_attractive(REAL price, int status, REAL low, REAL high, REAL tolerance) {
    if (low == high) return false;
    if (status == LOWER) return price < -tolerance;
    if (status == UPPER) return price > tolerance;
    return fabs(price) > tolerance;
}

// A number from [0.5, 1) that belongs to a variable, another one at each turn.
BOTH REAL spread(int v, int turn) {
    unsigned mixed = (unsigned(v) + 1u) * 2654435761u;
    mixed ^= unsigned(turn) * 2246822519u;
    mixed ^= mixed >> 15;
    mixed *= 3266489917u;
    return REAL(0.5) + REAL(0.5) * (REAL(mixed) / REAL(4294967296.0));
}

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
