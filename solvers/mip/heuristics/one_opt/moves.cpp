// Moves of one and of two columns from a feasible point: scored, and made one after the other.
//
// With room up above_i = max(0, U_i - (Ax)_i + s) and down below_i = max(0, (Ax)_i - L_i + s)
// in each row, a move that changes the activity of row i by t keeps the row if -below_i <= t <=
// above_i. The slop s is 0 for continuous columns and SLOP for integer ones, whose steps would
// otherwise fall one short by rounding. Column j moves in the direction d_j in which the objective
// falls, by a step that is whole for integer columns.
//
// One-opt (score_shifts): the largest step that keeps all rows and the bound. Where it is 0,
// rows stand in the way; the shortest of them is handed on.
//
// Two-opt (score_pairs): another column k of that row makes way, by as little as a unit step of
// j needs, and j then takes the largest step that keeps all rows of both. Any pair that improves
// the objective has a member that does, and if its move is blocked the other has to be in the
// blocking row: so no pair of unit steps is missed but for the limit on partners, be it an exchange
// in a partitioning row or a column and what it implies.
#include "mip/model.h"

#include <algorithm>
#include <cmath>

namespace {

using native::Span;
using Ints = Span<const std::int32_t>;
using Marks = Span<std::uint8_t>;

/// The matrix by rows and by columns, the rows' sides and the point.
struct Point {
    Span<const std::int32_t> row_start, row_column, column_start, column_row;
    Span<const double> row_value, column_value, row_lower, row_upper, activity, cost, lower, upper,
        x;
    Span<const std::uint8_t> is_integer;

    bool whole(std::int32_t j) const { return is_integer[j] != 0; }
    double above(std::int32_t i, double slop) const {
        return std::max(row_upper[i] - activity[i] + slop, 0.0);
    }
    double below(std::int32_t i, double slop) const {
        return std::max(activity[i] - row_lower[i] + slop, 0.0);
    }
    double shift_room(std::int32_t j) const {
        return std::max(cost[j] < 0.0 ? upper[j] - x[j] : x[j] - lower[j], 0.0);
    }
    double rise(std::int32_t j, std::int32_t entry) const {
        return cost[j] < 0.0 ? column_value[entry] : -column_value[entry];
    }
    /// The largest step of column j that the row of one of its entries allows.
    double most(std::int32_t j, std::int32_t entry, double slop) const {
        const std::int32_t i = column_row[entry];
        const double way = rise(j, entry);
        const double size = (way > 0.0 ? above(i, slop) : below(i, slop)) / std::fabs(way);
        return whole(j) ? std::floor(size) : size;
    }
    /// By how much column j may leave rows violated.
    double slop(std::int32_t j) const { return whole(j) ? mip::SLOP : 0.0; }
};

/// The largest step of column j up to `most` while column k moves by `move`, or -1.
inline double pair_step(const Point &p, std::int32_t j, double most, std::int32_t k, double move) {
    double low = 0.0, high = most, exact = most;
    std::int32_t one = p.column_start[j], two = p.column_start[k];
    const std::int32_t end_one = p.column_start[j + 1], end_two = p.column_start[k + 1];
    while (one < end_one || two < end_two) {
        const std::int32_t row_one =
            one < end_one ? p.column_row[one] : std::numeric_limits<std::int32_t>::max();
        const std::int32_t row_two =
            two < end_two ? p.column_row[two] : std::numeric_limits<std::int32_t>::max();
        const std::int32_t i = row_one < row_two ? row_one : row_two;
        double change = 0.0;
        if (row_two == i) {
            change = p.column_value[two] * move;
            ++two;
        }
        double above = p.above(i, mip::SLOP) - change;
        double below = p.below(i, mip::SLOP) + change;
        if (row_one == i) {
            double rise = p.rise(j, one);
            double limit;
            ++one;
            if (rise > 0.0) {
                limit = p.above(i, 0.0) - change;
            } else {
                limit = p.below(i, 0.0) + change;
                const double swap = above;
                above = below;
                below = swap;
                rise = -rise;
            }
            high = std::min(high, above / rise);
            low = std::max(low, -below / rise);
            exact = std::min(exact, limit / rise);
        } else if (above < 0.0 || below < 0.0) {
            high = -1.0;
        }
        if (low > high)
            break;
    }
    if (p.whole(j)) {
        low = std::ceil(low);
        high = std::floor(high);
    } else if (low <= high) {
        high = std::max(low, std::min(exact, high));
    }
    return low <= high && high > mip::SAME ? high : -1.0;
}

/// The signed move of column k that makes way in a row; 0 if it has not as much room.
inline double partner_move(const Point &p, bool whole, double need, double rise, double a,
                           std::int32_t k) {
    const double sign = (rise > 0.0) == (a > 0.0) ? -1.0 : 1.0;
    double size = 1.0;
    if (whole) {
        size = p.whole(k) ? std::ceil((need - mip::SLOP) / std::fabs(a)) : need / std::fabs(a);
    }
    const double free = sign > 0.0 ? p.upper[k] - p.x[k] : p.x[k] - p.lower[k];
    if (size <= 0.0 || size > free || (!whole && !p.whole(k)))
        return 0.0;
    return sign * size;
}

/// What moves change: activities, the point, and marks of the rows whose activity changes.
struct Changes {
    Span<double> activity, x;
    Marks changed;

