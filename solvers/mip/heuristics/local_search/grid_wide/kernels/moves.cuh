// What a team does in a round, as far as a thread does it alone: where it looks, what it claims, and
// how rows and columns change.

#pragma once

#include "walk.cuh"

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
        const REAL value = walk.tight(j, double(state.first), double(model.row_value[entry]), need);
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
    const REAL value = walk.breaking(j, double(state.first));
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
    if (walk.shared_count == 0 || walk.shared_number(row) < 0) return false;
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
