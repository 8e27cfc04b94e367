// The walk's state, and what a thread does alone: what single moves are worth, where a team looks,
// what it claims, how rows and columns change.
#pragma once

#include "grid_numbers.cuh"

struct Lines {  // that several warps read together
    Array<const INDEX> long_rows;
    int long_count;
    Array<const INDEX> shared_rows;
    int shared_count, row_chunks, column_chunks;
};

struct Carried {  // from launch to launch
    Array<REAL> values, cells, kept;
    Array<RECORDS_T> records;
};

struct Round {  // what teams tell each other in a round
    Array<TREE_T> tree;
    Array<CLAIMS_T> claims;
    Array<MOVES_T> moves;        // (teams, MOVE)
    Array<SLOTS_T> slots;        // (SLOTS, MOVE)
    Array<PARTIALS_T> partials;
    Array<SHARES_T> shares;      // (shared_count, teams) what moves take from shared rows
    Array<CONTROL_T> control;
    int teams;
};

struct Walk {
    Model model;
    Random random;
    const Tree* tree;  // the block's, as registers cannot be counted off
    Pair* values;
    Pair* cells;
    REAL* kept;
    unsigned long long* claims;
    double* moves;
    double* slots;
    double* partials;
    double* record;
    int* control;
    int* tally;  // the block's: changes of the tree's top level, moves, entries scored
    double* shares;
    Lines lines;
    int teams;
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

    BOTH double range(int row) const { return model.range(row); }
    BOTH int column_begin(int j) const { return int(model.column_start[j]); }
    BOTH int column_end(int j) const { return int(model.column_start[j + 1]); }

    // Least weight of a row: for jumps its violation is measured in its entries.
    BOTH REAL unit_of(int row) const { return jump ? model.scales[row] : REAL(1); }

    // ---- moves --------------------------------------------------------------------------------

    BOTH bool forbidden(double delta, double stamp) const {
        return forced < 2 && fabs(stamp) > double(clock) && (delta > 0.0) != (stamp > 0.0);
    }

    // Number of a row among the shared ones, or -1.
    BOTH int shared_number(int row) const {
        int number = lines.shared_count - 1;
        while (number >= 0 && int(lines.shared_rows[number]) != row) --number;
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

    BOTH double objective_progress(double change) const {
        return Objective{objective, objective_weight, target, scale, jump}.progress(change);
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
        return entries_score<FETCHED>(model, cells, jump, delta, first, end, stride);
    }

    BOTH Choice lifted(int j, double x, double most, unsigned tie) const {
        const double cost = double(model.costs[j]);
        if (j < model.integers) most = floor(most);
        const REAL value = model.clipped(j, plus(x, (cost > 0.0 ? -1.0 : 1.0) * most));
        const double way = fabs(plus(double(value), -x)), gain = times(fabs(cost), way);
        const bool moves_on = gain > LEAST_GAIN && way > LEAST_GAIN;
        return Choice{gain, 0.0, moves_on ? tie : 0u, j, value, 0u};
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
                      smaller(larger(bonus, -1e9), 1e9), tie, j, value,
                      unsigned(fabs(double(state.second)))};
    }
};

BOTH Walk walk_of(const Model& model, const Lines& lines, const Carried& carried,
                  const Round& round, const Tree& tree, int seed) {
    Walk walk = {};
    walk.model = model;
    walk.lines = lines;
    walk.random = random_of(seed);
    walk.tree = &tree;
    walk.values = (Pair*)&carried.values[0];
    walk.cells = (Pair*)&carried.cells[0];
    walk.kept = &carried.kept[0];
    walk.record = (double*)&carried.records[0];
    walk.claims = (unsigned long long*)&round.claims[0];
    walk.moves = (double*)&round.moves[0];
    walk.slots = (double*)&round.slots[0];
    walk.partials = (double*)&round.partials[0];
    walk.shares = (double*)&round.shares[0];
    walk.control = (int*)&round.control[0];
    walk.teams = round.teams;
    return walk;
}

// A claim: the round, then how good the move is, then the team in an order that changes by rounds.
// Claims of earlier rounds are lower, so that nobody has to take them back.
BOTH unsigned long long claim_of(const Walk& walk, int team, double progress) {
    const unsigned order = walk.random.draw(walk.step, OF_ROUND, DRAW_ORDER);
    const unsigned place = (unsigned(team) ^ order) & unsigned(MOST_TEAMS - 1);
    const unsigned long long goodness = ordered(progress) >> 32;
    return ((unsigned long long)walk.clock << 44) | (goodness << 12) | (unsigned long long)place;
}

struct Place {  // which violated row a team looks at, and which part of it
    int rank, part, parts;
};

// Teams share out the list of violated rows; where there are fewer rows than teams, several teams
// share a row's entries.
BOTH Place place_of(const Walk& walk, int team) {
    const int count = walk.count, teams = walk.row_teams;
    if (count < teams) return Place{team % count, team / count, (teams - team % count - 1) / count + 1};
    const int length = count / teams, more = count % teams;
    const int chosen = walk.random.below(walk.step, team, DRAW_ROW, length + (team < more));
    return Place{team * length + smaller(team, more) + chosen, 0, 1};
}

