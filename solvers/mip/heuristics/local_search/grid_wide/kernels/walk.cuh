// The walk's state, the numbers of its round, and what single moves are worth.

#pragma once

#include "choice.cuh"
#include "levels.cuh"

struct Walk {
    Model model;
    Random random;
    Tree tree;
    Pair* values;
    Pair* cells;
    REAL* kept;
    unsigned long long* claims;
    double* moves;     // (teams, MOVE)
    double* slots;     // (SLOTS, MOVE)
    double* partials;
    double* record;
    int* control;
    int* tally;        // the block's: changes of the tree's top level, moves, entries scored
    double* shares;    // (shared_count, teams) what moves take from shared rows
    const INDEX* shared_rows;
    const INDEX* long_rows;
    int teams, column_chunks, row_chunks, long_count, shared_count;
    // What holds in a round, the same for all threads.
    int mode, forced, row_teams, objective_teams, start, count, movers;
    long long step, clock;
    bool jump;
    double objective, objective_weight, target, limit, scale;

    BOTH void load_round() {
        mode = control[MODE];
        forced = control[FORCED];
        row_teams = control[ROW_TEAMS];
        objective_teams = control[OBJECTIVE_TEAMS];
        start = control[START];
        movers = control[MOVERS];
        count = int(record[VIOLATED]);
        step = (long long)record[STEP] + 1;
        clock = step - (long long)record[ORIGIN];
        jump = record[JUMP] > 0.0;
        objective = record[OBJECTIVE];
        objective_weight = record[OBJECTIVE_WEIGHT];
        target = record[TARGET];
        limit = record[LIMIT];
        scale = record[SCALE];
    }

    BOTH double range(int row) const {
        return row < model.inequalities ? UNBOUNDED : double(model.ranges[row - model.inequalities]);
    }
    BOTH int column_begin(int j) const { return int(model.column_start[j]); }
    BOTH int column_end(int j) const { return int(model.column_start[j + 1]); }

    // Least weight of a row: for jumps its violation is measured in its entries.
    BOTH REAL unit_of(int row) const { return jump ? model.scales[row] : REAL(1); }

    // ---- moves --------------------------------------------------------------------------------

    BOTH REAL clipped(int j, double value) const {
        const Pair bounds = model.bounds[j];
        return REAL(smaller(larger(value, double(bounds.first)), double(bounds.second)));
    }

    // Value at which a row's activity has changed by ``need``; integers go as far as needed.
    BOTH REAL tight(int j, double x, double a, double need) const {
        double move = need / a;
        if (j < model.binaries) return REAL(move > 0.0 ? 1.0 : 0.0);
        if (j < model.integers) {
            const double excess = 0.5 * TOLERANCE / fabs(a);
            move = move > 0.0 ? ceil(plus(move, -excess)) : floor(plus(move, excess));
        }
        return clipped(j, plus(x, move));
    }

    // Value at which column ``j`` alone would bring the objective to the target.
    BOTH REAL breaking(int j, double x) const {
        const double cost = double(model.costs[j]);
        double move = plus(target, -objective) / cost;
        if (j < model.binaries) return REAL(cost > 0.0 ? 0.0 : 1.0);
        if (j < model.integers) move = cost > 0.0 ? floor(move) : ceil(move);
        return clipped(j, plus(x, move));
    }

    BOTH bool forbidden(double delta, double stamp) const {
        return forced < 2 && fabs(stamp) > double(clock) && (delta > 0.0) != (stamp > 0.0);
    }

    // Number of a row among the shared ones, or -1.
    BOTH int shared_number(int row) const {
        int number = shared_count - 1;
        while (number >= 0 && int(shared_rows[number]) != row) --number;
        return number;
    }

    // Whether a team's move may take ``change`` from a shared row's slack beside other moves: by
    // lot, so that all together are expected to take no more than there is.
    BOTH bool admitted(int team, int row, double change) const {
        const double slack = double(cells[row].first);
        const double left = change > 0.0 ? slack : plus(range(row), -slack);
        const double lot = double(random.draw(step, team, DRAW_LOT));
        return left > 0.0 &&
               times(times(lot, fabs(change)), double(movers)) < times(left, 4294967296.0);
    }

