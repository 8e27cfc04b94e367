// What a check reads of the two sides, on both devices.

#pragma once

#include "both.cuh"
#include "control.cuh"

struct LastSteps {
    Array<const REAL> projection, difference, first_difference;
};

struct MeasuredRows {
    Array<const REAL> projection, difference, first_difference, anchor, lower, upper, metric;
};

struct MeasuredColumns {
    Array<const REAL> projection, difference, first_difference, anchor, cost, lower, upper, metric;
};
