// A round by the whole grid.
//
// First each team, a warp, proposes the best of up to 32 moves, and claims the rows that it would
// change; slack and values stay as they are meanwhile. Then moves whose rows are all theirs are made,
// all at once; a violated row for which there was none gains weight. Weights of rows that move are not
// written, nor slack of rows that gain weight, so that both may be the same row. Between two rounds
// block 0 leads; before the first one slack and objective are computed anew, by the whole grid.
#pragma once

#include "grid.cuh"
#include "grid_lead.cuh"

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
    if (walk.lines.column_chunks) offer_slot(walk, team, found, huge);
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
        row = tree_find(*walk.tree, place.rank);
        const int offset = offset_of(walk, team, place, row);
        best = best_candidate(walk, team, in_row(walk, place, row, offset, lane_number()));
        if (place.part) row = -1;  // one team of each row speaks for it
    } else if (team - walk.row_teams < walk.objective_teams) {
        const int number = 32 * (team - walk.row_teams) + lane_number();
        best = best_candidate(walk, team, in_objective(walk, number));
    }
    const bool goes = best.column >= 0 && (best.progress > LEAST_GAIN || walk.forced > 0);
    if (goes) claim_rows(walk, team, best);
    if (lane_number() < walk.lines.shared_count)
        walk.shares[(long long)lane_number() * walk.teams + team] = 0.0;
    if (lane_number() == 0) note_move(walk, team, goes ? &best : nullptr, row);
}

// Takes ``change`` from a row's slack; ``of_top`` is where changes of the tree's top level go.
__device__ inline void change_row(const Walk& walk, int row, double change, int* of_top) {
    bool violated;
    if (shift_row(walk, row, change, violated)) tree_change(*walk.tree, row, violated, of_top);
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
    const int chunks = walk.lines.column_chunks;
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
            atomicAdd((int*)walk.tree->nodes + walk.tree->first[walk.tree->top] + place, gathered);
        else if (gathered)
            atomicAdd(walk.control + (place == 32 ? MOVED : SEEN), gathered);
    }
    __syncthreads();
}

// Takes from shared rows what the round's moves have noted, a warp to a row.
__device__ inline void change_shared(const Walk& walk) {
    int* of_top = (int*)walk.tree->nodes + walk.tree->first[walk.tree->top];
    for (int at = int(threadIdx.x) >> 5; at < walk.lines.shared_count; at += BLOCK_WARPS) {
        const double* shares = walk.shares + (long long)at * walk.teams;
        double part = 0.0;
        for (int team = lane_number(); team < walk.teams; team += 32)
            part = plus(part, shares[team]);
        const double total = warp_sum(part);
        if (lane_number() == 0) change_row(walk, int(walk.lines.shared_rows[at]), total, of_top);
    }
    __syncthreads();
}

// Block 0 when a round is over.
__device__ inline void end_round(Walk& walk) {
    double part = 0.0;
    for (int team = int(threadIdx.x); team < walk.teams; team += BLOCK)
        part = plus(part, walk.moves[MOVE * (long long)team + 3]);
    const double change = block_sum(part);
    if (walk.lines.shared_count && walk.control[EXCLUSIVE] < 0) change_shared(walk);
    const int count = threadIdx.x < 32 ? tree_count(*walk.tree) : 0;
    if (threadIdx.x == 0) close_round(walk, change, count);
    __syncthreads();
    if (threadIdx.x < SLOTS) walk.slots[MOVE * threadIdx.x] = -1.0;
}

// Block 0 when the slots' chunks are scored: the best slot goes alone if no team has a better move.
__device__ inline void choose_slot(Walk& walk) {
    const int lane = lane_number(), chunks = walk.lines.column_chunks;
    for (int at = int(threadIdx.x) >> 5; at < SLOTS; at += BLOCK_WARPS) {
        double* slot = walk.slots + MOVE * at;
        if (slot[0] < 0.0) continue;
        const double* partials = walk.partials + 2 * (long long)at * chunks;
        Score own = {walk.mode == LIFT ? NONE : 0.0, 0.0};
        for (int chunk = lane; chunk < chunks; chunk += 32) {
            if (walk.mode == LIFT) own.progress = fmin(own.progress, partials[2 * chunk]);
            else own.progress = plus(own.progress, partials[2 * chunk]);
            own.bonus = plus(own.bonus, partials[2 * chunk + 1]);
        }
        own = joined(walk, own);
        __syncwarp();
        if (lane == 0) judge_slot(walk, slot, own);
    }
    double largest = -NONE;
    for (int team = int(threadIdx.x); team < walk.teams; team += BLOCK) {
        const double* move = walk.moves + MOVE * (long long)team;
        if (move[0] >= 0.0) largest = fmax(largest, move[2]);
    }
    largest = block_largest(largest);
    if (threadIdx.x == 0) pick_slot(walk, largest);
}

