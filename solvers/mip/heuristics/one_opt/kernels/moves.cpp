// Which moves improve a feasible point, as moves.cu has it, one column after the other.
#include "native/threads.h"

#include "point.h"

namespace {

using NumbersOut = native::Span<REAL>;
using IntsOut = native::Span<INDEX>;

constexpr std::int64_t POLLED = 64;

/// Find the largest step of each column, and the shortest row that allows none.
void score_shifts(int count, Ints columns, Ints row_start, Ints column_start, Ints column_row,
                  Numbers column_value, Numbers row_lower, Numbers row_upper, Numbers activity,
                  Numbers cost, Numbers lower, Numbers upper, Numbers x, Ints is_integer,
                  NumbersOut step, IntsOut blocking, int threads) {
    const Point p = point_of(column_start, column_row, column_value, row_lower, row_upper, activity,
                             cost, lower, upper, x, is_integer);
    native::check_length("row_start", row_start.size(), row_lower.size() + 1);
    native::check_length("columns", columns.size(), count);
    native::check_length("step", step.size(), count);
    native::check_length("blocking", blocking.size(), count);
    native::parallel_for(threads, count, [&](std::int64_t at) {
        if (at % POLLED == 0)
            native::poll();
        const INDEX j = columns[at];
        const REAL slop = p.slop(j);
        REAL best = p.shift_room(j);
        INDEX row = -1, length = 0;
        for (INDEX entry = p.column_start[j]; entry < p.column_start[j + 1]; ++entry) {
            const INDEX i = p.column_row[entry];
            const REAL most = p.most(j, entry, slop);
            best = smaller(best, most);
            const INDEX entries = row_start[i + 1] - row_start[i];
            if (most <= CLEAR && (row < 0 || entries < length)) {
                row = i;
                length = entries;
            }
        }
        step[at] = best;
        blocking[at] = row;
    });
}

/// The rows by which partners are found.
struct Rows {
    Ints start, column;
    Numbers value;
};

/// A pair's second column, the steps of both, and what the pair gains.
struct Pair {
    INDEX partner;
    REAL step, partner_step, gain;
};

/// The coefficient of column j in a row, or 0.
inline REAL coefficient(const Point &p, INDEX j, INDEX row) {
    REAL own = 0.0;
    for (INDEX entry = p.column_start[j]; entry < p.column_start[j + 1]; ++entry)
        if (p.column_row[entry] == row)
            own = p.column_value[entry];
    return own;
}

/// The partner of the row that blocks column j with which that gains most.
inline Pair best_partner(const Point &p, const Rows &rows, INDEX j, INDEX row, int offset,
                         int limit) {
    Pair best = {-1, 0.0, 0.0, 0.0};
    const REAL own = coefficient(p, j, row), rise = p.cost[j] < 0.0 ? own : -own;
    const REAL most = p.shift_room(j), size_of_cost = std::fabs(p.cost[j]);
    const REAL need = std::fabs(rise) - (rise > 0.0 ? p.above(row, 0.0) : p.below(row, 0.0));
    const std::int64_t first = rows.start[row], length = rows.start[row + 1] - first;
    for (std::int64_t trial = 0; trial < std::min<std::int64_t>(limit, length); ++trial) {
        const std::int64_t entry = first + (offset + trial) % length;
        const INDEX k = rows.column[entry];
        if (k == j)
            continue;
        const REAL move = partner_move(p, p.whole(j), need, rise, rows.value[entry], k);
        const REAL lost = p.cost[k] * move;
        if (move == 0.0 || size_of_cost * most - lost <= 0.0)
            continue;
        const REAL size = pair_step(p, j, most, k, move);
        if (size < 0.0 || size == native::INF)
            continue;
        const REAL gained = size_of_cost * size - lost;
        if (gained > best.gain)
            best = {k, p.cost[j] < 0.0 ? size : -size, move, gained};
    }
    return best;
}

/// Find the partner with which each blocked column gains most.
void score_pairs(int count, Ints columns, Ints blocking, int offset, int limit, Ints row_start,
                 Ints row_column, Numbers row_value, Ints column_start, Ints column_row,
                 Numbers column_value, Numbers row_lower, Numbers row_upper, Numbers activity,
                 Numbers cost, Numbers lower, Numbers upper, Numbers x, Ints is_integer,
                 IntsOut partner, NumbersOut step, NumbersOut partner_step, NumbersOut gain,
                 int threads) {
    const Point p = point_of(column_start, column_row, column_value, row_lower, row_upper, activity,
                             cost, lower, upper, x, is_integer);
    const Rows rows = {row_start, row_column, row_value};
    native::check_length("row_start", row_start.size(), row_lower.size() + 1);
    native::check_length("columns", columns.size(), count);
    native::check_length("blocking", blocking.size(), count);
    native::check_length("partner", partner.size(), count);
    native::check_length("step", step.size(), count);
    native::check_length("partner_step", partner_step.size(), count);
    native::check_length("gain", gain.size(), count);
    native::parallel_for(threads, count, [&](std::int64_t at) {
        native::poll();
        const Pair best = blocking[at] < 0
                              ? Pair{-1, 0.0, 0.0, 0.0}
                              : best_partner(p, rows, columns[at], blocking[at], offset, limit);
        partner[at] = best.partner;
        step[at] = best.step;
        partner_step[at] = best.partner_step;
        gain[at] = best.gain;
    });
}

} // namespace

NATIVE_MODULE(mip_heuristics_one_opt_moves) { NATIVE_KERNELS(module, score_shifts, score_pairs); }