    // ---- scores -------------------------------------------------------------------------------

    // What a change of the objective is worth: it counts as a row that holds at the target.
    BOTH double objective_progress(double change) const {
        if (!(target < NONE)) return 0.0;
        if (jump) return -times(objective_weight, times(change, scale));
        const double after = plus(objective, change);
        if (!(objective > target)) return after > target ? -2.0 * objective_weight : 0.0;
        if (after <= target) return 2.0 * objective_weight;
        return change < 0.0 ? objective_weight : change > 0.0 ? -objective_weight : 0.0;
    }

    // Entries ``first``, ``first + stride``, ... of a column that moves by ``delta``. Some entries'
    // rows and cells are fetched before the first is scored, as each fetch waits for another.
    BOTH Score rows_score(REAL delta, int first, int end, int stride) const {
        Score score = {0.0, 0.0};
        for (int e = first; e < end; e += FETCHED * stride) {
            int row[FETCHED];
            REAL value[FETCHED];
            Pair cell[FETCHED];
            UNROLLED
            for (int k = 0; k < FETCHED; ++k) {
                const int at = e + k * stride;
                row[k] = at < end ? int(model.column_row[at]) : -1;
                value[k] = at < end ? model.column_value[at] : REAL(0);
            }
            UNROLLED
            for (int k = 0; k < FETCHED; ++k)
                if (row[k] >= 0) cell[k] = cells[row[k]];
            UNROLLED
            for (int k = 0; k < FETCHED; ++k) {
                if (row[k] < 0) break;
                const REAL after = REAL(plus(double(cell[k].first),
                                             -double(times(value[k], delta))));
                add_row(score, jump, double(cell[k].first), double(after), double(cell[k].second),
                        range(row[k]));
            }
        }
        return score;
    }

    // How far column ``j`` can go down its cost with every row of some entries kept.
    BOTH double room(int j, int first, int end, int stride) const {
        double most = NONE;
        const double sign = double(model.costs[j]) > 0.0 ? -1.0 : 1.0;
        const double excess = j < model.integers ? 0.5 * TOLERANCE : 0.0;
        for (int e = first; e < end; e += stride) {
            const int row = int(model.column_row[e]);
            const double slack = double(cells[row].first);
            const double pace = sign * double(model.column_value[e]);
            const double left = pace > 0.0 ? slack : plus(range(row), -slack);
            most = smaller(most, larger(plus(left, excess), 0.0) / fabs(pace));
        }
        return most;
    }

    // What some entries of a column say: what its rows gain or, for a lift, the least room.
    BOTH Score entries(int j, REAL delta, int first, int end, int stride) const {
        if (mode == LIFT) return Score{room(j, first, end, stride), 0.0};
        return rows_score(delta, first, end, stride);
    }

    BOTH Choice lifted(int j, double x, double most, unsigned tie) const {
        const double cost = double(model.costs[j]);
        if (j < model.integers) most = floor(most);
        const REAL value = clipped(j, plus(x, (cost > 0.0 ? -1.0 : 1.0) * most));
        const double way = fabs(plus(double(value), -x)), gain = times(fabs(cost), way);
        const bool moves_on = gain > LEAST_GAIN && way > LEAST_GAIN;
        return Choice{gain, 0.0, moves_on ? tie : 0u, j, double(value), 0u};
    }

    // The choice that a candidate is, when all of its entries have been read.
    BOTH Choice judged(int j, REAL value, const Pair& state, const Score& rows,
                             unsigned tie) const {
        if (mode == LIFT) return lifted(j, double(state.first), rows.progress, tie);
        const double delta = double(value - state.first);
        const double change = times(double(model.costs[j]), delta);
        const bool lower = target < NONE && change < 0.0 && plus(objective, change) < limit;
        const double bonus = rows.bonus + (lower ? objective_weight : 0.0);
        return Choice{plus(plus(rows.progress, objective_progress(change)), 0.0),
                      smaller(larger(bonus, -1e9), 1e9), tie, j, double(value),
                      unsigned(fabs(double(state.second)))};
    }
};
