// Between two rounds, by block 0 alone: what the round came to, and what the next one is.

#pragma once

#include "settle.cuh"

constexpr int OBJECTIVE_PART = 2;   // one team of so many, at most, lowers the objective
constexpr int FORCED_ROWS = 1024;   // violated rows for each move that is made whatever it costs
constexpr int MOVERS_MORE = 8;      // moves expected beyond twice those of the round before
constexpr int LEAST_PATIENCE = 64;  // objective columns looked at for a lift at least

// How many teams try to lower the objective: about as many moves as the target is away.
__device__ inline int teams_for_objective(const Walk& walk, double gap) {
    const int most = max(1, walk.teams / OBJECTIVE_PART);
    const int columns = (walk.model.objectives + 31) / 32;
    const double wanted = times(gap, walk.scale);
    const int some = wanted < double(most) ? max(1, int(wanted)) : most;
    return min(some, columns);
}

// Counts what a round of lifts has looked at; returns whether it is time for something else.
__device__ inline bool lifts_are_over(const Walk& walk, int moved) {
    const int columns = walk.model.objectives;
    const int window = min(columns, 32 * walk.teams), patience = int(walk.record[PATIENCE]);
    if (moved) {
        walk.record[IDLE] = 0.0;
        walk.record[PATIENCE] = double(min(2 * patience, max(columns, LEAST_PATIENCE)));
        return false;
    }
    const int idle = int(walk.record[IDLE]) + window;
    const bool over = idle >= min(columns, patience);
    walk.record[CURSOR] = double((int(walk.record[CURSOR]) + window) % columns);
    walk.record[IDLE] = over ? 0.0 : double(idle);
    if (over) walk.record[PATIENCE] = double(max(patience / 2, LEAST_PATIENCE));
    return over;
}

// Notes a point that holds if it is better than all before.
__device__ inline void note_point(const Walk& walk, double objective) {
    double* record = walk.record;
    if (!(objective < record[LIMIT] - LEAST_GAIN * fmax(1.0, fabs(record[LIMIT])))) return;
    const double step_down = times(record[FRACTION], fmax(1.0, fabs(objective)));
    record[LIMIT] = objective;
    record[TARGET] = plus(objective, -fmax(step_down, record[GRANULARITY]));
    walk.control[PENDING] = 1;
}

// A round in which nothing moved: the objective gains weight, or rarely all weights go down.
__device__ inline void change_weights(Walk& walk, int count) {
    double* record = walk.record;
    record[MINIMA] += 1.0;
    const double drawn = double(walk.random.draw(walk.step, OF_ROUND, DRAW_SMOOTH));
    if (drawn < record[SMOOTHING] * 4294967296.0) {
        walk.control[SMOOTH] = 1;
        if (record[OBJECTIVE] < record[TARGET] && record[OBJECTIVE_WEIGHT] > 1.0)
            record[OBJECTIVE_WEIGHT] -= 1.0;
    } else if (count == 0 && record[OBJECTIVE_WEIGHT] < LARGEST_WEIGHT) {
        record[OBJECTIVE_WEIGHT] += 1.0;
    }
}

// Chooses teams and window of the next round.
__device__ inline void plan_teams(Walk& walk, int mode, int forced, int count) {
    int* control = walk.control;
    const double gap = plus(walk.record[OBJECTIVE], -walk.record[TARGET]);
    const bool aims = walk.record[TARGET] < NONE && gap > 0.0 && walk.model.objectives > 0;
    int rows = 0, columns = 0;
    if (mode == LIFT) {
        columns = min(walk.teams, (walk.model.objectives + 31) / 32);
    } else if (mode == BREAK) {
        columns = forced ? 1 : teams_for_objective(walk, gap);
    } else if (forced) {
        rows = min(walk.teams, 1 + count / FORCED_ROWS);
    } else {
        columns = aims ? min(teams_for_objective(walk, gap), walk.teams - 1) : 0;
        rows = walk.teams - columns;
    }
    control[MODE] = mode;
    control[FORCED] = forced;
    control[ROW_TEAMS] = rows;
    control[OBJECTIVE_TEAMS] = columns;
    control[START] = 0;
    if (mode == LIFT)
        control[START] = int(walk.record[CURSOR]);
    else if (columns)
        control[START] = walk.random.below((long long)walk.record[STEP] + 1, OF_ROUND, DRAW_WINDOW,
                                           walk.model.objectives);
}

// Takes from shared rows what the round's moves have noted, a warp to a row.
__device__ inline void change_shared(const Walk& walk) {
    int* of_top = (int*)walk.tree.nodes + walk.tree.first[walk.tree.top];
    for (int at = int(threadIdx.x) >> 5; at < walk.shared_count; at += BLOCK_WARPS) {
        const double* shares = walk.shares + (long long)at * walk.teams;
        double part = 0.0;
        for (int team = lane_number(); team < walk.teams; team += 32)
            part = plus(part, shares[team]);
        const double total = warp_sum(part);
        if (lane_number() == 0) change_row(walk, int(walk.shared_rows[at]), total, of_top);
    }
    __syncthreads();
}

