// The model as device code sees it, scores of single entries, and the choice among candidates.

#pragma once

#include "pair.cuh"

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

    BOTH double range(int row) const {
        return row < inequalities ? 1e308 : double(ranges[row - inequalities]);
    }
};

// A rank for ties that differs for each candidate of a step and is never 0.
BOTH unsigned tie_rank(unsigned base, int candidate) {
    unsigned h = base + unsigned(candidate) * 0x9e3779b9u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    return (h & 0xfffff000u) | unsigned(candidate + 1);
}

BOTH double violation(double slack, double range) {
    const double beyond = slack < 0.0 ? -slack : slack - range;
    return beyond > TOLERANCE ? beyond : 0.0;
}

struct Score {
    double progress, bonus;
};

// Adds ``sign`` times what a row's change of slack is worth.
BOTH void add_row(Score& score, bool jump, double before, double after, double weight, double range,
                  double sign) {
    const double was = violation(before, range), is = violation(after, range);
    if (jump) {
        score.progress = plus(score.progress, sign * times(weight, plus(was, -is)));
    } else if (was > 0.0) {
        if (is == 0.0) score.progress += 2.0 * sign * weight;
        else if (is < was) score.progress += sign * weight;
        else if (is > was) score.progress -= sign * weight;
    } else if (is > 0.0) {
        score.progress -= 2.0 * sign * weight;
    } else {
        const bool had = before > TOLERANCE && range - before > TOLERANCE;
        const bool has = after > TOLERANCE && range - after > TOLERANCE;
        if (has && !had) score.bonus += sign * weight;
        if (had && !has) score.bonus -= sign * weight;
    }
}

struct Choice {  // a move; tie 0 stands for none; stamp says until when its column was bound last
    double progress, bonus;
    unsigned tie;
    int column;
    REAL value;
    unsigned stamp;
};

BOTH Choice no_choice() { return Choice{0.0, 0.0, 0u, -1, REAL(0), 0u}; }

BOTH bool better(const Choice& a, const Choice& b) {
    if (b.tie == 0u) return a.tie != 0u;
    if (a.progress != b.progress) return a.progress > b.progress;
    if (a.bonus != b.bonus) return a.bonus > b.bonus;
    if (a.stamp != b.stamp) return a.stamp < b.stamp;
    return a.tie > b.tie;
}
