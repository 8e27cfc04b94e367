// A round of bound propagation for one box, as box.cu has it, one row after the other.
#include "native/bindings.h"

namespace {

using REAL = double;
using INDEX = std::int32_t;
#include "bounds.cuh"

using Numbers = native::Span<const REAL>;
using Ints = native::Span<const INDEX>;
using IntGrid = native::Grid<const INDEX>;

enum Control { STOP, ROUND, LIMIT, CHANGED, INFEASIBLE };
constexpr std::int64_t CONTROL_SIZE = 8;

struct Rows {
    Ints column;
    Numbers value, lower, upper;
    Ints is_integer;
};

struct Boxes {
    native::Grid<const REAL> bounds;
    native::Grid<REAL> next;
    IntGrid row_changed;
    native::Span<INDEX> column_changed, control;

    Ints flags() const { return row_changed[control[ROUND] & 1]; }
};

/// Smallest and largest activity of some entries.
Activity sum_entries(const Rows &rows, const native::Grid<const REAL> &bounds, INDEX first,
                     INDEX last) {
    Activity sum = {0.0, 0.0, 0, 0};
    for (INDEX k = first; k < last; ++k) {
        const INDEX j = rows.column[k];
        sum.add(rows.value[k], bounds(j, 0), bounds(j, 1));
    }
    return sum;
}

/// Tighten the columns of some entries of a row with this activity, or say that it cannot hold.
void tighten_entries(const Rows &rows, const Boxes &boxes, INDEX row, INDEX first, INDEX last,
                     const Activity &sum) {
    const Room room = room_of(sum, rows.lower[row], rows.upper[row]);
    if (room.infeasible)
        boxes.control[INFEASIBLE] = 1;
    if (room.infeasible || room.redundant)
        return;
    for (INDEX k = first; k < last; ++k) {
        const INDEX j = rows.column[k];
        const REAL lower = boxes.bounds(j, 0), upper = boxes.bounds(j, 1);
        if (lower == upper)
            continue;
        const Interval found = implied(rows.value[k], lower, upper, room, rows.is_integer[j] != 0);
        if (found.lower > lower)
            boxes.next(j, 0) = larger(boxes.next(j, 0), found.lower);
        if (found.upper < upper)
            boxes.next(j, 1) = smaller(boxes.next(j, 1), found.upper);
        if (found.lower > lower || found.upper < upper)
            boxes.column_changed[j] = 1;
    }
}

/// Tighten the columns of every flagged row but heavy ones.
void light_rows(const Rows &rows, const Ints &row_start, const Ints &order, const IntGrid &bins,
                const Boxes &boxes) {
    if (boxes.control[STOP] != 0)
        return;
    const Ints flags = boxes.flags();
    for (std::int64_t bin = 0; bin < bins.shape(0); ++bin)
        for (INDEX place = bins(bin, 1); place < bins(bin, 1) + bins(bin, 2); ++place) {
            const INDEX i = order[place];
            if (flags[i] == 0)
                continue;
            const INDEX first = row_start[i], last = row_start[i + 1];
            tighten_entries(rows, boxes, i, first, last,
                            sum_entries(rows, boxes.bounds, first, last));
        }
}

/// Sum the parts of the flagged heavy rows.
void sum_heavy(const Rows &rows, const IntGrid &parts, const native::Grid<const REAL> &bounds,
               const Ints &flags, const native::Grid<REAL> &partial,
               const native::Grid<INDEX> &partial_infinite) {
    for (std::int64_t p = 0; p < parts.shape(0); ++p) {
        if (flags[parts(p, 1)] == 0)
            continue;
        const Activity sum = sum_entries(rows, bounds, parts(p, 2), parts(p, 3));
        partial(p, 0) = sum.low;
        partial(p, 1) = sum.high;
        partial_infinite(p, 0) = sum.low_infinite;
        partial_infinite(p, 1) = sum.high_infinite;
    }
}

/// Tighten the columns of the flagged heavy rows, part by part.
void tighten_heavy(const Rows &rows, const IntGrid &parts, const IntGrid &heavy,
                   const native::Grid<const REAL> &partial, const IntGrid &partial_infinite,
                   const Boxes &boxes) {
    if (boxes.control[STOP] != 0)
        return;
    const Ints flags = boxes.flags();
    for (std::int64_t p = 0; p < parts.shape(0); ++p) {
        const INDEX i = parts(p, 1);
        if (flags[i] == 0)
            continue;
        Activity sum = {0.0, 0.0, 0, 0};
        const INDEX first = heavy(parts(p, 0), 1), count = heavy(parts(p, 0), 2);
        for (INDEX q = first; q < first + count; ++q)
            sum.join(
                {partial(q, 0), partial(q, 1), partial_infinite(q, 0), partial_infinite(q, 1)});
        tighten_entries(rows, boxes, i, parts(p, 2), parts(p, 3), sum);
    }
}

/// Carry the flagged columns' bounds over, and flag their rows for the next round.
void box_columns(int rows, int columns, Ints column_start, Ints column_row,
                 native::Grid<REAL> bounds, native::Grid<REAL> next,
                 native::Grid<INDEX> row_changed, native::Span<INDEX> column_changed,
                 native::Span<INDEX> control, int) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    native::check_length("row_changed", row_changed.shape(1), rows);
    native::check_length("column_changed", column_changed.size(), columns);
    native::check_length("column_start", column_start.size(), columns + 1);
    if (control[STOP] != 0)
        return;
    const native::Span<INDEX> now = row_changed[control[ROUND] & 1];
    const native::Span<INDEX> later = row_changed[1 - (control[ROUND] & 1)];
    std::fill(now.begin(), now.end(), 0);
    for (INDEX j = 0; j < columns; ++j) {
        if (column_changed[j] == 0)
            continue;
        column_changed[j] = 0;
        REAL lower = next(j, 0), upper = next(j, 1);
        if (crossing(lower, upper))
            control[INFEASIBLE] = 1;
        next(j, 0) = bounds(j, 0) = lower;
        next(j, 1) = bounds(j, 1) = upper;
        control[CHANGED] = 1;
        for (INDEX k = column_start[j]; k < column_start[j + 1]; ++k)
            later[column_row[k]] = 1;
    }
}

