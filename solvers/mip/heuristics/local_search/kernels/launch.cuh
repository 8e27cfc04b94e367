// What a walker does at the beginning and the end of a launch: its state from the record and back,
// and sums from the values; and what it goes on from where it is set to another point.

#pragma once

#include "candidates.cuh"

template <class Group>
BOTH double Walker<Group>::activity(int begin, int end, int first, int stride) const {
    double total = 0.0;
    for (int e = begin + first; e < end; e += stride)
        total = plus(total, times(double(model.row_value[e]),
                                  double(values[model.row_column[e]].first)));
    return total;
}

// Slack, list of violated rows and objective anew from the values.
template <class Group>
BOTH void Walker<Group>::refresh() {
    count = 0;
    for (int base = 0; base < model.rows; base += STRIDE) {
        const int row = base + group.lane;
        int begin = 0, end = 0;
        if (row < model.rows) {
            begin = int(model.row_start[row]);
            end = int(model.row_start[row + 1]);
        }
        bool waiting = end - begin > WARP_LINE;
        double total = waiting ? 0.0 : activity(begin, end, 0, 1);
        for (int source = group.first(waiting); source >= 0; source = group.first(waiting)) {
            const int from = group.from(source, begin), to = group.from(source, end);
            const double whole = group.total([&](int first, int stride) {
                return activity(from, to, first, stride);
            });
            if (group.lane == source) {
                total = whole;
                waiting = false;
            }
        }
        bool entered = false;
        if (row < model.rows) {
            const REAL slack = REAL(plus(double(model.sides[row]), -total));
            cells[row].first = slack;
            entered = violation(double(slack), range(row)) > 0.0;
        }
        relist(row, entered, false, true);
    }
    objective = group.total([&](int first, int stride) {
        double part = 0.0;
        for (int j = first; j < model.columns; j += stride)
            part = plus(part, times(double(model.costs[j]), double(values[j].first)));
        return part;
    });
    group.sync();
}

template <class Group>
BOTH void Walker<Group>::restart_clock() {
    ROLLED
    for (int j = group.lane; j < model.columns; j += STRIDE) values[j].second = REAL(0);
    origin = step;
    group.sync();
}

template <class Group>
BOTH double Walker<Group>::weighted() const {
    return group.total([&](int first, int stride) {
        double part = 0.0;
        ROLLED
        for (int at = first; at < count; at += stride) {
            const int row = int(violated[at]);
            part = plus(part, times(double(cells[row].second),
                                    violation(double(cells[row].first), range(row))));
        }
        return part;
    });
}

template <class Group>
BOTH void Walker<Group>::load() {
    step = (long long)record[STEP];
    origin = (long long)record[ORIGIN];
    moves = (long long)record[MOVES];
    visited = 0;
    count = int(record[VIOLATED]);
    last = int(record[LAST]);
    last_up = double(record[LAST_UP]) > 0.0;
    minima = int(record[MINIMA]);
    jump = double(record[JUMP]) > 0.0;
    pending = false;
    objective = double(record[OBJECTIVE]);
    objective_weight = double(record[OBJECTIVE_WEIGHT]);
    target = double(record[TARGET]);
    limit = double(record[LIMIT]);
    best = double(record[BEST]);
    copies = double(record[KEPT]);
    scale = double(record[SCALE]);
}

template <class Group>
BOTH void Walker<Group>::store(double weight_of_violation, long long entries) {
    if (group.lane) return;
    record[STEP] = (RECORDS_T)(step);
    record[ORIGIN] = (RECORDS_T)(origin);
    record[REFRESH] = (RECORDS_T)(0);
    record[OBJECTIVE] = (RECORDS_T)(objective);
    record[VIOLATED] = (RECORDS_T)(count);
    record[WEIGHTED] = (RECORDS_T)(weight_of_violation);
    record[OBJECTIVE_WEIGHT] = (RECORDS_T)(objective_weight);
    record[TARGET] = (RECORDS_T)(target);
    record[LIMIT] = (RECORDS_T)(limit);
    record[BEST] = (RECORDS_T)(best);
    record[KEPT] = (RECORDS_T)(copies);
    record[LAST] = (RECORDS_T)(last);
    record[LAST_UP] = (RECORDS_T)(last_up);
    record[MOVES] = (RECORDS_T)(moves);
    record[MINIMA] = (RECORDS_T)(minima);
    record[VISITED] = (RECORDS_T)(double(record[VISITED]) + double(entries));
}

template <class Group>
BOTH void Walker<Group>::run(int steps) {
    load();
    if (double(record[REFRESH]) > 0.0) refresh();
    if (double(step - origin) > CLOCK_LIMIT) restart_clock();
    for (int number = 0; number < steps; ++number) {
        if (count == 0 && model.objectives == 0 && !(objective < limit)) break;
        group.poll();
        advance();
    }
    keep();
    const double weight_of_violation = weighted();
    const long long entries = group.count(visited);
    group.sync();
    store(weight_of_violation, entries);
}

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
