// What a walker goes on from; for the kernel and for the CPU.

#pragma once

#include "draws.cuh"
#include "model.cuh"

struct Origins {  // where walkers start again, and how
    Array<const REAL> points;
    Array<const INDEX> origins, weights;
    Array<const REAL> shares;
};

// Where one walker starts again, and how.
struct Fresh {
    const Model& model;
    Random random;
    double share;  // probability that a column changes
    int weights;   // 0 to reset weights, 1 to keep them, 2 to halve them
    bool jumps, others;  // whether this walker, and the one it follows, measure rows in their entries

    // The value of a column that starts from `value`.
    BOTH REAL value_of(int j, double value) const {
        if (!random.chance(j, 0, share)) return REAL(value);
        if (j < model.binaries) return REAL(1.0 - value);
        const double low = double(model.bounds[2 * (long long)j]);
        const double high = double(model.bounds[2 * (long long)j + 1]);
        const double reach = smaller(plus(high, -low), larger(1.0, times(0.2, fabs(value))));
        const double drawn = double(random.draw(j, 1)) / 4294967296.0;
        const double turn = plus(times(2.0, drawn), -1.0);
        value = plus(value, times(turn, reach));
        if (j < model.integers) value = turn > 0.0 ? ceil(value) : floor(value);
        return REAL(smaller(larger(value, low), high));
    }

    BOTH double changed(double weight, double least) const {
        if (weights == 0) return least;
        return larger(least, weights == 2 ? floor(0.5 * weight) : weight);
    }

    // The weight of a row that has this one where the walker starts from.
    BOTH REAL weight_of(double weight, double scale) const {
        return REAL(times(changed(weight / (others ? scale : 1.0), 1.0), jumps ? scale : 1.0));
    }

    BOTH void set(RECORDS_T* record, double objective_weight) const {
        record[REFRESH] = (RECORDS_T)(1);
        record[ORIGIN] = record[STEP];
        record[IDLE] = (RECORDS_T)(0);
        record[LAST] = (RECORDS_T)(model.columns);
        record[BEST] = (RECORDS_T)(NONE);
        record[OBJECTIVE_WEIGHT] = (RECORDS_T)(changed(objective_weight, jumps ? 0.0 : 1.0));
    }
};
