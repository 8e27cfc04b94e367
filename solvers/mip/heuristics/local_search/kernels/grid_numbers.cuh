// Sizes, random numbers that follow from key, round and place alone, and the tree.
//
// The violated rows are a tree of counts: its lowest level has a bit for each row; every node
// above counts the bits below 32 nodes of the level beneath it, up to a top level of 32 nodes at most.
// Levels stand one after the other, each filled up to a multiple of 32.
#pragma once

#include "model.cuh"

// Places in the control array, grid_walk.py describes them.
enum Control {
    MODE, FORCED, COPY, SMOOTH, ROW_TEAMS, OBJECTIVE_TEAMS, START, PENDING, DONE, HUGE_USED,
    EXCLUSIVE, MOVED, SEEN, MOVERS, ARRIVED, GENERATION
};

// Purposes of random numbers of a team; the round's own stand behind those of all teams.
constexpr int PURPOSES = 8, DRAW_ROW = 0, DRAW_OFFSET = 1, DRAW_TIE = 2, DRAW_TENURE = 3,
              DRAW_LOT = 4;
constexpr int MOST_TEAMS = 4096;  // teams that have random numbers of their own
constexpr long long ROUND_DRAWS = (MOST_TEAMS + 1) * PURPOSES;
constexpr int OF_ROUND = MOST_TEAMS, DRAW_WINDOW = 0, DRAW_SMOOTH = 1, DRAW_SLOTS = 2,
              DRAW_ORDER = 3;

struct Random {
    unsigned long long key;

    BOTH unsigned draw(long long step, int team, int purpose) const {
        const long long counter = step * ROUND_DRAWS + team * PURPOSES + purpose;
        return unsigned(mix(key + (unsigned long long)counter * GOLDEN) >> 32);
    }
    BOTH int below(long long step, int team, int purpose, int bound) const {
        const unsigned long long drawn = draw(step, team, purpose);
        return int((drawn * (unsigned long long)bound) >> 32);
    }
};

BOTH Random random_of(int seed) {
    const unsigned long long name = (unsigned long long)(unsigned)seed << 32;
    return Random{mix(name + 2ull * GOLDEN)};
}

BOTH unsigned long long ordered(double value) {  // keeps the order of numbers
    const unsigned long long bits = (unsigned long long)bits_of(value);
    return (bits >> 63) ? ~bits : bits | 0x8000000000000000ull;
}

enum Mode { REPAIR, LIFT, BREAK };

constexpr int CHUNK = 4096;       // entries of a long line that a warp reads at a time
constexpr int LANE_COLUMN = 128;  // entries of a column that a lane reads alone
constexpr int LANE_ROW = 64;      // and of a row
constexpr int TEAM_WORK = 8192;   // entries of longer columns that a team scores in a round
constexpr int SLOTS = 32;         // columns of more than a chunk that are scored in a round
constexpr int FETCHED = 4;        // entries whose rows are fetched together
constexpr int BLOCK = 256;        // threads of a block, as family.py says
constexpr int PIECES = 16384;     // sums that the objective is taken in
constexpr double CLOCK_LIMIT = 1e6;  // rounds after which stamps and claims start anew: 20 bits
constexpr int MOVE = 4;           // numbers of a move: column, value (or row), progress, change

struct Candidate {
    int column;  // -1 for none
    REAL value;
    Pair state;
};

constexpr int MOST_LEVELS = 7;  // of a tree with 32 nodes under each: more than 32 bits of rows

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
