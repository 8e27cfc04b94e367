// Checking scored moves again, at the point as it has become, and making them.
#include "mip/heuristics/one_opt/kernels/point.h"

namespace {

using NumbersOut = native::Span<REAL>;
using Marks = native::Span<std::uint8_t>;

constexpr std::int64_t POLLED = 1024;

/// What moves change.
struct Changes {
    NumbersOut activity, x;
    Marks rows;

    /// Move a column, and mark the rows whose activity changes.
    void move(const Point &p, INDEX j, REAL by) const {
        x[j] += by;
        for (INDEX entry = p.column_start[j]; entry < p.column_start[j + 1]; ++entry) {
            activity[p.column_row[entry]] += p.column_value[entry] * by;
            rows[p.column_row[entry]] = 1;
        }
    }
};

/// The largest step of column j.
inline REAL shift_step(const Point &p, INDEX j) {
    REAL step = p.shift_room(j);
    for (INDEX entry = p.column_start[j]; entry < p.column_start[j + 1]; ++entry)
        step = smaller(step, p.most(j, entry, p.slop(j)));
    return step;
}

/// Move columns one after the other by the largest step each still has.
///
/// Moves that gain no more than ``least`` are left out. Returns the number of moves of integer
/// columns, and what all moves have gained.
std::tuple<std::int64_t, double>
apply_shifts(Ints columns, double least, Ints column_start, Ints column_row, Numbers column_value,
             Numbers row_lower, Numbers row_upper, NumbersOut activity, Numbers cost, Numbers lower,
             Numbers upper, NumbersOut x, Ints is_integer, Marks changed) {
    const Point p = point_of(column_start, column_row, column_value, row_lower, row_upper, activity,
                             cost, lower, upper, x, is_integer);
    native::check_length("changed", changed.size(), row_lower.size());
    const Changes changes = {activity, x, changed};
    std::int64_t moves = 0;
    double gained = 0.0;
    for (std::int64_t at = 0; at < columns.size(); ++at) {
        if (at % POLLED == 0)
            native::poll();
        const INDEX j = columns[at];
        const REAL step = shift_step(p, j), gain = std::fabs(cost[j]) * step;
        if (!(gain > least && gain < native::INF))
            continue;
        changes.move(p, j, cost[j] < 0.0 ? step : -step);
        moves += is_integer[j];
        gained += gain;
    }
    return {moves, gained};
}

/// Move pairs one after the other as far as each still can, as ``apply_shifts`` does.
std::tuple<std::int64_t, double> apply_pairs(Ints columns, Ints partner, Numbers partner_step,
                                             double least, Ints column_start, Ints column_row,
                                             Numbers column_value, Numbers row_lower,
                                             Numbers row_upper, NumbersOut activity, Numbers cost,
                                             Numbers lower, Numbers upper, NumbersOut x,
                                             Ints is_integer, Marks changed) {
    const Point p = point_of(column_start, column_row, column_value, row_lower, row_upper, activity,
                             cost, lower, upper, x, is_integer);
    native::check_length("changed", changed.size(), row_lower.size());
    native::check_length("partner", partner.size(), columns.size());
    native::check_length("partner_step", partner_step.size(), columns.size());
    const Changes changes = {activity, x, changed};
    std::int64_t moves = 0;
    double gained = 0.0;
    for (std::int64_t at = 0; at < columns.size(); ++at) {
        if (at % POLLED == 0)
            native::poll();
        const INDEX j = columns[at], k = partner[at];
        const REAL move = partner_step[at];
        const REAL free = move > 0.0 ? upper[k] - x[k] : x[k] - lower[k];
        if (std::fabs(move) > free)
            continue;
        const REAL step = pair_step(p, j, p.shift_room(j), k, move);
        const REAL gain = std::fabs(cost[j]) * step - cost[k] * move;
        if (!(step > 0.0 && gain > least && gain < native::INF))
            continue;
        changes.move(p, j, cost[j] < 0.0 ? step : -step);
        changes.move(p, k, move);
        moves += is_integer[j] | is_integer[k];
        gained += gain;
    }
    return {moves, gained};
}

/// Add the columns of marked rows (m,) to those marked in ``wanted`` (n,).
void columns_of(native::Span<const std::uint8_t> rows, Ints row_start, Ints row_column,
                Marks wanted) {
    native::check_length("row_start", row_start.size(), rows.size() + 1);
    for (std::int64_t i = 0; i < rows.size(); ++i)
        if (rows[i] != 0)
            for (INDEX entry = row_start[i]; entry < row_start[i + 1]; ++entry)
                wanted[row_column[entry]] = 1;
}

} // namespace

NATIVE_MODULE(mip_heuristics_one_opt) {
    native::expose(module, "apply_shifts", &apply_shifts, "columns", "least", "column_start",
                   "column_row", "column_value", "row_lower", "row_upper", "activity", "cost",
                   "lower", "upper", "x", "is_integer", "changed");
    native::expose(module, "apply_pairs", &apply_pairs, "columns", "partner", "partner_step",
                   "least", "column_start", "column_row", "column_value", "row_lower", "row_upper",
                   "activity", "cost", "lower", "upper", "x", "is_integer", "changed");
    native::expose(module, "columns_of", &columns_of, "rows", "row_start", "row_column", "wanted");
}
