// First part of a round: each team, a warp, proposes the best of up to 32 moves, and claims the
// rows that it would change. Slack and values stay as they are meanwhile.

#pragma once

#include "walk.cuh"

// A claim: the round, then how good the move is, then the team in an order that changes by rounds.
// Claims of earlier rounds are lower, so that nobody has to take them back.
__device__ inline unsigned long long claim_of(const Walk& walk, int team, double progress) {
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
__device__ inline Place place_of(const Walk& walk, int team) {
    const int count = walk.count, teams = walk.row_teams;
    if (count < teams) return Place{team % count, team / count, (teams - team % count - 1) / count + 1};
    const int length = count / teams, more = count % teams;
    const int chosen = walk.random.below(walk.step, team, DRAW_ROW, length + (team < more));
    return Place{team * length + min(team, more) + chosen, 0, 1};
}

// The candidate that a lane finds in a violated row: the first of some entries whose column can
// move. All lanes call it; ``row`` is where the team looks.
__device__ inline Candidate in_row(const Walk& walk, int team, const Place& place, int& row) {
    const Model& model = walk.model;
    row = walk.tree.find(place.rank);
    const int begin = int(model.row_start[row]);
    const int length = int(model.row_start[row + 1]) - begin;
    const int first_team = walk.count < walk.row_teams ? place.rank : team;
    const int offset = walk.random.below(walk.step, first_team, DRAW_OFFSET, length);
    const double slack = double(walk.cells[row].first);
    const double need = slack < 0.0 ? slack : plus(slack, -walk.range(row));
    int number = 32 * place.part + lane_number();
    #pragma unroll 1
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
    return Candidate{-1, REAL(0), Pair{REAL(0), REAL(0)}};
}

// The candidate that lowers the objective: one column of the round's window.
__device__ inline Candidate in_objective(const Walk& walk, int number) {
    const Candidate none = {-1, REAL(0), Pair{REAL(0), REAL(0)}};
    if (number >= walk.model.objectives) return none;
    int at = walk.start + number;
    if (at >= walk.model.objectives) at -= walk.model.objectives;
    const int j = int(walk.model.objective_columns[at]);
    const Pair state = walk.values[j];
    if (walk.mode == LIFT) return Candidate{j, state.first, state};
    const REAL value = walk.breaking(j, double(state.first));
    const double delta = double(value - state.first);
    if (fabs(delta) <= LEAST_GAIN || walk.forbidden(delta, double(state.second))) return none;
    return Candidate{j, value, state};
}

// Columns of more than a chunk are scored by the whole grid: the team's first one, in rounds when
// one of the slots is its own.
__device__ inline void offer_slot(const Walk& walk, int team, const Candidate& found, bool huge) {
    const unsigned raised = __ballot_sync(ALL_LANES, huge);
    const int turns = (walk.row_teams + walk.objective_teams + SLOTS - 1) / SLOTS;
    const int turn = walk.random.below(walk.step, OF_ROUND, DRAW_SLOTS, turns);
    if (raised == 0u || team % turns != turn) return;
    if (lane_number() != __ffs(int(raised)) - 1) return;
    double* slot = walk.slots + MOVE * (team / turns);
    slot[0] = double(found.column);
    slot[1] = double(found.value);
    atomicAdd(walk.control + HUGE_USED, 1);
}

// The best of a team's candidates. Lanes score short columns alone, then all of them one longer
// column after the other.
__device__ inline Choice best_candidate(const Walk& walk, int team, const Candidate& found) {
    const int lane = lane_number();
    const bool wanted = found.column >= 0;
    const int begin = wanted ? walk.column_begin(found.column) : 0;
    const int end = wanted ? walk.column_end(found.column) : 0;
    const REAL delta = wanted ? found.value - found.state.first : REAL(0);
    const bool huge = end - begin > CHUNK, longer = end - begin > LANE_COLUMN;
    const int before = warp_before(longer && !huge ? end - begin : 0);
    const bool together = longer && !huge && before < TEAM_WORK;
    const bool alone = wanted && !longer;
    const unsigned tie = tie_rank(walk.random.draw(walk.step, team, DRAW_TIE), lane);
    Choice own = no_choice();
    if (alone)
        own = walk.judged(found.column, found.value, found.state,
                          walk.entries(found.column, delta, begin, end, 1), tie);
    unsigned waiting = __ballot_sync(ALL_LANES, together);
    while (waiting) {
        const int source = __ffs(int(waiting)) - 1;
        waiting &= waiting - 1;
        const int j = __shfl_sync(ALL_LANES, found.column, source);
        const REAL move = __shfl_sync(ALL_LANES, delta, source);
        const int first = __shfl_sync(ALL_LANES, begin, source);
        const int last = __shfl_sync(ALL_LANES, end, source);
        const Score score = walk.joined(walk.entries(j, move, first + lane, last, 32));
        if (lane == source) own = walk.judged(j, found.value, found.state, score, tie);
    }
    if (walk.column_chunks) offer_slot(walk, team, found, huge);
    const int scored = warp_count(alone || together ? end - begin : 0);
    if (lane == 0) atomicAdd(walk.tally + 33, scored);
    return warp_best(own);
}

// Whether an entry of a team's move needs no claim: its row is shared, and the lot is good.
__device__ inline bool is_free(const Walk& walk, int team, int e, REAL delta) {
    const int row = int(walk.model.column_row[e]);
    if (walk.shared_count == 0 || walk.shared_number(row) < 0) return false;
    return walk.admitted(team, row, double(times(walk.model.column_value[e], delta)));
}

__device__ inline void claim_rows(const Walk& walk, int team, const Choice& move) {
    const int j = move.column;
    const REAL delta = REAL(move.value) - walk.values[j].first;
    const unsigned long long claim = claim_of(walk, team, move.progress);
    for (int e = walk.column_begin(j) + lane_number(); e < walk.column_end(j); e += 32)
        if (!is_free(walk, team, e, delta))
            atomicMax(walk.claims + int(walk.model.column_row[e]), claim);
}

// A team's move, or the violated row for which it found none, in ``moves``.
__device__ inline void propose(const Walk& walk, int team) {
    int row = -1;
    Choice best = no_choice();
    if (team < walk.row_teams) {
        const Place place = place_of(walk, team);
        const Candidate found = in_row(walk, team, place, row);
        best = best_candidate(walk, team, found);
        if (place.part) row = -1;  // one team of each row speaks for it
    } else if (team - walk.row_teams < walk.objective_teams) {
        const int number = 32 * (team - walk.row_teams) + lane_number();
        best = best_candidate(walk, team, in_objective(walk, number));
    }
    const bool goes = best.column >= 0 && (best.progress > LEAST_GAIN || walk.forced > 0);
    if (goes) claim_rows(walk, team, best);
    if (lane_number() < walk.shared_count)
        walk.shares[(long long)lane_number() * walk.teams + team] = 0.0;
    if (lane_number() == 0) {
        double* move = walk.moves + MOVE * (long long)team;
        move[0] = goes ? double(best.column) : -1.0;
        move[1] = goes ? best.value : double(row);
        move[2] = goes ? best.progress : 0.0;
        move[3] = 0.0;
    }
}