// Where in a violated row a team begins to look.
BOTH int offset_of(const Walk& walk, int team, const Place& place, int row) {
    const int length = int(walk.model.row_start[row + 1] - walk.model.row_start[row]);
    const int first_team = walk.count < walk.row_teams ? place.rank : team;
    return walk.random.below(walk.step, first_team, DRAW_OFFSET, length);
}

BOTH Candidate no_candidate() { return Candidate{-1, REAL(0), Pair{REAL(0), REAL(0)}}; }

// The candidate that a lane finds in a violated row: the first of some entries whose column can
// move.
BOTH Candidate in_row(const Walk& walk, const Place& place, int row, int offset, int lane) {
    const Model& model = walk.model;
    const int begin = int(model.row_start[row]);
    const int length = int(model.row_start[row + 1]) - begin;
    const double slack = double(walk.cells[row].first);
    const double need = slack < 0.0 ? slack : plus(slack, -walk.range(row));
    int number = 32 * place.part + lane;
    ROLLED
    for (int look = 0; look < LOOKS && number < length; ++look) {
        int entry = offset + number;
        if (entry >= length) entry -= length;
        entry += begin;
        const int j = int(model.row_column[entry]);
        const Pair state = walk.values[j];
        const REAL value = model.tight(j, double(state.first), double(model.row_value[entry]), need);
        const double delta = double(value - state.first);
        if (fabs(delta) > LEAST_GAIN)
            return Candidate{walk.forbidden(delta, double(state.second)) ? -1 : j, value, state};
        number += 32 * place.parts;
    }
    return no_candidate();
}

// The candidate that lowers the objective: one column of the round's window.
BOTH Candidate in_objective(const Walk& walk, int number) {
    if (number >= walk.model.objectives) return no_candidate();
    int at = walk.start + number;
    if (at >= walk.model.objectives) at -= walk.model.objectives;
    const int j = int(walk.model.objective_columns[at]);
    const Pair state = walk.values[j];
    if (walk.mode == LIFT) return Candidate{j, state.first, state};
    const double gap = plus(walk.target, -walk.objective);
    const REAL value = walk.model.breaking(j, double(state.first), gap);
    const double delta = double(value - state.first);
    if (fabs(delta) <= LEAST_GAIN || walk.forbidden(delta, double(state.second)))
        return no_candidate();
    return Candidate{j, value, state};
}

// Which slot a team may use in this round, or -1: each team has its turns.
BOTH int slot_of(const Walk& walk, int team) {
    const int turns = (walk.row_teams + walk.objective_teams + SLOTS - 1) / SLOTS;
    const int turn = walk.random.below(walk.step, OF_ROUND, DRAW_SLOTS, turns);
    return team % turns == turn ? team / turns : -1;
}

// Whether an entry of a team's move needs no claim: its row is shared, and the lot is good.
BOTH bool is_free(const Walk& walk, int team, int e, REAL delta) {
    const int row = int(walk.model.column_row[e]);
    if (walk.lines.shared_count == 0 || walk.shared_number(row) < 0) return false;
    return walk.admitted(team, row, double(times(walk.model.column_value[e], delta)));
}

// Notes a team's move, or the violated row for which it found none.
BOTH void note_move(const Walk& walk, int team, const Choice* best, int row) {
    double* move = walk.moves + MOVE * (long long)team;
    move[0] = best ? double(best->column) : -1.0;
    move[1] = best ? best->value : double(row);
    move[2] = best ? best->progress : 0.0;
    move[3] = 0.0;
}

// Takes ``change`` from a row's slack; returns whether that breaks or mends it.
BOTH bool shift_row(const Walk& walk, int row, double change, bool& violated) {
    const double before = double(walk.cells[row].first);
    const REAL after = REAL(plus(before, -change));
    walk.cells[row].first = after;
    const double between = walk.range(row);
    violated = violation(double(after), between) > 0.0;
    return violated != (violation(before, between) > 0.0);
}

// Lets a row for which there was no move gain weight.
BOTH void bump(const Walk& walk, int row) {
    if (row < 0 || walk.forced > 0) return;
    const REAL unit = walk.unit_of(row), weight = walk.cells[row].second;
    if (double(weight) < LARGEST_WEIGHT * double(unit)) walk.cells[row].second = weight + unit;
}

// Sets a column's value and stamp; one thread does it when all have read the old value.
BOTH double set_column(const Walk& walk, int team, int j, REAL value, REAL delta) {
    const int spread = int(walk.record[SPREAD]) + 1;
    const int tenure = int(walk.record[TENURE]) +
                       walk.random.below(walk.step, team, DRAW_TENURE, spread);
    const double until = double(walk.clock) + double(tenure) + 1.0;
    walk.values[j] = Pair{value, REAL(delta > REAL(0) ? until : -until)};
    return times(double(walk.model.costs[j]), double(delta));
}

// Weights of a row that holds go down by one, as far as they can.
BOTH void smooth_row(const Walk& walk, int row) {
    const Pair cell = walk.cells[row];
    const REAL unit = walk.unit_of(row);
    if (cell.second > unit && violation(double(cell.first), walk.range(row)) == 0.0)
        walk.cells[row].second = cell.second - unit;
}

// Activity of some entries of a row.
BOTH double activity(const Walk& walk, int first, int end, int stride) {
    double total = 0.0;
    for (int e = first; e < end; e += stride)
        total = plus(total, times(double(walk.model.row_value[e]),
                                  double(walk.values[walk.model.row_column[e]].first)));
    return total;
}
