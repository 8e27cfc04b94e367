// What a walker does at the beginning and the end of a launch: its state from the record and back,
// and sums from the values.

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
