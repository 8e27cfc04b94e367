// The way back for a simplex basis, by the places that point and duals took on theirs.
//
// Each step puts as many basic columns and rows in as it puts rows in, so that the basis keeps its
// size; degenerate choices follow the statuses, others the multipliers.
#include "workspace.h"

namespace presolve::light {
namespace {

/// The status of a nonbasic column at a value.
template <class W> Status standing(const W &w, std::int64_t j, double value) {
    if (value == w.lower[j])
        return LOWER;
    if (value == w.upper[j])
        return UPPER;
    if (w.lower[j] > -INF)
        return LOWER;
    return w.upper[j] < INF ? UPPER : ZERO;
}

std::int8_t mirrored(std::int8_t status) {
    if (status == LOWER)
        return UPPER;
    if (status == UPPER)
        return LOWER;
    return status;
}

/// The statuses of the row that gave a side, and of what took it over.
struct Shared {
    std::int8_t giver, taker;
};

/// Share a status out to the row that gave a side, by its factor, and to what took it over.
///
/// ``origin`` says which sides came from the row.
Shared shared(std::int8_t status, std::int64_t leaning, double origin, double factor) {
    if (status == BASIC)
        return {BASIC, BASIC};
    if (leaning > 0)
        status = LOWER;
    else if (leaning < 0)
        status = UPPER;
    const auto sides = static_cast<std::int64_t>(origin);
    const bool from_row =
        (status == LOWER && (sides & LOWER_SIDE)) || (status == UPPER && (sides & UPPER_SIDE));
    if (!from_row)
        return {BASIC, status};
    return {factor > 0.0 ? status : mirrored(status), BASIC};
}

/// Give a column back that was slack of its row.
template <class W>
void unfold(const W &w, Span<std::int8_t> columns, Span<std::int8_t> rows, std::int64_t step,
            std::int64_t place) {
    const std::int64_t i = w.row[step], j = w.column[step];
    if (rows[i] == BASIC) {
        if (place == COLUMN_AT_BOUND) {
            columns[j] = standing(w, j, 0.0);
            if (w.lower[j] > -INF && w.upper[j] < INF)
                columns[j] = std::abs(w.lower[j]) <= std::abs(w.upper[j]) ? LOWER : UPPER;
        } else {
            columns[j] = BASIC;
            rows[i] = place == ROW_AT_LOWER ? LOWER : UPPER;
        }
        return;
    }
    // what was left at its lower side stands there by the greatest value of the slack
    const bool at_most = rows[i] == LOWER;
    columns[j] = at_most == (w.payload(2, step) > 0.0) ? UPPER : LOWER;
    if (w.kind[step] == ABSORBED_AT_LOWER)
        rows[i] = LOWER;
    else if (w.kind[step] == ABSORBED_AT_UPPER)
        rows[i] = UPPER;
}

/// Give a column back that was merged into another.
template <class W>
void part(const W &w, Span<std::int8_t> columns, std::int64_t step, std::int64_t place) {
    const std::int64_t k = w.column[step], j = static_cast<std::int64_t>(w.payload(0, step));
    const double ratio = w.payload(1, step);
    const std::int8_t status = columns[j];
    if (status != BASIC) {
        columns[k] = ratio > 0.0 ? status : mirrored(status);
    } else if (place == FIRST_AT_LOWER || place == FIRST_AT_UPPER) {
        columns[j] = place == FIRST_AT_LOWER ? LOWER : UPPER;
        columns[k] = BASIC;
    } else if (w.lower[k] == -INF && w.upper[k] == INF) {
        columns[k] = ZERO;
    } else {
        columns[k] = (place == SECOND_AT_LEAST) == (ratio > 0.0) ? LOWER : UPPER;
    }
}

template <class W>
void undo_step(const W &w, std::int64_t step, Span<std::int8_t> columns, Span<std::int8_t> rows,
               std::int64_t place, std::int64_t leaning) {
    const std::int64_t i = w.row[step], j = w.column[step];
    const std::int8_t kind = w.kind[step];
    if (kind == REDUNDANT_ROW) {
        rows[i] = BASIC;
    } else if (kind == FIXED_COLUMN) {
        columns[j] = standing(w, j, w.payload(0, step));
    } else if (kind == FORCING_ROW) {
        rows[i] = BASIC;
        if (leaning > 0) {
            rows[i] = w.payload(0, step) > 0.0 ? LOWER : UPPER;
            columns[leaning - 1] = BASIC;
        }
    } else if (kind == SINGLETON_ROW) {
        const Shared found = shared(columns[j], leaning, w.payload(3, step), w.payload(0, step));
        rows[i] = found.giver;
        columns[j] = found.taker;
    } else if (kind == PARALLEL_ROW) {
        const auto kept = static_cast<std::int64_t>(w.payload(0, step));
        const Shared found = shared(rows[kept], leaning, w.payload(2, step), w.payload(1, step));
        rows[i] = found.giver;
        rows[kept] = found.taker;
    } else if (kind == RECEDING_COLUMN) {
        columns[j] = standing(w, j, 0.0);
        if (place >= 0) {
            columns[j] = BASIC;
            rows[place] = w.row_upper[place] < INF ? UPPER : LOWER;
        }
    } else if (kind == PARALLEL_COLUMN) {
        part(w, columns, step, place);
    } else if (is_absorbed(kind)) {
        unfold(w, columns, rows, step, place);
    }
}

/// Complete statuses of columns (n,) and rows (m,), which hold those of the reduced problem.
template <class Index>
void undo_basis(const Record<Index> &w, Span<std::int8_t> columns, Span<std::int8_t> rows,
                Span<const std::int64_t> place, Span<const std::int64_t> leaning) {
    check(w);
    check_length("columns", columns.size(), w.columns());
    check_length("rows", rows.size(), w.rows());
    check_length("place", place.size(), w.count[STEPS]);
    check_length("leaning", leaning.size(), w.count[STEPS]);
    for (std::int64_t step = w.count[STEPS] - 1; step >= 0; --step)
        undo_step(w, step, columns, rows, place[step], leaning[step]);
}

template <class Index> void declare(native::Module &module) {
    native::expose(module, "undo_basis", &undo_basis<Index>, "workspace", "columns", "rows",
                   "place", "leaning");
}

} // namespace
} // namespace presolve::light

NATIVE_MODULE(presolve_light_basis) {
    using namespace presolve::light;
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
