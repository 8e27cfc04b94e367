// Where moves come from: violated rows, the objective, and lifts.
#pragma once

#include <algorithm>
#include <cmath>

#include "moves.h"
#include "scoring.h"

namespace mip::local_search {

/// Columns looked at for a better lift after the first.
constexpr std::int64_t LIFT_WINDOW = 64;

/// A search without a lift shortens the next by the first, at most to the second part; one that
/// finds a lift lengthens it again. Walks along the edge of the feasible set ask all the time.
constexpr double LIFT_FADE = 0.7, LIFT_LEAST = 0.02;

/// Which steps are let in: all but the direct way back of the last, or those not forbidden.
enum class Tabu { NOT_BACK, FREE_ONLY };

/// Add a step of column j, cut to its bounds, unless it is nothing or forbidden; returns the count.
inline std::int64_t put(const State &state, Span<Pair> pairs, std::int64_t count, std::int64_t j,
                        double delta, Tabu tabu) {
    const Status &status = state.status[0];
    const Column &column = state.columns[j];
    const double value = std::min(std::max(column.x + delta, column.lower), column.upper);
    delta = value - column.x;
    if (std::abs(delta) <= SAME || count >= pairs.size())
        return count;
    const std::int64_t until = delta > 0.0 ? column.no_rise : column.no_fall;
    if (status.step < until && (tabu == Tabu::FREE_ONLY || column.changed >= status.step - 1))
        return count;
    pairs[count] = {j, delta};
    return count + 1;
}

/// Add the steps of column j that close a gap for which it would have to change by ``delta``.
///
/// Integers step far enough, in equations also just short of it. For Feasibility Jump the jump
/// value comes first.
inline std::int64_t put_steps(const Matrix &matrix, const State &state, const Settings &settings,
                              std::int64_t j, double delta, bool equation, Span<Pair> pairs,
                              std::int64_t count, Tabu tabu) {
    const Column &column = state.columns[j];
    if (column.whole == 0) {
        if (settings.jump) {
            const double jump = jump_value(matrix, state, j) - column.x;
            count = put(state, pairs, count, j, jump, tabu);
        }
        return put(state, pairs, count, j, delta, tabu);
    }
    if ((delta > 0.0 && column.x >= column.upper) || (delta < 0.0 && column.x <= column.lower))
        return count;
    const double low = std::floor(delta + SAME), high = std::ceil(delta - SAME);
    const double far = delta > 0.0 ? high : low, short_of = delta > 0.0 ? low : high;
    if (column.upper - column.lower > 1.0) {
        if (settings.jump) {
            const double jump = jump_value(matrix, state, j) - column.x;
            if (jump != far)
                count = put(state, pairs, count, j, jump, tabu);
        }
        if (equation && short_of != far)
            count = put(state, pairs, count, j, short_of, tabu);
    }
    return put(state, pairs, count, j, far, tabu);
}

/// Add up to about ``room`` steps of columns of row i that close ``gap``; returns the count.
///
/// A violated row has the gap that brings its activity to the side it has left. Where the row
/// has more columns than there is room for, the look round starts anywhere in it.
inline std::int64_t gather_row(const Matrix &matrix, const State &state, const Settings &settings,
                               std::int64_t i, double gap, std::int64_t room, Span<Pair> pairs,
                               std::int64_t count, Tabu tabu) {
    Status &status = state.status[0];
    const Row &row = state.rows[i];
    const bool equation = row.lower == row.upper;
    const std::int64_t first = matrix.rows.indptr[i], length = matrix.rows.indptr[i + 1] - first;
    if (length == 0)
        return count;
    std::int64_t at = 0;
    if (length > room) {
        at = draw(status, length);
        const Pair pivot = state.pivots[i];
        if (pivot.place >= 0)
            count = put_steps(matrix, state, settings, pivot.place, gap / pivot.value, equation,
                              pairs, count, tabu);
    }
    const std::int64_t stop = count + room, scanned = std::min(length, settings.scan);
    std::int64_t visited = 0;
    while (visited < scanned && count < stop) {
        const std::int64_t k = first + at;
        if (++at == length)
            at = 0;
        ++visited;
        count = put_steps(matrix, state, settings, matrix.rows.indices[k],
                          gap / matrix.rows.data[k], equation, pairs, count, tabu);
    }
    status.work += visited;
    return count;
}

/// By how much a violated row's activity has to change, with its sign.
inline double gap_of(const Row &row) {
    return (row.activity < row.lower ? row.lower : row.upper) - row.activity;
}

/// Fill the candidates from so many sampled violated rows; returns their number.
inline std::int64_t gather_violated(const Matrix &matrix, const State &state,
                                    const Settings &settings, std::int64_t rows, Tabu tabu) {
    Status &status = state.status[0];
    std::int64_t count = 0;
    const std::int64_t sampled = std::min(rows, status.num_violated);
    for (std::int64_t sample = 0; sample < sampled; ++sample) {
        const std::int64_t i = state.violated[draw(status, status.num_violated)];
        count = gather_row(matrix, state, settings, i, gap_of(state.rows[i]), settings.breadth,
                           state.candidates, count, tabu);
    }
    return count;
}

/// Add steps of columns with a cost that reach the target, go one unit there, or all the way.
inline std::int64_t gather_breakthroughs(const State &state, const Settings &settings,
                                         std::int64_t count, Tabu tabu) {
    Status &status = state.status[0];
    const std::int64_t priced = state.priced.size();
    if (priced == 0 || status.objective <= status.target)
        return count;
    const double gap = status.target - status.objective;
    const std::int64_t tries = std::min(settings.breakthroughs, priced);
    for (std::int64_t trial = 0; trial < tries; ++trial) {
        const std::int64_t j = state.priced[draw(status, priced)];
        const Column &column = state.columns[j];
        double delta = gap / column.cost;
        if (column.whole == 1) {
            delta = delta > 0.0 ? std::ceil(delta) : std::floor(delta);
            if (delta != 0.0 && column.upper - column.lower > 1.0)
                count = put(state, state.candidates, count, j, native::sign_of(delta), tabu);
        } else if (draw(status, 2) == 0) {
            delta = (delta < 0.0 ? column.lower : column.upper) - column.x;
        }
        if (std::abs(delta) < LARGEST_BOUND)
            count = put(state, state.candidates, count, j, delta, tabu);
    }
    return count;
}

/// How far column j may go to where it costs less before it meets its bound or the side of a row;
/// an integer column goes whole steps. Adds the entries looked at to ``visited``.
inline double lift_length(const Matrix &matrix, const State &state, std::int64_t j, double shortest,
                          std::int64_t &visited) {
    const Column &column = state.columns[j];
    const bool falls = column.cost > 0.0;
    const double sign = falls ? -1.0 : 1.0;
    double length = falls ? column.x - column.lower : column.upper - column.x;
    std::int64_t k = matrix.columns.indptr[j];
    const std::int64_t first = k, last = matrix.columns.indptr[j + 1];
    for (; k < last && length >= shortest - SAME; ++k) {
        const Row &row = state.rows[matrix.columns.indices[k]];
        const double effect = sign * matrix.columns.data[k];
        const double room = effect > 0.0 ? row.upper - row.activity : row.activity - row.lower;
        length = std::min(length, std::max(room, 0.0) / std::abs(effect));
    }
    visited += k - first;
    return column.whole == 1 ? std::floor(length + SAME) : length;
}

/// The column and step that lower the objective most and keep every row; (-1, 0) if there is none.
///
/// Columns with a cost are looked at in turn, from where the last search ended; within a window
/// after the first find the best counts.
inline Pair find_lift(const Matrix &matrix, const State &state, const Settings &settings) {
    Status &status = state.status[0];
    Pair best{-1, 0.0};
    double best_gain = SAME * std::max(1.0, std::abs(status.objective));
    std::int64_t visited = 0, window = 0;
    const double most = status.lift_part * static_cast<double>(settings.lift_work);
    for (std::int64_t trial = 0; trial < state.priced.size(); ++trial) {
        if (static_cast<double>(visited) > most || window > LIFT_WINDOW)
            break;
        status.pointer = status.pointer + 1 < state.priced.size() ? status.pointer + 1 : 0;
        const std::int64_t j = state.priced[status.pointer];
        ++visited;
        window += best.place >= 0;
        const Column &column = state.columns[j];
        const double cost = std::abs(column.cost);
        if (cost * (column.upper - column.lower) <= best_gain)
            continue;
        const double shortest = column.whole == 1 ? 1.0 : SAME;
        const double length = lift_length(matrix, state, j, shortest, visited);
        if (length >= shortest && length < LARGEST_BOUND && length * cost > best_gain) {
            best = {j, column.cost > 0.0 ? -length : length};
            best_gain = length * cost;
        }
    }
    if (best.place >= 0)
        status.lift_part = std::min(1.0, status.lift_part / LIFT_FADE);
    else
        status.lift_part = std::max(LIFT_LEAST, status.lift_part * LIFT_FADE);
    status.work += visited;
    return best;
}

} // namespace mip::local_search