/// Count the round and decide whether it was the last one.
void box_control(native::Span<INDEX> control, int) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    if (control[STOP] != 0)
        return;
    control[ROUND] += 1;
    if (control[CHANGED] == 0 || control[INFEASIBLE] != 0 || control[ROUND] >= control[LIMIT])
        control[STOP] = 1;
    control[CHANGED] = 0;
}

void box_rows(Ints row_start, Ints row_column, Numbers row_value, Numbers row_lower,
              Numbers row_upper, Ints is_integer, Ints order, IntGrid bins, int, int, int,
              native::Grid<const REAL> bounds, native::Grid<REAL> next, IntGrid row_changed,
              native::Span<INDEX> column_changed, native::Span<INDEX> control, int) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    light_rows({row_column, row_value, row_lower, row_upper, is_integer}, row_start, order, bins,
               {bounds, next, row_changed, column_changed, control});
}

void box_heavy_sums(Ints row_column, Numbers row_value, Numbers row_lower, Numbers row_upper,
                    Ints is_integer, IntGrid parts, int, native::Grid<const REAL> bounds,
                    IntGrid row_changed, Ints control, native::Grid<REAL> partial,
                    native::Grid<INDEX> partial_infinite, int) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    if (control[STOP] == 0)
        sum_heavy({row_column, row_value, row_lower, row_upper, is_integer}, parts, bounds,
                  row_changed[control[ROUND] & 1], partial, partial_infinite);
}

void box_heavy_tighten(Ints row_column, Numbers row_value, Numbers row_lower, Numbers row_upper,
                       Ints is_integer, IntGrid parts, IntGrid heavy,
                       native::Grid<const REAL> partial, IntGrid partial_infinite, int,
                       native::Grid<const REAL> bounds, native::Grid<REAL> next,
                       IntGrid row_changed, native::Span<INDEX> column_changed,
                       native::Span<INDEX> control, int) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    tighten_heavy({row_column, row_value, row_lower, row_upper, is_integer}, parts, heavy, partial,
                  partial_infinite, {bounds, next, row_changed, column_changed, control});
}

