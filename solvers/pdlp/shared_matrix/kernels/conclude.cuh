// What a check concludes about one of several problems; check.py states the rules.

#pragma once

#include "both.cuh"
#include "fields.cuh"

#define SUMS 6

#define SHORTEST_DISTANCE REAL(1e-16)
#define LONGEST_DISTANCE REAL(1e12)
#define LARGEST_IMBALANCE REAL(8)

BOTH REAL support(REAL multiplier, REAL low, REAL high) {
    if (multiplier > REAL(0)) return multiplier * low;
    if (multiplier < REAL(0)) return multiplier * high;
    return REAL(0);
}

BOTH bool finite(REAL value) { return value - value == REAL(0); }

// One problem's column of the control array.
struct Column {
    REAL* control;
    int width, problem;

    BOTH REAL& operator[](int field) const {
        return control[field * width + problem];
    }
};

BOTH REAL imbalance(REAL primal, REAL dual) {
    return primal <= REAL(0) || dual <= REAL(0) ? REAL(-1) : fabs(log10(dual / primal));
}

BOTH REAL metric_of(REAL weight, REAL dx, REAL dy) {
    return sqrt(weight * dx + dy / weight);
}

BOTH void update_weight(const Column& control, REAL primal, REAL dual) {
    const REAL from_x = control[PRIMAL_DISTANCE], from_y = control[DUAL_DISTANCE];
    const bool telling = SHORTEST_DISTANCE < from_x && from_x < LONGEST_DISTANCE &&
                         SHORTEST_DISTANCE < from_y && from_y < LONGEST_DISTANCE &&
                         imbalance(primal, dual) <= LARGEST_IMBALANCE;
    if (!telling) {
        control[WEIGHT] = control[BEST_WEIGHT];
        return;
    }
    const bool both = primal > REAL(0) && dual > REAL(0);
    const REAL ratio = both ? pow(primal / dual, control[RESIDUAL_EXPONENT]) : REAL(1);
    control[WEIGHT] = from_y / from_x * ratio;
}

BOTH bool restart_is_due(const Column& control, REAL metric, REAL iterations) {
    const REAL first = control[FIRST_METRIC];
    return control[CHECKS] == REAL(1) || metric <= control[SUFFICIENT] * first ||
           (metric <= control[NECESSARY] * first && metric > control[PREVIOUS_METRIC]) ||
           iterations >= control[ARTIFICIAL] * control[ITERATIONS];
}

BOTH void conclude(const REAL* rows, const REAL* columns, int count, const Column& control) {
    const REAL iterations = control[ITERATIONS_SINCE_RESTART] + (REAL)count;
    control[ITERATIONS] += (REAL)count;
    control[CHECKS] += REAL(1);
    if (control[ITERATIONS_SINCE_RESTART] == REAL(0)) {
        control[FIRST_METRIC] = metric_of(control[WEIGHT], columns[4], rows[4]);
        control[PREVIOUS_METRIC] = REAL(1) / REAL(0);
    }
    const REAL metric = metric_of(control[WEIGHT], columns[3], rows[3]);
    const REAL primal_objective = columns[5], dual_objective = rows[1] + columns[1];
    control[PRIMAL_RESIDUAL] = sqrt(rows[0]);
    control[DUAL_RESIDUAL] = sqrt(columns[0]);
    control[PRIMAL_OBJECTIVE] = primal_objective;
    control[DUAL_OBJECTIVE] = dual_objective;
    control[PRIMAL_DISTANCE] = sqrt(columns[2]);
    control[DUAL_DISTANCE] = sqrt(rows[2]);
    const REAL primal = control[PRIMAL_RESIDUAL] / (REAL(1) + control[SIDE_NORM]);
    const REAL dual = control[DUAL_RESIDUAL] / (REAL(1) + control[COST_NORM]);
    const REAL gap = fabs(primal_objective - dual_objective) /
                     (REAL(1) + fabs(primal_objective) + fabs(dual_objective));
    control[ITERATIONS_SINCE_RESTART] = iterations;
    if (!finite(primal + dual + gap + metric)) {
        control[STOP] = STOP_BROKEN;
        return;
    }
    const REAL worst = fmax(primal, fmax(dual, gap));
    const bool optimal = worst <= control[TOLERANCE];
    if (optimal || worst < control[BEST_ERROR]) {
        control[BEST_ERROR] = worst;
        control[KEEP_BEST] = REAL(1);
    }
    const REAL found = imbalance(primal, dual);
    if (found >= REAL(0) && found < control[BEST_IMBALANCE]) {
        control[BEST_IMBALANCE] = found;
        control[BEST_WEIGHT] = control[WEIGHT];
    }
    if (optimal) {
        control[STOP] = STOP_OPTIMAL;
        return;
    }
    const bool restart = restart_is_due(control, metric, iterations);
    control[PREVIOUS_METRIC] = metric;
    if (restart) {
        update_weight(control, primal, dual);
        control[ITERATIONS_SINCE_RESTART] = REAL(0);
        control[RESTARTS] += REAL(1);
        control[RESTART] = REAL(1);
    }
    control[TAU] = control[STEP] / control[WEIGHT];
    control[SIGMA] = control[STEP] * control[WEIGHT];
}
