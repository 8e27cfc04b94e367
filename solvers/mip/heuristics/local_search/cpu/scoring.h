// What a walker holds (see layout.py), and what a move is worth.
//
// Progress and bonus are those of Local-MIP, or the drop of the weighted violation. A row has two
// sides, each with a weight of its own. Progress counts a side that becomes satisfied
// as its weight, one that becomes violated as minus its weight, one that stays violated as half of
// it, up or down; the objective is one more side, satisfied below the target. The bonus counts rows
// that come to hold, or no longer hold, with room to spare. (Lin, Zou and Cai, CP 2024; the drop of
// the violation is that of Luteberget and Sartor, MPC 2023.)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "mip/model.h"

namespace mip::local_search {

using native::Grid;
using native::INF;
using native::Span;

/// Which of the points kept is the best feasible one, and which the least violated.
constexpr std::int64_t BEST = 0, LEAST = 1;

/// Violation above which a row counts as violated.
constexpr double VIOLATION_TOLERANCE = 5e-7;

struct Row {
    double activity, error, lower, upper, lower_weight, upper_weight, scale;
    std::int64_t place;
};

struct Column {
    double x, lower, upper, cost;
    std::int64_t no_rise, no_fall, changed, whole;
};

struct Status {
    std::int64_t step, moves, moves_since_refresh, improved, work, num_violated, least_violated,
        pointer, num_chain, chains, boxed, done, found;
    double objective, best, target, aim, granularity, objective_weight, objective_scale, progress,
        chain_gain, chain_chance, lift_part;
    std::uint64_t random;
};

/// A column and its step, or its value from before.
struct Pair {
    std::int64_t place;
    double value;
};

struct State {
    Span<Row> rows;
    Span<Column> columns;
    Span<Status> status;
    Span<std::int64_t> violated;
    Span<const std::int64_t> priced;
    Grid<const double> bounds;
    Grid<double> kept;
    Span<Pair> candidates, links, chain, origins;
    Span<const Pair> pivots;
    Grid<double> breaks;
};

struct Settings {
    bool jump;
    std::int64_t rows, breadth, scan, breakthroughs, lift_work, tabu_base, tabu_spread;
    double smoothing, equality_weight;
    std::int64_t chain_trials, chain_depth, chain_breadth;
};

/// Progress of the objective's side for a change of the objective, from ``objective`` on.
inline double objective_progress(const Status &status, double objective, bool jump, double change) {
    if (change == 0.0)
        return 0.0;
    const double weight = status.objective_weight;
    if (jump)
        return -weight * status.objective_scale * change;
    const double after = objective + change;
    if (objective > status.target) {
        if (after <= status.target)
            return weight;
        return change < 0.0 ? 0.5 * weight : -0.5 * weight;
    }
    return after > status.target ? -weight : 0.0;
}

/// Two doubles side by side: what there is of a row's lower and of its upper side.
using Both = double __attribute__((vector_size(16)));

/// A number where a comparison holds, else 0.
template <class Mask> inline Both where(Mask holds, double number) {
    return holds ? Both{number, number} : Both{};
}

/// What one row gains from a change of its activity, by Feasibility Jump.
inline double row_drop(const Row &row, double before, double after) {
    const double lower_drop = std::max(row.lower - before, 0.0) - std::max(row.lower - after, 0.0);
    const double upper_drop = std::max(before - row.upper, 0.0) - std::max(after - row.upper, 0.0);
    return row.scale * (row.lower_weight * lower_drop + row.upper_weight * upper_drop);
}

/// What one row gains from a change of its activity.
///
/// Comparisons become numbers here, not branches: which rows a move wins no processor foresees.
/// Both sides are looked at together; the upper one becomes a lower one by its sign.
inline double row_progress(const Row &row, bool jump, double before, double after) {
    if (jump)
        return row_drop(row, before, after);
    const Both side = Both{row.lower, -row.upper} - VIOLATION_TOLERANCE;
    const Both from{before, -before}, to{after, -after};
    const auto was = from < side, is = to < side, stays = was & is;
    const Both part = where(was, 1.0) - where(is, 1.0) + where(stays & (to > from), 0.5) -
                      where(stays & (to < from), 0.5);
    const Both gain = Both{row.lower_weight, row.upper_weight} * part;
    return gain[0] + gain[1];
}

/// The progress of changing column j by ``delta``, or the drop of the violation.
inline double progress_of(const Matrix &matrix, const State &state, bool jump, std::int64_t j,
                          double delta) {
    Status &status = state.status[0];
    const std::int64_t first = matrix.columns.indptr[j], last = matrix.columns.indptr[j + 1];
    status.work += last - first;
    double progress =
        objective_progress(status, status.objective, jump, state.columns[j].cost * delta);
    for (std::int64_t k = first; k < last; ++k) {
        const Row &row = state.rows[matrix.columns.indices[k]];
        const double before = row.activity;
        const double after = before + matrix.columns.data[k] * delta;
        progress += row_progress(row, jump, before, after);
    }
    return progress;
}

/// The bonus of changing column j by ``delta``.
inline double bonus_of(const Matrix &matrix, const State &state, std::int64_t j, double delta) {
    Status &status = state.status[0];
    const double change = state.columns[j].cost * delta;
    double bonus = 0.0;
    if (change < 0.0 && status.objective + change < status.best)
        bonus = status.objective_weight;
    const std::int64_t first = matrix.columns.indptr[j], last = matrix.columns.indptr[j + 1];
    status.work += last - first;
    const auto is_within = [](double lower, double upper, double activity) {
        return static_cast<double>(activity > lower) * static_cast<double>(activity < upper);
    };
    for (std::int64_t k = first; k < last; ++k) {
        const Row &row = state.rows[matrix.columns.indices[k]];
        const double before = row.activity;
        const double after = before + matrix.columns.data[k] * delta;
        const double lower = row.lower + VIOLATION_TOLERANCE;
        const double upper = row.upper - VIOLATION_TOLERANCE;
        const double was = is_within(lower, upper, before), now = is_within(lower, upper, after);
        bonus += (now - was) * std::min(row.lower_weight, row.upper_weight);
    }
    return bonus;
}

/// The best of ``count`` candidates, -1 without one; its progress goes to the status.
///
/// Ties go to the larger bonus, which is only then worked out, then to the older column.
inline std::int64_t choose(const Matrix &matrix, const State &state, bool jump,
                           Span<const Pair> pairs, std::int64_t count) {
    std::int64_t best = -1;
    double best_progress = -INF, best_bonus = native::NaN;
    for (std::int64_t place = 0; place < count; ++place) {
        const Pair pair = pairs[place];
        const double progress = progress_of(matrix, state, jump, pair.place, pair.value);
        if (progress < best_progress)
            continue;
        double bonus = native::NaN;
        if (progress == best_progress && best >= 0) {
            const Pair other = pairs[best];
            if (pair.place == other.place && pair.value == other.value)
                continue;
            if (std::isnan(best_bonus))
                best_bonus = bonus_of(matrix, state, other.place, other.value);
            bonus = bonus_of(matrix, state, pair.place, pair.value);
            if (bonus < best_bonus ||
                (bonus == best_bonus &&
                 state.columns[pair.place].changed >= state.columns[other.place].changed))
                continue;
        }
        best = place;
        best_progress = progress;
        best_bonus = bonus;
    }
    state.status[0].progress = best_progress;
    return best;
}

/// Put a breakpoint in its place among ``count`` sorted ones; returns their number.
inline std::int64_t insert(const Grid<double> &breaks, std::int64_t count, double point,
                           double slope) {
    const Span<double> points = breaks[0], slopes = breaks[1];
    std::int64_t at = count;
    while (at > 0 && points[at - 1] > point) {
        points[at] = points[at - 1];
        slopes[at] = slopes[at - 1];
        --at;
    }
    points[at] = point;
    slopes[at] = slope;
    return count + 1;
}

/// Put the breakpoints of column j in order; returns their number and the slope before them all.
inline std::pair<std::int64_t, double> find_breaks(const Matrix &matrix, const State &state,
                                                   std::int64_t j) {
    Status &status = state.status[0];
    const Column &column = state.columns[j];
    double slope = status.objective_weight * status.objective_scale * column.cost;
    std::int64_t count = 0;
    for (std::int64_t k = matrix.columns.indptr[j]; k < matrix.columns.indptr[j + 1]; ++k) {
        const Row &row = state.rows[matrix.columns.indices[k]];
        const double value = matrix.columns.data[k];
        const double size = std::abs(value) * row.scale;
        const double rising = row.lower_weight * size, falling = row.upper_weight * size;
        if (row.lower > -INF) {
            slope -= value > 0.0 ? rising : 0.0;
            const double at = column.x + (row.lower - row.activity) / value;
            count = insert(state.breaks, count, at, rising);
        }
        if (row.upper < INF) {
            slope -= value < 0.0 ? falling : 0.0;
            const double at = column.x + (row.upper - row.activity) / value;
            count = insert(state.breaks, count, at, falling);
        }
    }
    return {count, slope};
}

/// The value of column j with the least weighted violation, the others kept.
///
/// The violation is convex and piecewise linear in one column: its breakpoints are where rows
/// meet their sides, and it is least where its slope turns from negative. Columns with more
/// breakpoints than there is room for stay where they are.
inline double jump_value(const Matrix &matrix, const State &state, std::int64_t j) {
    const Column &column = state.columns[j];
    const std::int64_t length = matrix.columns.indptr[j + 1] - matrix.columns.indptr[j];
    if (2 * length > state.breaks.shape(1))
        return column.x;
    state.status[0].work += length;
    auto [count, slope] = find_breaks(matrix, state, j);
    std::int64_t place = 0;
    while (place < count && slope + state.breaks(1, place) < 0.0) {
        slope += state.breaks(1, place);
        ++place;
    }
    double value;
    if (slope >= 0.0)
        value = column.lower > -LARGEST_BOUND ? column.lower : column.x;
    else if (place < count)
        value = state.breaks(0, place);
    else
        value = column.upper < LARGEST_BOUND ? column.upper : column.x;
    if (column.whole == 1) {
        const double near = native::round_even(value);
        if (std::abs(value - near) <= SAME)
            value = near;
        else
            value = value < column.x ? std::floor(value) : std::ceil(value);
    }
    return std::min(std::max(value, column.lower), column.upper);
}

} // namespace mip::local_search
