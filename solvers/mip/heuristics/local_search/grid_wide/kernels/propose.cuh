// First part of a round: each team, a warp, proposes the best of up to 32 moves, and claims the
// rows that it would change. Slack and values stay as they are meanwhile.

#pragma once

#include "moves.cuh"
#include "tree.cuh"

// The best choice of a warp's lanes, key by key.
__device__ inline Choice warp_best(const Choice& own) {
    const unsigned long long progress = ordered(own.progress);
    const unsigned keys[5] = {unsigned(progress >> 32), unsigned(progress),
                              unsigned(int(own.bonus)) + 0x80000000u, ~own.stamp, own.tie};
    bool active = own.tie != 0u;
    if (__ballot_sync(ALL_LANES, active) == 0u) return no_choice();
    UNROLLED
    for (int place = 0; place < 5; ++place) {
        const unsigned top = __reduce_max_sync(ALL_LANES, active ? keys[place] : 0u);
        active = active && keys[place] == top;
    }
    const int source = __ffs(int(__ballot_sync(ALL_LANES, active))) - 1;
    return Choice{__shfl_sync(ALL_LANES, own.progress, source), 0.0, 1u,
                  __shfl_sync(ALL_LANES, own.column, source),
                  __shfl_sync(ALL_LANES, own.value, source), 0u};
}

__device__ inline Score joined(const Walk& walk, const Score& own) {  // over the lanes of a warp
    if (walk.mode == LIFT) return Score{warp_least(own.progress), 0.0};
    return Score{warp_sum(own.progress), warp_sum(own.bonus)};
}

// Columns of more than a chunk are scored by the whole grid: the team's first one, in rounds when
// one of the slots is its own.
__device__ inline void offer_slot(const Walk& walk, int team, const Candidate& found, bool huge) {
    const unsigned raised = __ballot_sync(ALL_LANES, huge);
    const int number = slot_of(walk, team);
    if (raised == 0u || number < 0) return;
    if (lane_number() != __ffs(int(raised)) - 1) return;
    double* slot = walk.slots + MOVE * number;
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
        const Score score = joined(walk, walk.entries(j, move, first + lane, last, 32));
        if (lane == source) own = walk.judged(j, found.value, found.state, score, tie);
    }
    if (walk.column_chunks) offer_slot(walk, team, found, huge);
    const int scored = warp_count(alone || together ? end - begin : 0);
    if (lane == 0) atomicAdd(walk.tally + 33, scored);
    return warp_best(own);
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
        row = tree_find(walk.tree, place.rank);
        const int offset = offset_of(walk, team, place, row);
        best = best_candidate(walk, team, in_row(walk, place, row, offset, lane_number()));
        if (place.part) row = -1;  // one team of each row speaks for it
    } else if (team - walk.row_teams < walk.objective_teams) {
        const int number = 32 * (team - walk.row_teams) + lane_number();
        best = best_candidate(walk, team, in_objective(walk, number));
    }
    const bool goes = best.column >= 0 && (best.progress > LEAST_GAIN || walk.forced > 0);
    if (goes) claim_rows(walk, team, best);
    if (lane_number() < walk.shared_count)
        walk.shares[(long long)lane_number() * walk.teams + team] = 0.0;
    if (lane_number() == 0) note_move(walk, team, goes ? &best : nullptr, row);
}
