// The moves that a walker tries: entries of violated rows, steps down the objective, and pairs.

#pragma once

#include "walker.cuh"

// Puts a row at a place of the sample; a long one begins at a random entry.
template <class Group>
BOTH void Walker<Group>::put(int at, int row, double need, int purpose) const {
    const int start = int(model.row_start[row]);
    const int length = int(model.row_start[row + 1]) - start;
    sample.start[at] = start;
    sample.length[at] = length;
    sample.offset[at] = length > ROW_ENTRIES ? random.below(step, purpose, length) : 0;
    sample.need[at] = need;
}

template <class Group>
BOTH double Walker<Group>::need_of(int row) const {
    const double slack = double(cells[row].first);
    return slack < 0.0 ? slack : slack - range(row);
}

template <class Group>
BOTH void Walker<Group>::draw_rows(int rows) const {
    group.sync();  // all lanes have read the sample of the step before
    for (int at = group.lane; at < rows; at += STRIDE) {
        const int part = count / rows, more = count % rows;  // one row of each part of the list
        const int position = at * part + min(at, more) +
                             random.below(step, DRAW_ROW + at, part + (at < more));
        const int row = int(violated[position]);
        put(at, row, need_of(row), DRAW_OFFSET + at);
    }
}

// The number of entries in the sample.
template <class Group>
BOTH int Walker<Group>::sampled(int rows) const {
    group.sync();
    int total = 0, done = 0;
    for (int at = group.lane; at <= rows; at += STRIDE) {
        ROLLED
        for (; done < at; ++done) total += min(sample.length[done], ROW_ENTRIES);
        sample.before[at] = total;
    }
    group.sync();
    return sample.before[rows];
}

// Column of an entry of the sample and the value that it should take. In a long row the first
// of some entries is taken whose column can move, and its last entry is always in the sample:
// binaries stand first, so it is the column that others define, if there is one, and no sample of
// a long sum meets what that column alone can take up.
template <class Group>
BOTH int Walker<Group>::sampled_column(int rows, int candidate, REAL& value, Pair& state) const {
    int at = 0;
    if constexpr (STRIDE > 1)
        for (int next = 1; next < rows; ++next) at += candidate >= sample.before[next];
    else
        while (at + 1 < rows && candidate >= sample.before[at + 1]) ++at;
    const int length = sample.length[at];
    int j = 0, number = candidate - sample.before[at];
    if (length > ROW_ENTRIES && number == 0) number = length - 1 - sample.offset[at];
    ROLLED
    for (int look = 0; look < LOOKS && (look == 0 || number < length); ++look) {
        int entry = sample.offset[at] + number;
        if (entry >= length) entry -= length;
        entry += sample.start[at];
        j = int(model.row_column[entry]);
        state = values[j];
        value = model.tight(j, double(state.first), double(model.row_value[entry]), sample.need[at]);
        if (fabs(double(value) - double(state.first)) > LEAST_GAIN) break;
        number += ROW_ENTRIES;
    }
    return j;
}

template <class Group>
BOTH int Walker<Group>::objective_column(int start, int number) const {
    const int at = start + number;
    return int(model.objective_columns[at < model.objectives ? at : at - model.objectives]);
}

template <class Group>
BOTH Choice Walker<Group>::choice(int j, REAL value, const Score& rows, const Score& cost,
                                  unsigned tie, REAL stamp) const {
    const double bonus = smaller(larger(rows.bonus + cost.bonus, -1e9), 1e9);
    return Choice{plus(plus(rows.progress, cost.progress), 0.0), bonus, tie, j, value,
                  unsigned(fabs(double(stamp)))};
}

