// Numbers, random numbers that follow from key, round and place alone, the model, and the tree.
//
// The rules for violations are those of the other walkers (gpu/kernels), in the form this kernel
// needs. The violated rows are a tree of counts: its lowest level has a bit for each row; every node
// above counts the bits below 32 nodes of the level beneath it, up to a top level of 32 nodes at most.
// Levels stand one after the other, each filled up to a multiple of 32.
#pragma once

#include "both.cuh"

constexpr double NONE = 1e300;         // an objective that nothing has reached
constexpr double TOLERANCE = 9e-7;     // violations up to here count as none
constexpr double LEAST_GAIN = 1e-9;    // scores and steps up to here count as none
constexpr double LARGEST_WEIGHT = 1e6;
constexpr double UNBOUNDED = 1e308;

// Places in a walker's record that this kernel uses; gpu/kernels/walk.py has all of them.
enum Field {
    STEP, ORIGIN, REFRESH, OBJECTIVE, VIOLATED, WEIGHTED, OBJECTIVE_WEIGHT, TARGET, LIMIT, BEST,
    KEPT, CURSOR, IDLE, LAST, LAST_UP, MOVES, MINIMA, VISITED, ROWS, TENURE, SPREAD, SMOOTHING,
    JUMP, BREAKTHROUGHS, FRACTION, PAIRS, SCALE, GRANULARITY, PATIENCE
};

// Places in the control array, grid_walk.py describes them.
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

struct Model {
    int rows, inequalities, columns, binaries, integers, objectives;
    const INDEX* row_start;
    const INDEX* row_column;
    const REAL* row_value;
    const REAL* sides;   // (rows,) upper sides
    const REAL* ranges;  // (rows - inequalities,) upper less lower side
    const REAL* scales;  // (rows,) about one over the largest entry
    const INDEX* column_start;
    const INDEX* column_row;
    const REAL* column_value;
    const Pair* bounds;
    const COSTS_T* costs;
    const INDEX* objective_columns;
};

enum Mode { REPAIR, LIFT, BREAK };

constexpr int CHUNK = 4096;       // entries of a long line that a warp reads at a time
constexpr int LANE_COLUMN = 128;  // entries of a column that a lane reads alone
constexpr int LANE_ROW = 64;      // and of a row
constexpr int TEAM_WORK = 8192;   // entries of longer columns that a team scores in a round
constexpr int SLOTS = 32;         // columns of more than a chunk that are scored in a round
constexpr int LOOKS = 8;          // entries of a row among which a lane takes one that can move
constexpr int FETCHED = 4;        // entries whose rows are fetched together
constexpr int BLOCK = 256;
constexpr int PIECES = 16384;     // sums that the objective is taken in
constexpr double CLOCK_LIMIT = 1e6;  // rounds after which stamps and claims start anew: 20 bits
constexpr int MOVE = 4;           // numbers of a move: column, value (or row), progress, change

struct Choice {  // a move; tie 0 stands for none; stamp says until when its column was bound last
    double progress, bonus;
    unsigned tie;
    int column;
    double value;
    unsigned stamp;
};

BOTH Choice no_choice() { return Choice{0.0, 0.0, 0u, -1, 0.0, 0u}; }

BOTH bool better(const Choice& a, const Choice& b) {
    if (b.tie == 0u) return a.tie != 0u;
    if (a.progress != b.progress) return a.progress > b.progress;
    if (a.bonus != b.bonus) return a.bonus > b.bonus;
    if (a.stamp != b.stamp) return a.stamp < b.stamp;
    return a.tie > b.tie;
}

struct Candidate {
    int column;  // -1 for none
    REAL value;
    Pair state;
};

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