/// Rounds until one says to stop.
void rounds(Ints row_start, Ints row_column, Numbers row_value, Numbers row_lower,
            Numbers row_upper, Ints column_start, Ints column_row, Ints is_integer, Ints order,
            IntGrid bins, IntGrid parts, IntGrid heavy, native::Grid<REAL> partial,
            native::Grid<INDEX> partial_infinite, native::Grid<REAL> bounds,
            native::Grid<REAL> next, native::Grid<INDEX> row_changed,
            native::Span<INDEX> column_changed, native::Span<INDEX> control) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    const Rows rows = {row_column, row_value, row_lower, row_upper, is_integer};
    const Boxes boxes = {bounds, next, row_changed, column_changed, control};
    while (control[STOP] == 0) {
        native::poll();
        light_rows(rows, row_start, order, bins, boxes);
        if (parts.shape(0) > 0) {
            sum_heavy(rows, parts, bounds, boxes.flags(), partial, partial_infinite);
            tighten_heavy(rows, parts, heavy, partial, partial_infinite, boxes);
        }
        box_columns(static_cast<int>(row_lower.size()), static_cast<int>(is_integer.size()),
                    column_start, column_row, bounds, next, row_changed, column_changed, control,
                    1);
        box_control(control, 1);
    }
}

} // namespace

NATIVE_MODULE(mip_inference_propagation_box) {
    using native::expose;
    expose(module, "box_rows", &box_rows, "row_start", "row_column", "row_value", "row_lower",
           "row_upper", "is_integer", "order", "bins", "num_bins", "blocks", "rows", "bounds",
           "next", "row_changed", "column_changed", "control", "threads");
    expose(module, "box_heavy_sums", &box_heavy_sums, "row_column", "row_value", "row_lower",
           "row_upper", "is_integer", "parts", "rows", "bounds", "row_changed", "control",
           "partial", "partial_infinite", "threads");
    expose(module, "box_heavy_tighten", &box_heavy_tighten, "row_column", "row_value", "row_lower",
           "row_upper", "is_integer", "parts", "heavy", "partial", "partial_infinite", "rows",
           "bounds", "next", "row_changed", "column_changed", "control", "threads");
    expose(module, "box_columns", &box_columns, "rows", "columns", "column_start", "column_row",
           "bounds", "next", "row_changed", "column_changed", "control", "threads");
    expose(module, "box_control", &box_control, "control", "threads");
    expose(module, "rounds", &rounds, "row_start", "row_column", "row_value", "row_lower",
           "row_upper", "column_start", "column_row", "is_integer", "order", "bins", "parts",
           "heavy", "partial", "partial_infinite", "bounds", "next", "row_changed",
           "column_changed", "control");
    native::constants(module, "solvers.mip.inference.propagation.kernels.box",
                      {{"STOP", STOP},
                       {"ROUND", ROUND},
                       {"LIMIT", LIMIT},
                       {"CHANGED", CHANGED},
                       {"INFEASIBLE", INFEASIBLE},
                       {"CONTROL_SIZE", CONTROL_SIZE}});
    native::constants(module, "solvers.mip.inference.propagation.on_device",
                      {{"ROW_TOLERANCE", ROW_TOLERANCE},
                       {"ROW_RELATIVE", ROW_RELATIVE},
                       {"ROUNDING", ROUNDING},
                       {"CROSSING", CROSSING},
                       {"RELAXATION", RELAXATION},
                       {"LARGEST_BOUND", LARGEST_BOUND},
                       {"SMALLEST_ENTRY", SMALLEST_ENTRY},
                       {"CANCELLING", CANCELLING},
                       {"CANCELLED", CANCELLED},
                       {"SIGNIFICANT", SIGNIFICANT},
                       {"SUM_ERROR", SUM_ERROR}});
}
