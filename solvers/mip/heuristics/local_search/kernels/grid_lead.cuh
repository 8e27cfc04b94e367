// One thread between two rounds: what a round came to, and what the next one is.
#pragma once

#include "grid_state.cuh"

constexpr int OBJECTIVE_PART = 2;   // one team of so many, at most, lowers the objective
constexpr int FORCED_ROWS = 1024;   // violated rows for each move that is made whatever it costs
constexpr int MOVERS_MORE = 8;      // moves expected beyond twice those of the round before
constexpr int LEAST_PATIENCE = 64;  // objective columns looked at for a lift at least

// How many teams try to lower the objective: about as many moves as the target is away.
BOTH int teams_for_objective(const Walk& walk, double gap) {
    const int most = larger(1, walk.teams / OBJECTIVE_PART);
    const int columns = (walk.model.objectives + 31) / 32;
    const double wanted = times(gap, walk.scale);
    const int some = wanted < double(most) ? larger(1, int(wanted)) : most;
    return smaller(some, columns);
}

// Counts what a round of lifts has looked at; returns whether it is time for something else.
BOTH bool lifts_are_over(const Walk& walk, int moved) {
    const int columns = walk.model.objectives;
    const int window = smaller(columns, 32 * walk.teams), patience = int(walk.record[PATIENCE]);
    if (moved) {
        walk.record[IDLE] = 0.0;
        walk.record[PATIENCE] = double(smaller(2 * patience, larger(columns, LEAST_PATIENCE)));
        return false;
    }
    const int idle = int(walk.record[IDLE]) + window;
    const bool over = idle >= smaller(columns, patience);
    walk.record[CURSOR] = double((int(walk.record[CURSOR]) + window) % columns);
    walk.record[IDLE] = over ? 0.0 : double(idle);
    if (over) walk.record[PATIENCE] = double(larger(patience / 2, LEAST_PATIENCE));
    return over;
}

// Notes a point that holds if it is better than all before.
BOTH void note_point(const Walk& walk, double objective) {
    double* record = walk.record;
    if (!(objective < record[LIMIT] - LEAST_GAIN * larger(1.0, fabs(record[LIMIT])))) return;
    const double step_down = times(record[FRACTION], larger(1.0, fabs(objective)));
    record[LIMIT] = objective;
    record[TARGET] = plus(objective, -larger(step_down, record[GRANULARITY]));
    walk.control[PENDING] = 1;
}

// A round in which nothing moved: the objective gains weight, or rarely all weights go down.
BOTH void change_weights(Walk& walk, int count) {
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
BOTH void plan_teams(Walk& walk, int mode, int forced, int count) {
    int* control = walk.control;
    const double gap = plus(walk.record[OBJECTIVE], -walk.record[TARGET]);
    const bool aims = walk.record[TARGET] < NONE && gap > 0.0 && walk.model.objectives > 0;
    int rows = 0, columns = 0;
    if (mode == LIFT) {
        columns = smaller(walk.teams, (walk.model.objectives + 31) / 32);
    } else if (mode == BREAK) {
        columns = forced ? 1 : teams_for_objective(walk, gap);
    } else if (forced) {
        rows = smaller(walk.teams, 1 + count / FORCED_ROWS);
    } else {
        columns = aims ? smaller(teams_for_objective(walk, gap), walk.teams - 1) : 0;
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

// One thread: what follows from a round with ``count`` violated rows and so many moves.
BOTH void conclude(Walk& walk, bool begins, int count) {
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
    plan_teams(walk, next, stuck ? smaller(forced + 1, 2) : 0, count);
    const int active = control[ROW_TEAMS] + control[OBJECTIVE_TEAMS];
    control[MOVERS] = begins ? walk.teams : smaller(larger(active, 1), 2 * moved + MOVERS_MORE);
    control[COPY] = 0;
    if (control[PENDING] && count == 0 && next != LIFT) {
        control[COPY] = 1;
        record[BEST] = record[OBJECTIVE];
        record[KEPT] += 1.0;
    }
    if (count > 0 || next != LIFT) control[PENDING] = 0;
}

// Counts what a round has changed of the objective, and begins the next one.
BOTH void close_round(Walk& walk, double change, int count) {
    double* record = walk.record;
    int* control = walk.control;
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

// The same before the first round of a launch.
BOTH void open_rounds(Walk& walk, int count) {
    int* control = walk.control;
    control[MOVED] = control[SEEN] = control[HUGE_USED] = 0;
    control[DONE] = control[PENDING] = 0;
    control[EXCLUSIVE] = -1;
    walk.step = (long long)walk.record[STEP];
    conclude(walk, true, count);
}

// A column in a slot, when all of its chunks are scored.
BOTH void judge_slot(const Walk& walk, double* slot, const Score& score) {
    const int j = int(slot[0]);
    const Pair state = walk.values[j];
    const Choice found = walk.judged(j, REAL(slot[1]), state, score, 1u);
    slot[1] = found.value;
    slot[2] = found.tie ? found.progress : -NONE;
    slot[3] = double(REAL(found.value) - state.first);
}

// The best slot goes alone if no team has a better move; ``largest`` is the best team's progress.
BOTH void pick_slot(const Walk& walk, double largest) {
    double best = walk.forced ? -NONE : LEAST_GAIN;
    for (int at = 0; at < SLOTS; ++at) {
        const double* slot = walk.slots + MOVE * at;
        if (slot[0] < 0.0 || !(slot[2] > best) || slot[2] < largest) continue;
        best = slot[2];
        walk.control[EXCLUSIVE] = at;
    }
}