    /// Move a column.
    void move(const Point &p, std::int32_t j, double by) const {
        x[j] += by;
        for (std::int32_t entry = p.column_start[j]; entry < p.column_start[j + 1]; ++entry) {
            activity[p.column_row[entry]] += p.column_value[entry] * by;
            changed[p.column_row[entry]] = 1;
        }
    }
};

/// The point of a model.
Point point_of(const mip::Model &model, const Changes &at) {
    mip::check_shapes(model);
    native::check_length("changed", at.changed.size(), model.row_lower.size());
    native::check_length("activity", at.activity.size(), model.row_lower.size());
    native::check_length("x", at.x.size(), model.cost.size());
    return {model.rows.indptr,
            model.rows.indices,
            model.columns.indptr,
            model.columns.indices,
            model.rows.data,
            model.columns.data,
            model.row_lower,
            model.row_upper,
            at.activity,
            model.cost,
            model.lower,
            model.upper,
            at.x,
            model.is_integer};
}

/// Find the largest step of each column, and the shortest row that allows none.
void score_shifts(Ints columns, const mip::Model &model, const Changes &changes, Span<double> step,
                  Span<std::int32_t> blocking) {
    const Point p = point_of(model, changes);
    native::check_length("step", step.size(), columns.size());
    native::check_length("blocking", blocking.size(), columns.size());
    for (std::int64_t at = 0; at < columns.size(); ++at) {
        native::poll();
        const std::int32_t j = columns[at];
        const double slop = p.slop(j);
        double best = p.shift_room(j);
        std::int32_t row = -1, length = 0;
        for (std::int32_t entry = p.column_start[j]; entry < p.column_start[j + 1]; ++entry) {
            const std::int32_t i = p.column_row[entry];
            const double most = p.most(j, entry, slop);
            best = std::min(best, most);
            const std::int32_t entries = p.row_start[i + 1] - p.row_start[i];
            if (most <= mip::SAME && (row < 0 || entries < length)) {
                row = i;
                length = entries;
            }
        }
        step[at] = best;
        blocking[at] = row;
    }
}

/// A pair's second column, its step, and what the pair gains.
struct Pair {
    std::int32_t partner;
    double partner_step, gain;
};

/// The coefficient of column j in a row, or 0.
inline double coefficient(const Point &p, std::int32_t j, std::int32_t row) {
    double own = 0.0;
    for (std::int32_t entry = p.column_start[j]; entry < p.column_start[j + 1]; ++entry)
        if (p.column_row[entry] == row)
            own = p.column_value[entry];
    return own;
}

/// The partner of the row that blocks column j with which that gains most.
inline Pair best_partner(const Point &p, std::int32_t j, std::int32_t row, std::int64_t offset,
                         std::int64_t limit) {
    Pair best = {-1, 0.0, 0.0};
    const double own = coefficient(p, j, row), rise = p.cost[j] < 0.0 ? own : -own;
    const double most = p.shift_room(j), size_of_cost = std::fabs(p.cost[j]);
    const double need = std::fabs(rise) - (rise > 0.0 ? p.above(row, 0.0) : p.below(row, 0.0));
    const std::int64_t first = p.row_start[row], length = p.row_start[row + 1] - first;
    for (std::int64_t trial = 0; trial < std::min(limit, length); ++trial) {
        const std::int64_t entry = first + (offset + trial) % length;
        const std::int32_t k = p.row_column[entry];
        if (k == j)
            continue;
        const double move = partner_move(p, p.whole(j), need, rise, p.row_value[entry], k);
        const double lost = p.cost[k] * move;
        if (move == 0.0 || size_of_cost * most - lost <= 0.0)
            continue;
        const double size = pair_step(p, j, most, k, move);
        if (size < 0.0 || size == native::INF)
            continue;
        const double gained = size_of_cost * size - lost;
        if (gained > best.gain)
            best = {k, move, gained};
    }
    return best;
}

/// Find the partner with which each blocked column gains most.
void score_pairs(Ints columns, Ints blocking, std::int64_t offset, std::int64_t limit,
                 const mip::Model &model, const Changes &changes, Span<std::int32_t> partner,
                 Span<double> partner_step, Span<double> gain) {
    const Point p = point_of(model, changes);
    native::check_length("blocking", blocking.size(), columns.size());
    native::check_length("partner", partner.size(), columns.size());
    native::check_length("partner_step", partner_step.size(), columns.size());
    native::check_length("gain", gain.size(), columns.size());
    for (std::int64_t at = 0; at < columns.size(); ++at) {
        native::poll();
        const Pair best = blocking[at] < 0
                              ? Pair{-1, 0.0, 0.0}
                              : best_partner(p, columns[at], blocking[at], offset, limit);
        partner[at] = best.partner;
        partner_step[at] = best.partner_step;
        gain[at] = best.gain;
    }
}

/// The largest step of column j.
inline double shift_step(const Point &p, std::int32_t j) {
    double step = p.shift_room(j);
    for (std::int32_t entry = p.column_start[j]; entry < p.column_start[j + 1]; ++entry)
        step = std::min(step, p.most(j, entry, p.slop(j)));
    return step;
}

/// Move columns one after the other by the largest step each still has.
///
/// Moves that gain no more than ``least`` are left out. Returns the number of moves of integer
/// columns, and what all moves have gained.
std::tuple<std::int64_t, double> apply_shifts(Ints columns, double least, const mip::Model &model,
                                              const Changes &changes) {
    const Point p = point_of(model, changes);
    std::int64_t moves = 0;
    double gained = 0.0;
    for (std::int64_t at = 0; at < columns.size(); ++at) {
        native::poll();
        const std::int32_t j = columns[at];
        const double step = shift_step(p, j), gain = std::fabs(p.cost[j]) * step;
        if (!(gain > least && gain < native::INF))
            continue;
        changes.move(p, j, p.cost[j] < 0.0 ? step : -step);
        moves += p.is_integer[j];
        gained += gain;
    }
    return {moves, gained};
}

/// Move pairs one after the other as far as each still can, as ``apply_shifts`` does.
std::tuple<std::int64_t, double> apply_pairs(Ints columns, Ints partner,
                                             Span<const double> partner_step, double least,
                                             const mip::Model &model, const Changes &changes) {
    const Point p = point_of(model, changes);
    native::check_length("partner", partner.size(), columns.size());
    native::check_length("partner_step", partner_step.size(), columns.size());
    std::int64_t moves = 0;
    double gained = 0.0;
    for (std::int64_t at = 0; at < columns.size(); ++at) {
        native::poll();
        const std::int32_t j = columns[at], k = partner[at];
        const double move = partner_step[at];
        const double free = move > 0.0 ? p.upper[k] - p.x[k] : p.x[k] - p.lower[k];
        if (std::fabs(move) > free)
            continue;
        const double step = pair_step(p, j, p.shift_room(j), k, move);
        const double gain = std::fabs(p.cost[j]) * step - p.cost[k] * move;
        if (!(step > 0.0 && gain > least && gain < native::INF))
            continue;
        changes.move(p, j, p.cost[j] < 0.0 ? step : -step);
        changes.move(p, k, move);
        moves += p.is_integer[j] | p.is_integer[k];
        gained += gain;
    }
    return {moves, gained};
}

/// Add the columns of marked rows (m,) to those marked in ``wanted`` (n,).
void columns_of(native::Span<const std::uint8_t> rows, const mip::Model &model, Marks wanted) {
    mip::check_shapes(model);
    native::check_length("rows", model.row_lower.size(), rows.size());
    native::check_length("wanted", wanted.size(), model.cost.size());
    for (std::int64_t i = 0; i < rows.size(); ++i)
        if (rows[i] != 0)
            for (std::int32_t entry = model.rows.indptr[i]; entry < model.rows.indptr[i + 1];
                 ++entry)
                wanted[model.rows.indices[entry]] = 1;
}

} // namespace

NATIVE_STRUCT(Changes, activity, x, changed)

NATIVE_MODULE(mip_heuristics_one_opt) {
    native::expose(module, "score_shifts", &score_shifts, "columns", "model", "changes", "step",
                   "blocking");
    native::expose(module, "score_pairs", &score_pairs, "columns", "blocking", "offset", "limit",
                   "model", "changes", "partner", "partner_step", "gain");
    native::expose(module, "apply_shifts", &apply_shifts, "columns", "least", "model", "changes");
    native::expose(module, "apply_pairs", &apply_pairs, "columns", "partner", "partner_step",
                   "least", "model", "changes");
    native::expose(module, "columns_of", &columns_of, "rows", "model", "wanted");
}
