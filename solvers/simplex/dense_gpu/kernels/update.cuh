// What a dual pivot changes, by position and by variable.

#pragma once

#include "core.cuh"

struct Position {
    REAL alpha, beta, tau, value, low, high, weight;
};

// The values of basic variables, their bounds, and the weights of positions.
struct Basics {
    REAL* value;
    REAL* lower;
    REAL* upper;
    REAL* weights;
    INDEX* variable;
};

// The pivot: position r, variables, steps, and what becomes of weights.
struct Exchange {
    INDEX position, leaving, entering, made;  // `made` counts the pivots before
    REAL reciprocal, primal_step,  // of the pivot element
        dual_step, entering_value, norm, bound, excess, cost_shift;
    bool steepest, reset;
};

__device__ __forceinline__ void ask_basic(Position& own, int p, const Basics& basics) {
    own.value = basics.value[p];
    own.low = basics.lower[p];
    own.high = basics.upper[p];
    own.weight = basics.weights[p];
}

// Make the pivot at a position; how much it then speaks for this position to leave.
__device__ __forceinline__ REAL update_position(
    Position& own, int p, int most, const Exchange& made, const Basics& basics, const REAL* lower,
    const REAL* upper, REAL tolerance, REAL* etas) {
    const REAL reciprocal = made.reciprocal, share = own.alpha * reciprocal;
    REAL eta = -share;
    if (p == made.position) {
        own.value = made.entering_value + made.primal_step;
        own.low = lower[made.entering];
        own.high = upper[made.entering];
        basics.lower[p] = own.low;
        basics.upper[p] = own.high;
        basics.variable[p] = made.entering;
        eta = reciprocal - REAL(1);
        own.weight = fmax(made.norm * reciprocal * reciprocal,
                          made.steepest ? REAL(LEAST_WEIGHT) : REAL(1));
    } else {
        own.value = own.value - own.beta - made.primal_step * own.alpha;
        own.weight = made.steepest
            ? fmax(own.weight + share * (share * made.norm - REAL(2) * own.tau),
                   REAL(LEAST_WEIGHT))
            : fmax(own.weight, share * share * made.norm);
    }
    if (made.reset) own.weight = REAL(1);
    basics.value[p] = own.value;
    basics.weights[p] = own.weight;
    etas[(long long)p * most + made.made] = eta;
    const REAL over = excess_of(own.value, own.low, own.high, tolerance);
    return over == REAL(0) ? REAL(0) : over * over / own.weight;
}

// Prices, bounds and statuses of variables.
struct Variables {
    const REAL* lower;
    const REAL* upper;
    REAL* x;
    REAL* cost;
    REAL* reduced_cost;
    INDEX* status;
    INDEX* reference;
};

// Make the pivot at a variable, of which `change` is alpha and `d` the reduced cost if nonbasic.
__device__ __forceinline__ void update_variable(
    long long j, bool nonbasic, REAL change, REAL d, const Exchange& made, const Variables& all) {
    bool basic_now = !nonbasic;
    if (j == made.entering) {
        all.reduced_cost[j] = REAL(0);
        if (made.cost_shift != REAL(0)) all.cost[j] -= made.cost_shift;
        all.status[j] = BASIC;
        basic_now = true;
    } else if (j == made.leaving) {
        const bool below = made.excess < REAL(0) || all.lower[j] == all.upper[j];
        all.reduced_cost[j] = -made.dual_step;
        all.status[j] = below ? LOWER : UPPER;
        all.x[j] = made.bound;
        basic_now = false;
    } else if (nonbasic) {
        d -= made.dual_step * change;
        all.reduced_cost[j] = d;
    }
    if (made.reset) all.reference[j] = basic_now ? 1 : 0;
}

__device__ __forceinline__ void flip(INDEX j, REAL step, const Variables& all) {
    const bool up = step > REAL(0);
    all.x[j] = up ? all.upper[j] : all.lower[j];
    all.status[j] = up ? UPPER : LOWER;
}