// Activities of the chunks of rows that are longer than one; the tree and claims are emptied.
__device__ inline void prepare_refresh(const Walk& walk, int thread, int threads) {
    for (int row = thread; row < walk.model.rows; row += threads) walk.claims[row] = 0ull;
    for (int node = thread; node < walk.tree->size; node += threads) walk.tree->nodes[node] = 0u;
    const int chunks = walk.lines.row_chunks;
    for (int at = thread >> 5; at < walk.lines.long_count * chunks; at += threads >> 5) {
        const int row = int(walk.lines.long_rows[at / chunks]);
        const int begin = int(walk.model.row_start[row]) + at % chunks * CHUNK;
        const int end = min(begin + CHUNK, int(walk.model.row_start[row + 1]));
        const double total = warp_sum(activity(walk, begin + lane_number(), end, 32));
        if (lane_number() == 0) walk.partials[at] = total;
    }
}

// Activity of a row that a warp or the grid has read together.
__device__ inline double long_activity(const Walk& walk, int row, int begin, int end) {
    if (end - begin <= CHUNK) return warp_sum(activity(walk, begin + lane_number(), end, 32));
    int low = 0, high = walk.lines.long_count - 1;
    while (low < high) {
        const int middle = (low + high) >> 1;
        if (int(walk.lines.long_rows[middle]) < row) low = middle + 1;
        else high = middle;
    }
    double own = 0.0;
    for (int chunk = lane_number(); chunk < walk.lines.row_chunks; chunk += 32)
        own = plus(own, walk.partials[(long long)low * walk.lines.row_chunks + chunk]);
    return warp_sum(own);
}

// Slack of the 32 rows of a word of the tree, a lane to a row where rows are short.
__device__ inline void refresh_word(const Walk& walk, int word) {
    const int lane = lane_number(), row = 32 * word + lane;
    int begin = 0, end = 0;
    if (row < walk.model.rows) {
        begin = int(walk.model.row_start[row]);
        end = int(walk.model.row_start[row + 1]);
    }
    unsigned waiting = __ballot_sync(ALL_LANES, end - begin > LANE_ROW);
    double total = end - begin > LANE_ROW ? 0.0 : activity(walk, begin, end, 1);
    while (waiting) {
        const int source = __ffs(int(waiting)) - 1;
        waiting &= waiting - 1;
        const double whole =
            long_activity(walk, 32 * word + source, __shfl_sync(ALL_LANES, begin, source),
                          __shfl_sync(ALL_LANES, end, source));
        if (lane == source) total = whole;
    }
    bool violated = false;
    if (row < walk.model.rows) {
        const REAL slack = REAL(plus(double(walk.model.sides[row]), -total));
        walk.cells[row].first = slack;
        violated = violation(double(slack), walk.range(row)) > 0.0;
    }
    const unsigned bits = __ballot_sync(ALL_LANES, violated);
    if (lane || bits == 0u) return;
    walk.tree->nodes[word] = bits;
    int node = word >> 5;
    for (int level = 1; level <= walk.tree->top; ++level, node >>= 5)
        atomicAdd((int*)walk.tree->nodes + walk.tree->first[level] + node, __popc(bits));
}

__device__ inline double* pieces_of(const Walk& walk) {
    return walk.partials + (long long)walk.lines.long_count * walk.lines.row_chunks;
}

__device__ inline void refresh(const Walk& walk, int thread, int threads) {
    for (int word = thread >> 5; 32 * word < walk.model.rows; word += threads >> 5)
        refresh_word(walk, word);
    for (int piece = thread; piece < PIECES; piece += threads) {
        double part = 0.0;
        for (int j = piece; j < walk.model.columns; j += PIECES)
            part = plus(part, times(double(walk.model.costs[j]), double(walk.values[j].first)));
        pieces_of(walk)[piece] = part;
    }
}

// Block 0 after it.
__device__ inline void end_refresh(Walk& walk) {
    double part = 0.0;
    for (int piece = int(threadIdx.x); piece < PIECES; piece += BLOCK)
        part = plus(part, pieces_of(walk)[piece]);
    const double objective = block_sum(part);
    if (threadIdx.x == 0) {
        walk.record[OBJECTIVE] = objective;
        walk.record[REFRESH] = 0.0;
    }
}

__device__ inline void restart_clock(const Walk& walk, int thread, int threads) {
    for (int j = thread; j < walk.model.columns; j += threads) walk.values[j].second = REAL(0);
    for (int row = thread; row < walk.model.rows; row += threads) walk.claims[row] = 0ull;
}

// Block 0 before the first round.
__device__ inline void begin_rounds(Walk& walk) {
    if (threadIdx.x < SLOTS) walk.slots[MOVE * threadIdx.x] = -1.0;
    const int count = threadIdx.x < 32 ? tree_count(*walk.tree) : 0;
    if (threadIdx.x == 0) open_rounds(walk, count);
}
