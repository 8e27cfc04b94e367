// Second part of a round: moves whose rows are all theirs are made, all at once; a violated row
// for which there was none gains weight. Weights of rows that move are not written, nor slack of
// rows that gain weight, so that both may be the same row.

#pragma once

#include "propose.cuh"

// Takes ``change`` from a row's slack; ``of_top`` is where changes of the tree's top level go.
__device__ inline void change_row(const Walk& walk, int row, double change, int* of_top) {
    bool violated;
    if (shift_row(walk, row, change, violated)) tree_change(walk.tree, row, violated, of_top);
}

// Moves some entries' rows by ``delta``. What a team's move takes from shared rows is noted only;
// a move that goes alone has no team (-1).
__device__ inline void change_rows(const Walk& walk, int team, REAL delta, int first, int end) {
    for (int e = first; e < end; e += 32) {
        const int row = int(walk.model.column_row[e]);
        const double change = double(times(walk.model.column_value[e], delta));
        const int shared = team < 0 ? -1 : walk.shared_number(row);
        if (shared >= 0) walk.shares[(long long)shared * walk.teams + team] = change;
        else change_row(walk, row, change, walk.tally);
    }
}

__device__ inline void settle(const Walk& walk, int team) {
    double* move = walk.moves + MOVE * (long long)team;
    const int lane = lane_number();
    const int j = int(move[0]);
    if (j < 0) {
        if (lane == 0) bump(walk, int(move[1]));
        return;
    }
    const unsigned long long claim = claim_of(walk, team, move[2]);
    const int begin = walk.column_begin(j), end = walk.column_end(j);
    const REAL value = REAL(move[1]), delta = value - walk.values[j].first;
    bool mine = true;
    for (int e = begin + lane; e < end; e += 32)
        mine = mine && (walk.claims[int(walk.model.column_row[e])] == claim ||
                        is_free(walk, team, e, delta));
    if (__ballot_sync(ALL_LANES, mine) != ALL_LANES) return;
    change_rows(walk, team, delta, begin + lane, end);
    if (lane == 0) {
        move[3] = set_column(walk, team, j, value, delta);
        atomicAdd(walk.tally + 32, 1);
    }
}

// Scores the columns in slots, a warp to a chunk of one.
__device__ inline void score_slots(const Walk& walk, int warp, int warps) {
    const int chunks = walk.column_chunks;
    for (int at = warp; at < SLOTS * chunks; at += warps) {
        const double* slot = walk.slots + MOVE * (at / chunks);
        const int j = int(slot[0]), chunk = at % chunks;
        if (j < 0) continue;
        const int begin = walk.column_begin(j) + chunk * CHUNK;
        const int end = min(begin + CHUNK, walk.column_end(j));
        const REAL delta = REAL(slot[1]) - walk.values[j].first;
        const Score score =
            joined(walk, walk.entries(j, delta, begin + lane_number(), end, 32));
        if (lane_number() == 0) {
            walk.partials[2 * (long long)at] = score.progress;
            walk.partials[2 * (long long)at + 1] = score.bonus;
            atomicAdd(walk.tally + 33, max(end - begin, 0));
        }
    }
}

// Makes the move of the slot that goes alone in this round.
__device__ inline void settle_slot(const Walk& walk, int warp, int warps) {
    const double* slot = walk.slots + MOVE * walk.control[EXCLUSIVE];
    const int j = int(slot[0]), begin = walk.column_begin(j), end = walk.column_end(j);
    const REAL delta = REAL(slot[3]);
    for (int first = begin + warp * CHUNK; first < end; first += warps * CHUNK)
        change_rows(walk, -1, delta, first + lane_number(), min(first + CHUNK, end));
    if (warp == 0 && lane_number() == 0) {
        set_column(walk, MOST_TEAMS, j, REAL(slot[1]), delta);
        atomicAdd(walk.tally + 32, 1);
    }
}

// Adds what the block has gathered to what the grid has.
__device__ inline void flush(const Walk& walk) {
    __syncthreads();
    const int place = int(threadIdx.x);
    if (place < 34) {
        const int gathered = walk.tally[place];
        walk.tally[place] = 0;
        if (gathered && place < 32)
            atomicAdd((int*)walk.tree.nodes + walk.tree.first[walk.tree.top] + place, gathered);
        else if (gathered)
            atomicAdd(walk.control + (place == 32 ? MOVED : SEEN), gathered);
    }
    __syncthreads();
}