// The best of the sample's entries and of ``breaks`` moves that lower the objective.
template <class Group>
BOTH Choice Walker<Group>::search(int rows, int entries, int breaks, bool weak, int tie_purpose) {
    const unsigned base = random.draw(step, tie_purpose);
    const int start = breaks ? random.below(step, DRAW_BREAK, model.objectives) : 0;
    Choice best_move = no_choice();
    for (int first = 0; first < entries + breaks; first += STRIDE) {
        const int candidate = first + group.lane;
        int j = -1;
        REAL value = REAL(0), delta = REAL(0), stamp = REAL(0);
        if (candidate < entries + breaks) {
            Pair state;
            if (candidate < entries) {
                j = sampled_column(rows, candidate, value, state);
            } else {
                j = objective_column(start, candidate - entries);
                state = values[j];
                value = model.breaking(j, double(state.first), plus(target, -objective));
            }
            delta = value - state.first;
            stamp = state.second;
            if (fabs(double(delta)) <= LEAST_GAIN ||
                forbidden(j, double(delta), double(state.second), weak))
                j = -1;
        }
        const int length = j < 0 ? 0 : int(model.column_start[j + 1] - model.column_start[j]);
        visited += length;
        // First each lane scores a short column of its own, then all lanes one long column
        // after the other.
        const unsigned tie = tie_rank(base, candidate);
        bool waiting = length > WARP_LINE;
        int source = -1;
        ROLLED
        do {
            const bool alone = source < 0;
            const int column = alone ? (waiting ? -1 : j) : group.from(source, j);
            const REAL move = alone ? delta : REAL(group.from(source, double(delta)));
            Score score = {0.0, 0.0};
            if (column >= 0)
                score = group.total_score(alone, [&](int begin, int stride) {
                    return rows_score(column, move, begin, stride);
                });
            if (alone ? column >= 0 : group.lane == source) {
                const Choice found =
                    choice(j, value, score, objective_score(j, double(delta)), tie, stamp);
                if (found.beats(best_move)) best_move = found;
                if (!alone) waiting = false;
            }
            source = group.first(waiting);
        } while (source >= 0);
    }
    return best_of(group, best_move);
}

// How far column ``j`` can go in direction ``sign`` with every row kept.
template <class Group>
BOTH double Walker<Group>::room(int j, double sign, int first, int stride) const {
    double most = NONE;
    const double excess = j < model.integers ? 0.5 * TOLERANCE : 0.0;
    const int end = int(model.column_start[j + 1]);
    for (int e = int(model.column_start[j]) + first; e < end; e += stride) {
        const int row = int(model.column_row[e]);
        const double slack = double(cells[row].first);
        const double pace = sign * double(model.column_value[e]);
        const double left = pace > 0.0 ? slack : range(row) - slack;
        most = smaller(most, larger(left + excess, 0.0) / fabs(pace));
    }
    return most;
}

template <class Group>
BOTH Choice Walker<Group>::lifted(int j, double most, unsigned tie) const {
    const double cost = double(model.costs[j]), x = double(values[j].first);
    const double sign = cost > 0.0 ? -1.0 : 1.0;
    if (j < model.integers) most = floor(most);
    const REAL value = model.clipped(j, plus(x, sign * most));
    const double gain = times(fabs(cost), fabs(double(value) - x));
    const bool moves_on = gain > LEAST_GAIN && fabs(double(value) - x) > LEAST_GAIN;
    return Choice{gain, 0.0, moves_on ? tie : 0u, j, value, 0u};
}

