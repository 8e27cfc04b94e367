// The walk itself: one slice of steps, each a lift, a move worth its while, a chain, or a kick.
#include "native/bindings.h"

#include <algorithm>
#include <cmath>

#include "chains.h"
#include "moves.h"
#include "scoring.h"

NATIVE_STRUCT(mip::local_search::State, rows, columns, status, violated, priced, bounds, kept,
              candidates, links, chain, origins, pivots, breaks)
NATIVE_STRUCT(mip::local_search::Settings, jump, rows, breadth, scan, breakthroughs, lift_work,
              tabu_base, tabu_spread, smoothing, equality_weight, chain_trials, chain_depth,
              chain_breadth)

namespace mip::local_search {
namespace {

using native::check_length;

/// A chain that is worth it raises the chance of the next by the first, others fade it by the
/// second; some are always tried. A chain costs as much as a hundred steps.
constexpr double CHAIN_REWARD = 0.2, CHAIN_FADE = 0.98, CHAIN_LEAST = 0.05;

/// Violated rows whose weight is raised at one local minimum, at most; more are sampled.
constexpr std::int64_t BUMPED_ROWS = 1000;

/// Weights are all halved when one of them gets there.
constexpr double LARGEST_WEIGHT = 1e9;

/// Moves after which activities are summed anew from the point; sums are compensated besides.
constexpr std::int64_t REFRESH_MOVES = 100'000;

/// Set the objective to beat, and the target that moves aim at below it.
void set_target(Status &status, double best) {
    status.best = best;
    if (best < INF) {
        const double distance = status.aim * std::max(1.0, std::abs(best));
        status.target = best - std::max(distance, status.granularity);
    }
}

/// Keep the current point, which violates nothing, if it is better than the best.
void record_feasible(const State &state) {
    Status &status = state.status[0];
    const double least =
        std::max(SAME * std::max(1.0, std::abs(status.best)), 0.5 * status.granularity);
    if (status.best < INF && status.objective >= status.best - least)
        return;
    keep_point(state, BEST);
    status.found = 1;
    status.improved = status.step;
    status.least_violated = 0;
    set_target(status, status.objective);
    if (state.priced.size() == 0)
        status.done = 1;
}

/// Make satisfied rows lighter.
void lower_weights(const State &state) {
    Status &status = state.status[0];
    if (status.objective <= status.target && status.objective_weight > 0.0)
        status.objective_weight = std::max(0.0, status.objective_weight - 1.0);
    for (Row &row : state.rows)
        if (row.place < 0) {
            row.lower_weight = std::max(0.0, row.lower_weight - 1.0);
            row.upper_weight = std::max(0.0, row.upper_weight - 1.0);
        }
    status.work += state.rows.size();
}

/// Make violated rows heavier, or now and then satisfied ones lighter.
void raise_weights(const State &state, const Settings &settings) {
    Status &status = state.status[0];
    if (status.num_violated == 0) {
        status.objective_weight += 1.0;
        return;
    }
    if (uniform(status) < settings.smoothing) {
        lower_weights(state);
        return;
    }
    const std::int64_t bumped = std::min(status.num_violated, BUMPED_ROWS);
    std::int64_t at = bumped < status.num_violated ? draw(status, status.num_violated) : 0;
    double heaviest = 0.0;
    for (std::int64_t bump = 0; bump < bumped; ++bump) {
        Row &row = state.rows[state.violated[at]];
        at = at + 1 < status.num_violated ? at + 1 : 0;
        double &weight = row.activity < row.lower ? row.lower_weight : row.upper_weight;
        weight += row.lower == row.upper ? settings.equality_weight : 1.0;
        heaviest = std::max(heaviest, weight);
    }
    status.work += bumped;
    if (heaviest > LARGEST_WEIGHT) {
        status.objective_weight *= 0.5;
        for (Row &row : state.rows) {
            row.lower_weight *= 0.5;
            row.upper_weight *= 0.5;
        }
    }
}

/// Make the move of a candidate.
void make_candidate(const Matrix &matrix, const State &state, const Settings &settings,
                    std::int64_t best) {
    const Pair move = state.candidates[best];
    make_move(matrix, state, settings, move.place, move.value);
}

/// Make the best move that closes the gap of one violated row, be it worth nothing.
///
/// Where a step samples one row only, that row's best move is taken instead of another's.
void kick(const Matrix &matrix, const State &state, const Settings &settings, std::int64_t best) {
    if (settings.rows > 1 || best < 0) {
        std::int64_t count = gather_violated(matrix, state, settings, 1, Tabu::NOT_BACK);
        if (count == 0 || state.status[0].num_violated == 0)
            count = gather_breakthroughs(state, settings, count, Tabu::NOT_BACK);
        best = choose(matrix, state, settings.jump, state.candidates, count);
    }
    if (best >= 0)
        make_candidate(matrix, state, settings, best);
}

/// Note that a local minimum violates fewer rows than all before.
void record_least(const State &state) {
    Status &status = state.status[0];
    if (0 < status.num_violated && status.num_violated < status.least_violated) {
        status.least_violated = status.num_violated;
        status.improved = status.step;
        keep_point(state, LEAST);
    }
}

/// Leave a local minimum: by a chain, or by heavier rows and a kick.
void leave_minimum(const Matrix &matrix, const State &state, const Settings &settings,
                   std::int64_t count, std::int64_t best) {
    Status &status = state.status[0];
    record_least(state);
    if (count > 0 && uniform(status) < status.chain_chance) {
        if (try_chains(matrix, state, settings, count, best)) {
            status.chain_chance = std::min(1.0, status.chain_chance + CHAIN_REWARD);
            return;
        }
        status.chain_chance = std::max(CHAIN_LEAST, status.chain_chance * CHAIN_FADE);
    }
    raise_weights(state, settings);
    kick(matrix, state, settings, best);
}

/// Make one step of the walk.
void take_step(const Matrix &matrix, const State &state, const Settings &settings) {
    Status &status = state.status[0];
    status.step += 1;
    status.work += 1;
    if (status.num_violated == 0) {
        const Pair lift = find_lift(matrix, state, settings);
        if (lift.place >= 0) {
            make_move(matrix, state, settings, lift.place, lift.value);
            return;
        }
        record_feasible(state);
        if (status.done == 1)
            return;
    }
    std::int64_t count = gather_violated(matrix, state, settings, settings.rows, Tabu::FREE_ONLY);
    if (status.target > -INF)
        count = gather_breakthroughs(state, settings, count, Tabu::FREE_ONLY);
    const std::int64_t best = choose(matrix, state, settings.jump, state.candidates, count);
    if (best >= 0 && status.progress > SAME)
        make_candidate(matrix, state, settings, best);
    else
        leave_minimum(matrix, state, settings, count, best);
}

void check(const Matrix &matrix, const State &state) {
    const std::int64_t m = state.rows.size(), n = state.columns.size();
    check_length("status", state.status.size(), 1);
    check_shapes(matrix, m, n);
    check_length("violated", state.violated.size(), m);
    check_length("origins", state.origins.size(), m);
    check_length("pivots", state.pivots.size(), m);
    check_length("bounds", state.bounds.size(), 2 * n);
    check_length("kept", state.kept.size(), 2 * n);
}

/// Sum activities and objective anew from the point, and list the violated rows.
void refresh_sums(const Matrix &matrix, const State &state) {
    check(matrix, state);
    refresh(matrix, state);
}

/// Set the objective to beat, and the target that moves aim at below it.
void aim_below(const State &state, double best) {
    check_length("status", state.status.size(), 1);
    set_target(state.status[0], best);
}

/// Take steps until ``work`` entries were visited, or nothing is left to improve.
///
/// Where a point's sums have drifted so far that it only seemed to keep all rows, it is not
/// recorded: activities are summed anew before every record that follows many moves.
void run_slice(const Matrix &matrix, const State &state, const Settings &settings,
               std::int64_t work) {
    check(matrix, state);
    check_length("chain", state.chain.size(), std::max<std::int64_t>(1, settings.chain_depth));
    Status &status = state.status[0];
    const std::int64_t end = status.work + work;
    while (status.work < end && status.done == 0) {
        native::poll();
        if (status.moves_since_refresh >= REFRESH_MOVES)
            refresh(matrix, state);
        take_step(matrix, state, settings);
    }
    if (status.done == 0 && status.num_violated == 0)
        record_feasible(state);
}

} // namespace
} // namespace mip::local_search

