// Places of control (layout.py explains them), and what rules.py has for the host.

#pragma once

#include "both.cuh"

namespace simplex::paper {

enum Place {
    STOP, PHASE, ITERATION, LIMIT, SINCE_INVERSE, ENTERING, ENTERING_COST, ENTERING_WEIGHT,
    LEAVING, STEP, PIVOT, COSTS_MOVED, DUAL_ERROR, BLAND, DUAL_TOLERANCE, PRIMAL_TOLERANCE,
    ZERO_PIVOT, SAFE_PIVOT, ERROR_ALLOWED, DEGENERATE
};

// Values of STOP.
constexpr double RUNNING = 0.0, NO_CANDIDATE = 1.0, NO_RATIO = 2.0, INACCURATE = 3.0,
                 SMALL_PIVOT = 4.0, BATCH_DONE = 5.0;

constexpr int BLOCK = 256, SLOTS = 3;

// Steps from here on count as endless.
constexpr double ENDLESS = 1e300;

// A by columns.
struct Matrix {
    Array<const INDEX> starts, rows;
    Array<const REAL> values;
};

// Rows, the distance of the inverse's columns, columns, and blocks that share a reduction.
struct Shape {
    int size, stride, columns, parts;
};

// What pricing reads beside A: costs, the duals, the pivot row, and what is basic.
struct Costs {
    Array<const REAL> cost, y, pivot_row;
    Array<const INDEX> position;
    Array<const REAL> basic_cost;
};

// What pricing leaves: reduced costs and weights, and the best candidate of each block.
struct Offers {
    int offered;
    Array<const REAL> reduced, weight, offers;
};

BOTH REAL magnitude(REAL value) { return value < REAL(0) ? -value : value; }

// A candidate: larger `key` wins, and among equals the smaller `index`; -1 stands for none.
struct Choice {
    REAL key;
    INDEX index;
    BOTH void take(REAL other_key, INDEX other_index) {
        if (other_index < 0) return;
        if (index < 0 || other_key > key || (other_key == key && other_index < index)) {
            key = other_key;
            index = other_index;
        }
    }
};

// Where the ratio test finds the bound of a basic variable: the step to it, and how far the
// tolerance lets the step go. Variables are non-negative, artificials (index >= columns) zero. One
// that is infeasible blocks where it becomes feasible, or not at all if it gets worse.
struct Ratio {
    REAL exact, relaxed;
    bool blocks;
};

BOTH Ratio ratio_of(REAL x, REAL d, bool artificial, const REAL* control) {
    const REAL tolerance = control[PRIMAL_TOLERANCE];
    const REAL allowed = control[BLAND] != REAL(0) ? REAL(0) : tolerance;
    Ratio ratio = {REAL(0), REAL(0), false};
    REAL room = REAL(0);
    if (d > control[ZERO_PIVOT]) {
        ratio.blocks = x >= -tolerance;
        room = x;
    } else if (d < -control[ZERO_PIVOT]) {
        ratio.blocks = x < -tolerance || (artificial && x <= tolerance);
        room = -x;
    }
    if (!ratio.blocks) return ratio;
    room = room > REAL(0) ? room : REAL(0);
    ratio.exact = room / magnitude(d);
    ratio.relaxed = (room + allowed) / magnitude(d);
    ratio.blocks = ratio.relaxed < REAL(ENDLESS);
    return ratio;
}

// The cost of a basic variable in phase 1: the gradient of the sum of infeasibilities.
BOTH REAL infeasibility_cost(REAL x, bool artificial, REAL tolerance) {
    if (x < -tolerance) return REAL(-1);
    return artificial && x > tolerance ? REAL(1) : REAL(0);
}

// Whether a pivot is large enough to be trusted. If not, the solve stops for a new inverse, or for
// another pivot where the inverse is fresh.
BOTH bool is_safe(REAL pivot, REAL* control) {
    if (!(magnitude(pivot) < control[SAFE_PIVOT])) return true;
    control[STOP] = REAL(control[SINCE_INVERSE] == REAL(0) ? SMALL_PIVOT : INACCURATE);
    return false;
}

// Note a pivot that is made.
BOTH void note_pivot(long long r, REAL step, REAL pivot, REAL* control) {
    control[LEAVING] = REAL(r);
    control[STEP] = step;
    control[PIVOT] = pivot;
    control[ITERATION] += REAL(1);
    control[SINCE_INVERSE] += REAL(1);
    if (step * -control[ENTERING_COST] <= REAL(0)) control[DEGENERATE] += REAL(1);
}

}  // namespace simplex::paper
