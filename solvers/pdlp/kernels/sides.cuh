// What the two sides of an iteration read and write, and what a check reads of them, on both devices.

#pragma once

#include "both.cuh"
#include "control.cuh"

struct ColumnSide {
    Array<REAL> point;
    Array<const REAL> anchor, cost, lower, upper, metric;
    Array<const unsigned char> codes;  // of the bounds; ../bounds.py says what they stand for
    Table<const REAL> pairs;
    Array<REAL> reflected, projection, difference, first_difference;
};

struct RowSide {
    Array<REAL> point;
    Array<const REAL> anchor, lower, upper, metric;
    Array<const unsigned char> codes;
    Table<const REAL> pairs;
    Array<REAL> projection, difference, first_difference;
};

struct LastSteps {
    Array<const REAL> projection, difference, first_difference;
};

struct MeasuredRows {
    Array<const REAL> projection, difference, first_difference, anchor, lower, upper, metric;
};

struct MeasuredColumns {
    Array<const REAL> projection, difference, first_difference, anchor, cost, lower, upper, metric;
};
