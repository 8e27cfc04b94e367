// What a dive fixes a column at, by rule, seed and chance; dive.py names the rules.

#pragma once

#include "bounds.cuh"

// The last columns are fixed one by one (section 2.3 of arXiv 2510.20499).
constexpr int LAST_ONES = 36;

enum Rule { DOWN, UP, RANDOM, GOOD, BAD, LOOSE, TIGHT, REFERENCE };
enum Amount { WHOLE, HALF, FIRST, OTHER };
enum DiveControl { CURSOR = 10, BULK = 11 };

// The widest interval of which any value may be drawn.
constexpr double DRAWN_WIDTH = 1e6;

// One number in [0, 1) for each triple.
BOTH REAL uniform(unsigned seed, unsigned column, unsigned which) {
    unsigned h = seed * 0x9e3779b1u + column * 0x85ebca77u + which * 0xc2b2ae3du;
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    h ^= h >> 16;
    return (REAL)(h >> 8) * REAL(1.0 / 16777216.0);
}

BOTH REAL at_end(int direction, REAL lower, REAL upper) {
    const bool has_lower = lower > -INFINITE, has_upper = upper < INFINITE;
    if (direction > 0) return has_upper ? upper : (has_lower ? lower : REAL(0));
    return has_lower ? lower : (has_upper ? upper : REAL(0));
}

BOTH REAL drawn(REAL chance, REAL lower, REAL upper) {
    const REAL width = upper - lower;
    if (!(width <= REAL(DRAWN_WIDTH))) return at_end(chance < REAL(0.5) ? -1 : 1, lower, upper);
    const REAL value = lower + floor(times(chance, width + REAL(1)));
    return value > upper ? upper : value;
}

BOTH REAL near_reference(REAL chance, REAL x, REAL lower, REAL upper) {
    REAL threshold = times(times(REAL(2), chance), REAL(1) - chance);
    if (chance > REAL(0.5)) threshold = REAL(1) - threshold;
    const REAL value = floor(x + threshold);
    return value < lower ? lower : (value > upper ? upper : value);
}

// Another value in [lower, upper] than `value`: the other end, or the next number.
BOTH REAL other_than(REAL value, REAL lower, REAL upper) {
    if (value == lower) return upper < INFINITE ? upper : lower + REAL(1);
    if (value == upper) return lower > -INFINITE ? lower : upper - REAL(1);
    return value + REAL(1);
}

BOTH REAL value_of(
    int rule, unsigned seed, REAL noise, unsigned column, int good, int loose, REAL x, REAL lower,
    REAL upper) {
    const REAL chance = uniform(seed, column, 0u);
    if (uniform(seed, column, 1u) < noise) rule = RANDOM;
    switch (rule) {
        case DOWN: return at_end(-1, lower, upper);
        case UP: return at_end(1, lower, upper);
        case GOOD: return at_end(good, lower, upper);
        case BAD: return at_end(-good, lower, upper);
        case LOOSE: return at_end(loose, lower, upper);
        case TIGHT: return at_end(-loose, lower, upper);
        case REFERENCE: return near_reference(chance, x, lower, upper);
        default: return drawn(chance, lower, upper);
    }
}