// One thread: what follows from a round with ``count`` violated rows and so many moves.
__device__ inline void conclude(Walk& walk, bool begins, int count) {
    double* record = walk.record;
    int* control = walk.control;
    const int moved = begins ? 1 : control[MOVED];
    const int mode = begins ? int(REPAIR) : control[MODE], forced = begins ? 0 : control[FORCED];
    record[VIOLATED] = double(count);
    const bool over = mode == LIFT && lifts_are_over(walk, moved);
    const bool stuck = moved == 0 && mode != LIFT;
    control[SMOOTH] = 0;
    if (stuck && forced == 0) change_weights(walk, count);
    if (count == 0) note_point(walk, record[OBJECTIVE]);
    if (count == 0 && walk.model.objectives == 0) control[DONE] = 1;
    int next = REPAIR;
    if (count == 0) next = over || stuck ? BREAK : LIFT;
    plan_teams(walk, next, stuck ? min(forced + 1, 2) : 0, count);
    const int active = control[ROW_TEAMS] + control[OBJECTIVE_TEAMS];
    control[MOVERS] = begins ? walk.teams : min(max(active, 1), 2 * moved + MOVERS_MORE);
    control[COPY] = 0;
    if (control[PENDING] && count == 0 && next != LIFT) {
        control[COPY] = 1;
        record[BEST] = record[OBJECTIVE];
        record[KEPT] += 1.0;
    }
    if (count > 0 || next != LIFT) control[PENDING] = 0;
}

// Block 0 when a round is over.
__device__ inline void end_round(Walk& walk) {
    double part = 0.0;
    for (int team = int(threadIdx.x); team < walk.teams; team += BLOCK)
        part = plus(part, walk.moves[MOVE * (long long)team + 3]);
    double change = block_sum(part);
    if (walk.shared_count && walk.control[EXCLUSIVE] < 0) change_shared(walk);
    const int count = threadIdx.x < 32 ? walk.tree.count() : 0;
    int* control = walk.control;
    if (threadIdx.x == 0) {
        double* record = walk.record;
        if (control[EXCLUSIVE] >= 0) {
            const double* slot = walk.slots + MOVE * control[EXCLUSIVE];
            change = times(double(walk.model.costs[int(slot[0])]), slot[3]);
        }
        record[STEP] += 1.0;
        record[OBJECTIVE] = plus(record[OBJECTIVE], change);
        record[MOVES] += double(control[MOVED]);
        record[VISITED] += double(control[SEEN]);
        conclude(walk, false, count);
        control[MOVED] = control[SEEN] = control[HUGE_USED] = 0;
        control[EXCLUSIVE] = -1;
    }
    __syncthreads();
    if (threadIdx.x < SLOTS) walk.slots[MOVE * threadIdx.x] = -1.0;
}

// Block 0 when the slots' chunks are scored: the best slot goes alone if no team has a better move.
__device__ inline void choose_slot(Walk& walk) {
    const int lane = lane_number(), chunks = walk.column_chunks;
    for (int at = int(threadIdx.x) >> 5; at < SLOTS; at += BLOCK_WARPS) {
        double* slot = walk.slots + MOVE * at;
        const int j = int(slot[0]);
        if (j < 0) continue;
        const double* partials = walk.partials + 2 * (long long)at * chunks;
        Score own = {walk.mode == LIFT ? NONE : 0.0, 0.0};
        for (int chunk = lane; chunk < chunks; chunk += 32) {
            if (walk.mode == LIFT) own.progress = fmin(own.progress, partials[2 * chunk]);
            else own.progress = plus(own.progress, partials[2 * chunk]);
            own.bonus = plus(own.bonus, partials[2 * chunk + 1]);
        }
        own = walk.joined(own);
        const Pair state = walk.values[j];
        const Choice found = walk.judged(j, REAL(slot[1]), state, own, 1u);
        __syncwarp();
        if (lane == 0) {
            slot[1] = found.value;
            slot[2] = found.tie ? found.progress : -NONE;
            slot[3] = double(REAL(found.value) - state.first);
        }
    }
    double largest = -NONE;
    for (int team = int(threadIdx.x); team < walk.teams; team += BLOCK) {
        const double* move = walk.moves + MOVE * (long long)team;
        if (move[0] >= 0.0) largest = fmax(largest, move[2]);
    }
    largest = block_largest(largest);
    if (threadIdx.x) return;
    double best = walk.forced ? -NONE : LEAST_GAIN;
    for (int at = 0; at < SLOTS; ++at) {
        const double* slot = walk.slots + MOVE * at;
        if (slot[0] < 0.0 || !(slot[2] > best) || slot[2] < largest) continue;
        best = slot[2];
        walk.control[EXCLUSIVE] = at;
    }
}
