// The model, and the choice among moves.

#pragma once

#include "numbers.cuh"

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