NATIVE_MODULE(mip_heuristics_local_search_cpu) {
    using namespace mip::local_search;
    using native::constants, native::expose;
    expose(module, "refresh", &refresh_sums, "matrix", "state");
    expose(module, "aim_below", &aim_below, "state", "best");
    expose(module, "run_slice", &run_slice, "matrix", "state", "settings", "work");
    constants(module, "solvers.mip.heuristics.local_search.cpu.layout",
              {{"Kept.BEST", BEST}, {"Kept.LEAST", LEAST}});
    NATIVE_CONSTANTS(module, "solvers.mip.heuristics.local_search.cpu.layout", VIOLATION_TOLERANCE);
    NATIVE_RECORD(module, "solvers.mip.heuristics.local_search.cpu.layout", "ROW", Row, activity,
                  error, lower, upper, lower_weight, upper_weight, scale, place);
    NATIVE_RECORD(module, "solvers.mip.heuristics.local_search.cpu.layout", "COLUMN", Column, x,
                  lower, upper, cost, no_rise, no_fall, changed, whole);
    NATIVE_RECORD(module, "solvers.mip.heuristics.local_search.cpu.layout", "STATUS", Status, step,
                  moves, moves_since_refresh, improved, work, num_violated, least_violated, pointer,
                  num_chain, chains, boxed, done, found, objective, best, target, aim, granularity,
                  objective_weight, objective_scale, progress, chain_gain, chain_chance, lift_part,
                  random);
    NATIVE_RECORD(module, "solvers.mip.heuristics.local_search.cpu.layout", "PAIR", Pair, place,
                  value);
}
