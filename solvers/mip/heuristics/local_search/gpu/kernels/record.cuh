// Numbers that a walker keeps between launches; fields.py has them by the same names and order.

#pragma once

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
