// Checking scored moves again, at the point as it has become, and making them.
#include "mip/heuristics/one_opt/kernels/point.h"
#include "mip/model.h"

namespace {

using NumbersOut = native::Span<REAL>;
using Marks = native::Span<std::uint8_t>;

constexpr std::int64_t POLLED = 1024;

/// What moves change: activities, the point, and marks of the rows whose activity changes.
struct Changes {
    NumbersOut activity, x;
    Marks changed;

    /// Move a column.
    void move(const Point &p, INDEX j, REAL by) const {
        x[j] += by;
        for (INDEX entry = p.column_start[j]; entry < p.column_start[j + 1]; ++entry) {
            activity[p.column_row[entry]] += p.column_value[entry] * by;
            changed[p.column_row[entry]] = 1;
        }
    }
};

/// The point of a model; ``is_integer`` is that of the model in 32 bits.
Point point_of(const mip::Model &model, Ints is_integer, const Changes &at) {
    mip::check_shapes(model);
    native::check_length("changed", at.changed.size(), model.row_lower.size());
    return point_of(model.columns.indptr, model.columns.indices, model.columns.data,
                    model.row_lower, model.row_upper, at.activity, model.cost, model.lower,
                    model.upper, at.x, is_integer);
}

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
std::tuple<std::int64_t, double> apply_shifts(Ints columns, double least, const mip::Model &model,
                                              Ints is_integer, const Changes &changes) {
    const Point p = point_of(model, is_integer, changes);
    std::int64_t moves = 0;
    double gained = 0.0;
    for (std::int64_t at = 0; at < columns.size(); ++at) {
        if (at % POLLED == 0)
            native::poll();
        const INDEX j = columns[at];
        const REAL step = shift_step(p, j), gain = std::fabs(p.cost[j]) * step;
        if (!(gain > least && gain < native::INF))
            continue;
        changes.move(p, j, p.cost[j] < 0.0 ? step : -step);
        moves += is_integer[j];
        gained += gain;
    }
    return {moves, gained};
}

/// Move pairs one after the other as far as each still can, as ``apply_shifts`` does.
std::tuple<std::int64_t, double> apply_pairs(Ints columns, Ints partner, Numbers partner_step,
                                             double least, const mip::Model &model, Ints is_integer,
                                             const Changes &changes) {
    const Point p = point_of(model, is_integer, changes);
    native::check_length("partner", partner.size(), columns.size());
    native::check_length("partner_step", partner_step.size(), columns.size());
    std::int64_t moves = 0;
    double gained = 0.0;
    for (std::int64_t at = 0; at < columns.size(); ++at) {
        if (at % POLLED == 0)
            native::poll();
        const INDEX j = columns[at], k = partner[at];
        const REAL move = partner_step[at];
        const REAL free = move > 0.0 ? p.upper[k] - p.x[k] : p.x[k] - p.lower[k];
        if (std::fabs(move) > free)
            continue;
        const REAL step = pair_step(p, j, p.shift_room(j), k, move);
        const REAL gain = std::fabs(p.cost[j]) * step - p.cost[k] * move;
        if (!(step > 0.0 && gain > least && gain < native::INF))
            continue;
        changes.move(p, j, p.cost[j] < 0.0 ? step : -step);
        changes.move(p, k, move);
        moves += is_integer[j] | is_integer[k];
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
            for (INDEX entry = model.rows.indptr[i]; entry < model.rows.indptr[i + 1]; ++entry)
                wanted[model.rows.indices[entry]] = 1;
}

} // namespace

NATIVE_STRUCT(Changes, activity, x, changed)

NATIVE_MODULE(mip_heuristics_one_opt) {
    native::expose(module, "apply_shifts", &apply_shifts, "columns", "least", "model", "is_integer",
                   "changes");
    native::expose(module, "apply_pairs", &apply_pairs, "columns", "partner", "partner_step",
                   "least", "model", "is_integer", "changes");
    native::expose(module, "columns_of", &columns_of, "rows", "model", "wanted");
}