// The best step of one objective column that keeps every row.
template <class Group>
BOTH Choice Walker<Group>::lift(int start, int window) {
    const unsigned base = random.draw(step, DRAW_LIFT_TIE);
    Choice best_move = no_choice();
    for (int first = 0; first < window; first += STRIDE) {
        const int candidate = first + group.lane;
        const int j = candidate < window ? objective_column(start, candidate) : -1;
        const int length = j < 0 ? 0 : int(model.column_start[j + 1] - model.column_start[j]);
        visited += length;
        const unsigned tie = tie_rank(base, candidate);
        bool waiting = length > WARP_LINE;
        int source = -1;
        ROLLED
        do {  // as in search: short columns first, then the long ones together
            const bool alone = source < 0;
            const int column = alone ? (waiting ? -1 : j) : group.from(source, j);
            double most = NONE;
            if (column >= 0) {
                const double sign = double(model.costs[column]) > 0.0 ? -1.0 : 1.0;
                most = group.least_of(alone, [&](int begin, int stride) {
                    return room(column, sign, begin, stride);
                });
            }
            if (alone ? column >= 0 : group.lane == source) {
                const Choice found = lifted(j, most, tie);
                if (found.tie && found.beats(best_move)) best_move = found;
                if (!alone) waiting = false;
            }
            source = group.first(waiting);
        } while (source >= 0);
    }
    return best_of(group, best_move);
}

// The row that a move would break whose weight is largest, or -1; ``need`` repairs it.
template <class Group>
BOTH int Walker<Group>::broken_row(int j, REAL delta, double& need) {
    const unsigned base = random.draw(step, DRAW_BROKEN_TIE);
    const int begin = int(model.column_start[j]), end = int(model.column_start[j + 1]);
    Choice worst = no_choice();
    group.each_lane([&](int lane) {
        ROLLED
        for (int e = begin + lane; e < end; e += Group::TOGETHER) {
            const int row = int(model.column_row[e]);
            const Pair cell = cells[row];
            const double between = range(row);
            const double after = double(REAL(cell.first - times(model.column_value[e], delta)));
            if (violation(double(cell.first), between) > 0.0 ||
                violation(after, between) == 0.0)
                continue;
            const unsigned tie = tie_rank(base, (e - begin) % MOST_TIES);
            const Choice found = {double(cell.second), 0.0, tie, row, REAL(after), 0u};
            if (found.beats(worst)) worst = found;
        }
    });
    const Choice found = best_of(group, worst);
    if (found.column < 0) return -1;
    const double slack = double(found.value);
    need = slack < 0.0 ? slack : slack - range(found.column);
    return found.column;
}

// The best column to move after ``first`` has moved, so that a row it breaks holds again.
template <class Group>
BOTH Choice Walker<Group>::partner(const Choice& first) {
    const REAL first_delta = first.value - values[first.column].first;
    double need = 0.0;
    const int row = broken_row(first.column, first_delta, need);
    if (row < 0) return no_choice();
    group.sync();
    if (group.lane == 0) put(0, row, need, DRAW_PAIR_OFFSET);
    const int entries = sampled(1);
    const unsigned base = random.draw(step, DRAW_PAIR_TIE);
    const double first_cost = double(model.costs[first.column]);
    Choice best_move = no_choice();
    for (int candidate = group.lane; candidate < entries; candidate += STRIDE) {
        REAL value;
        Pair state;
        const int j = sampled_column(1, candidate, value, state);
        const REAL delta = value - state.first;
        const int length = int(model.column_start[j + 1] - model.column_start[j]);
        if (j == first.column || length > WARP_LINE || fabs(double(delta)) <= LEAST_GAIN ||
            forbidden(j, double(delta), double(state.second), false))
            continue;
        visited += length;
        Score rows_part = second_score(j, delta, first.column, first_delta);
        rows_part.progress = plus(rows_part.progress, first.progress);
        rows_part.progress = plus(rows_part.progress,
                                  pair_correction(first_cost, double(first_delta), j,
                                                  double(delta)));
        const Choice found = choice(j, value, rows_part, Score{0.0, 0.0},
                                    tie_rank(base, candidate), state.second);
        if (found.beats(best_move)) best_move = found;
    }
    return best_of(group, best_move);
}

// What the second column changes of the pair's objective score.
template <class Group>
BOTH double Walker<Group>::pair_correction(double first_cost, double first_delta, int j,
                                           double delta) const {
    const double one = times(first_cost, first_delta);
    const double both = plus(one, times(double(model.costs[j]), delta));
    return plus(objective_progress(both), -objective_progress(one));
}
