// What a check concludes from its sums; decide.py states the rules.

#pragma once

#include "both.cuh"
#include "control.cuh"

#define SUMS 7

BOTH REAL root(REAL square) { return sqrt(square); }

// Decades between the relative residuals, or -1 when one of them is exactly zero.
BOTH REAL imbalance(REAL primal, REAL dual) {
    return primal <= REAL(0) || dual <= REAL(0) ? REAL(-1) : fabs(log10(dual / primal));
}

BOTH void update_weight(REAL* control, REAL primal, REAL dual) {
    const REAL low = control[SHORTEST_DISTANCE], high = control[LONGEST_DISTANCE];
    const REAL from_x = control[PRIMAL_DISTANCE], from_y = control[DUAL_DISTANCE];
    const bool telling = low < from_x && from_x < high && low < from_y && from_y < high &&
                         imbalance(primal, dual) <= control[LARGEST_IMBALANCE];
    if (!telling) {
        control[WEIGHT] = control[BEST_WEIGHT];
        return;
    }
    const bool both = primal > REAL(0) && dual > REAL(0);
    const REAL ratio = both ? pow(primal / dual, control[RESIDUAL_EXPONENT]) : REAL(1);
    const REAL wanted = from_y / from_x * ratio;
    const REAL change = log(wanted / control[WEIGHT]);
    const bool turns = change * control[LAST_CHANGE] < REAL(0);
    control[LAST_CHANGE] = turns ? control[REVERSAL] * change : change;
    control[WEIGHT] = turns ? control[WEIGHT] * exp(control[LAST_CHANGE]) : wanted;
}

BOTH bool restart_is_due(const REAL* control, REAL metric, REAL iterations) {
    const REAL first = control[FIRST_METRIC];
    return control[CHECKS] == REAL(1) || metric <= control[SUFFICIENT] * first ||
           (metric <= control[NECESSARY] * first && metric > control[PREVIOUS_METRIC]) ||
           iterations >= control[ARTIFICIAL] * control[ITERATIONS];
}

// Whether the metric is what it was at half the iterations; remembers it at each doubling.
BOTH bool stands_still(REAL* control, REAL metric, REAL iterations) {
    if (control[MARK_ITERATIONS] == REAL(0)) {
        control[MARK_ITERATIONS] = iterations;
        control[MARK_METRIC] = metric;
        return false;
    }
    if (iterations < REAL(2) * control[MARK_ITERATIONS]) return false;
    const bool still = metric > control[STANDSTILL] * control[MARK_METRIC];
    control[MARK_ITERATIONS] = iterations;
    control[MARK_METRIC] = metric;
    return still && iterations >= control[STANDSTILL_SHARE] * control[ITERATIONS];
}

BOTH REAL metric_squared(const REAL* control, REAL dx, REAL dy, REAL cross) {
    const REAL omega = control[WEIGHT];
    return omega * dx + dy / omega + REAL(2) * control[STEP] * cross;
}

BOTH void conclude(const REAL* rows, const REAL* columns, int count, REAL* control) {
    const REAL infinity = REAL(1) / REAL(0);
    const bool has_restarted = control[ITERATIONS_SINCE_RESTART] == REAL(0);
    const REAL iterations = control[ITERATIONS_SINCE_RESTART] + (REAL)count;
    control[ITERATIONS] += (REAL)count;
    control[CHECKS] += REAL(1);
    control[RESTART] = control[KEEP_BEST] = control[KEEP_FEASIBLE] = REAL(0);
    if (has_restarted) {
        const REAL square = metric_squared(control, columns[5], rows[5], rows[6]);
        control[FIRST_METRIC] = square > REAL(0) ? sqrt(square) : REAL(0);
        control[PREVIOUS_METRIC] = infinity;
        control[MARK_ITERATIONS] = REAL(0);
    }
    const REAL square = metric_squared(control, columns[3], rows[3], rows[4]);
    const REAL primal_objective = columns[4] + control[OFFSET];
    const REAL dual_objective = rows[1] + columns[1] + control[OFFSET];
    control[PRIMAL_RESIDUAL] = root(rows[0]);
    control[DUAL_RESIDUAL] = root(columns[0]);
    control[PRIMAL_OBJECTIVE] = primal_objective;
    control[DUAL_OBJECTIVE] = dual_objective;
    control[PRIMAL_DISTANCE] = root(columns[2]);
    control[DUAL_DISTANCE] = root(rows[2]);
    control[METRIC_SQUARED] = square;
    const REAL primal = control[PRIMAL_RESIDUAL] / (REAL(1) + control[SIDE_NORM]);
    const REAL dual = control[DUAL_RESIDUAL] / (REAL(1) + control[COST_NORM]);
    const REAL gap = fabs(primal_objective - dual_objective) /
                     (REAL(1) + fabs(primal_objective) + fabs(dual_objective));
    control[ITERATIONS_SINCE_RESTART] = iterations;
    const REAL all = primal + dual + gap + square;
    if (!(all - all == REAL(0))) {
        control[STOP] = STOP_BROKEN;
        return;
    }
    const REAL worst = fmax(primal, fmax(dual, gap));
    if (worst < control[BEST_ERROR]) {
        control[BEST_ERROR] = worst;
        control[KEEP_BEST] = REAL(1);
    }
    const bool feasible = primal <= control[PRIMAL_TOLERANCE];
    if (feasible && primal_objective < control[BEST_OBJECTIVE]) {
        control[BEST_OBJECTIVE] = primal_objective;
        control[KEEP_FEASIBLE] = REAL(1);
    }
    const REAL found = imbalance(primal, dual);
    if (found >= REAL(0) && found < control[BEST_IMBALANCE]) {
        control[BEST_IMBALANCE] = found;
        control[BEST_WEIGHT] = control[WEIGHT];
    }
    if (feasible && dual <= control[DUAL_TOLERANCE] && gap <= control[GAP_TOLERANCE]) {
        control[STOP] = STOP_OPTIMAL;
        return;
    }
    if (square < REAL(0)) control[STEP] *= control[STEP_SHRINK];
    const REAL metric = square > REAL(0) ? sqrt(square) : REAL(0);
    const bool still = stands_still(control, metric, iterations);
    const bool restart = still || restart_is_due(control, metric, iterations);
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
