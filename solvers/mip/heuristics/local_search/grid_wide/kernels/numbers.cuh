// Numbers, random numbers that follow from key, round and place alone, and the rules for violations.
//
// The rules are those of the other walkers (walkers/kernels), in the form this kernel needs.

#pragma once

#include "both.cuh"

constexpr double NONE = 1e300;         // an objective that nothing has reached
constexpr double TOLERANCE = 9e-7;     // violations up to here count as none
constexpr double LEAST_GAIN = 1e-9;    // scores and steps up to here count as none
constexpr double LARGEST_WEIGHT = 1e6;
constexpr double UNBOUNDED = 1e308;

// Places in a walker's record that this kernel uses; walkers/kernels/fields.py has all of them.
enum Field {
    STEP, ORIGIN, REFRESH, OBJECTIVE, VIOLATED, WEIGHTED, OBJECTIVE_WEIGHT, TARGET, LIMIT, BEST,
    KEPT, CURSOR, IDLE, LAST, LAST_UP, MOVES, MINIMA, VISITED, ROWS, TENURE, SPREAD, SMOOTHING,
    JUMP, BREAKTHROUGHS, FRACTION, PAIRS, SCALE, GRANULARITY, PATIENCE
};

// Places in the control array, fields.py describes them.
enum Control {
    MODE, FORCED, COPY, SMOOTH, ROW_TEAMS, OBJECTIVE_TEAMS, START, PENDING, DONE, HUGE_USED,
    EXCLUSIVE, MOVED, SEEN, MOVERS, ARRIVED, GENERATION
};

#ifdef __CUDACC__
#define READ_AT_ONCE alignas(2 * sizeof(REAL))
#else
#define READ_AT_ONCE
#endif

struct READ_AT_ONCE Pair {
    REAL first;   // a column's value or a row's slack
    REAL second;  // a column's stamp or a row's weight
};

BOTH unsigned long long mix(unsigned long long z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// Purposes of random numbers of a team; the round's own stand behind those of all teams.
constexpr int PURPOSES = 8, DRAW_ROW = 0, DRAW_OFFSET = 1, DRAW_TIE = 2, DRAW_TENURE = 3,
              DRAW_LOT = 4;
constexpr int MOST_TEAMS = 4096;
constexpr long long ROUND_DRAWS = (MOST_TEAMS + 1) * PURPOSES;
constexpr int OF_ROUND = MOST_TEAMS, DRAW_WINDOW = 0, DRAW_SMOOTH = 1, DRAW_SLOTS = 2,
              DRAW_ORDER = 3;

struct Random {
    unsigned long long key;

    BOTH unsigned draw(long long step, int team, int purpose) const {
        const long long counter = step * ROUND_DRAWS + team * PURPOSES + purpose;
        return unsigned(mix(key + (unsigned long long)counter * 0x9e3779b97f4a7c15ull) >> 32);
    }
    BOTH int below(long long step, int team, int purpose, int bound) const {
        const unsigned long long drawn = draw(step, team, purpose);
        return int((drawn * (unsigned long long)bound) >> 32);
    }
};

BOTH Random random_of(int seed) {
    const unsigned long long name = (unsigned long long)(unsigned)seed << 32;
    return Random{mix(name + 2ull * 0x9e3779b97f4a7c15ull)};
}

// A rank for ties that differs for each lane of a team and is never 0.
BOTH unsigned tie_rank(unsigned base, int lane) {
    unsigned h = base + unsigned(lane) * 0x9e3779b9u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    return (h & 0xfffff000u) | unsigned(lane + 1);
}

BOTH unsigned long long ordered(double value) {  // keeps the order of numbers
    const unsigned long long bits = (unsigned long long)bits_of(value);
    return (bits >> 63) ? ~bits : bits | 0x8000000000000000ull;
}

BOTH double violation(double slack, double range) {
    const double beyond = slack < 0.0 ? -slack : slack - range;
    return beyond > TOLERANCE ? beyond : 0.0;
}

struct Score {
    double progress, bonus;
};

// Adds what a row's change of slack is worth.
BOTH void add_row(Score& score, bool jump, double before, double after, double weight,
                  double range) {
    const double was = violation(before, range), is = violation(after, range);
    if (jump) {
        score.progress = plus(score.progress, times(weight, plus(was, -is)));
    } else if (was > 0.0) {
        if (is == 0.0) score.progress += 2.0 * weight;
        else if (is < was) score.progress += weight;
        else if (is > was) score.progress -= weight;
    } else if (is > 0.0) {
        score.progress -= 2.0 * weight;
    } else {
        const bool had = before > TOLERANCE && range - before > TOLERANCE;
        const bool has = after > TOLERANCE && range - after > TOLERANCE;
        if (has && !had) score.bonus += weight;
        if (had && !has) score.bonus -= weight;
    }
}
