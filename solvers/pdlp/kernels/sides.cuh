// What the two sides of an iteration read and write, on both devices.

#pragma once

#include "both.cuh"
#include "control.cuh"

struct ColumnSide {
    Array<REAL> point;
    Array<const REAL> anchor, cost, lower, upper, metric;
    Array<REAL> reflected, projection, difference, first_difference;
};

struct RowSide {
    Array<REAL> point;
    Array<const REAL> anchor, lower, upper, metric;
    Array<REAL> projection, difference, first_difference;
};
