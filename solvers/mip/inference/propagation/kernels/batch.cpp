// Rounds of bound propagation for 32 boxes side by side, as batch.cu has them, by one thread.
#include "walk.h"

namespace {

using Numbers = native::Span<const REAL>;
using IntsOut = native::Span<INDEX>;
using GridOut = native::Grid<INDEX>;
using CubeOut = native::Cube<REAL>;

/// Rows that have to be looked at, in which lanes; long ones from the end of the list.
struct RowChanges {
    Ints start;
    IntsOut changed, list, control;

    /// Add lanes to a row's word, and list it if it had none.
    void wake(int parity, INDEX i, unsigned word) const {
        const INDEX before = changed[i];
        if (before == 0) {
            if (start[i + 1] - start[i] > LONG_ROW)
                list[changed.size() - 1 - control[NUM_LONG_ROWS + parity]++] = i;
            else
                list[control[NUM_ROWS + parity]++] = i;
        }
        changed[i] = static_cast<INDEX>(static_cast<unsigned>(before) | word);
    }
};

struct Rows {
    Ints split;
    Numbers largest, lower, upper;
};

struct Columns {
    Ints column, start, row;
};

/// One row's part of a round, in the lanes of its word.
inline void tighten_row(int later, INDEX i, unsigned word, const Batch &batch, const Rows &rows,
                        const RowChanges &row_changes, const ColumnChanges &changes,
                        Sums (&sums)[2], Verdict &verdict) {
    const IntsOut &control = changes.control;
    const Stretch row = {row_changes.start[i], rows.split[i], row_changes.start[i + 1]};
    sum_row(batch, row, sums[0], sums[1]);
    judge(rows.lower[i], rows.upper[i], sums[0], word, verdict);
    control[DEAD + later] |= static_cast<INDEX>(verdict.died);
    add_to(control[WORK], (row.last - row.first + 31) / 32);
    if (verdict.active == 0)
        return;
    const auto [above, below] =
        verdict.full_lanes(verdict.active, rows.largest[i] * (1.0 - ROUNDING));
    if ((above | below) != 0)
        tighten_binaries(batch, row, verdict, later, changes);
    tighten_wide(batch, row, sums[0], verdict, later, changes);
}

/// Let the listed rows tighten their columns in the lanes of their words.
void tighten_rows(int parity, const Batch &batch, const Rows &rows, const RowChanges &row_changes,
                  const ColumnChanges &changes) {
    const IntsOut &control = changes.control;
    const int later = 1 - parity;
    const unsigned live = ~static_cast<unsigned>(control[DEAD + parity]);
    const INDEX num_short = control[NUM_ROWS + parity], num_long = control[NUM_LONG_ROWS + parity];
    control[NUM_ROWS + later] = control[NUM_LONG_ROWS + later] = 0;
    if (num_short + num_long > 0)
        add_to(control[ROUNDS], 1);
    for (INDEX at = 0; at < control[NUM_COLUMNS + parity]; ++at)
        changes.changed(parity, changes.list(parity, at)) = 0;
    Sums sums[2];
    Verdict verdict;
    const std::int64_t end = row_changes.list.size() - 1;
    for (INDEX at = 0; at < num_short + num_long; ++at) {
        if (at % 1024 == 0)
            native::poll();
        const INDEX i = row_changes.list[at < num_short ? at : end - (at - num_short)];
        const unsigned word = static_cast<unsigned>(row_changes.changed[i]) & live;
        row_changes.changed[i] = 0;
        if (word != 0)
            tighten_row(later, i, word, batch, rows, row_changes, changes, sums, verdict);
    }
}

/// Let a column take over its next bounds in the lanes of a word; return those that die.
inline unsigned take_over(INDEX place, INDEX binaries, unsigned word, const GridOut &masks,
                          const CubeOut &wide, const GridOut &next_masks,
                          const CubeOut &next_wide) {
    if (place < binaries) {
        masks(place, 0) = next_masks(place, 0);
        masks(place, 1) = next_masks(place, 1);
        return word & ~static_cast<unsigned>(masks(place, 0) | masks(place, 1));
    }
    unsigned died = 0;
    const INDEX w = place - binaries;
    for (unsigned left = word; left != 0; left &= left - 1) {
        const int k = std::countr_zero(left);
        REAL lower = next_wide(w, 0, k), upper = next_wide(w, 1, k);
        if (crossing(lower, upper))
            died |= bit_of(k);
        wide(w, 0, k) = next_wide(w, 0, k) = lower;
        wide(w, 1, k) = next_wide(w, 1, k) = upper;
    }
    return died;
}

/// Let the listed columns take over their next bounds, and list their rows.
void take_over_columns(int parity, INDEX binaries, const Columns &columns,
                       const RowChanges &row_changes, const ColumnChanges &changes,
                       const GridOut &masks, const CubeOut &wide, const GridOut &next_masks,
                       const CubeOut &next_wide) {
    const IntsOut &control = changes.control;
    const int later = 1 - parity;
    const unsigned dead = static_cast<unsigned>(control[DEAD + parity]);
    control[NUM_COLUMNS + later] = 0;
    control[DEAD + later] |= static_cast<INDEX>(dead);
    for (INDEX at = 0; at < control[NUM_COLUMNS + parity]; ++at) {
        const INDEX place = changes.list(parity, at);
        const unsigned word = static_cast<unsigned>(changes.changed(parity, place)) & ~dead;
        if (word == 0)
            continue;
        control[DEAD + later] |= static_cast<INDEX>(
            take_over(place, binaries, word, masks, wide, next_masks, next_wide));
        const INDEX j = columns.column[place];
        for (INDEX entry = columns.start[j]; entry < columns.start[j + 1]; ++entry)
            row_changes.wake(parity, columns.row[entry], word);
    }
}

void check_lists(std::int64_t rows, std::int64_t columns, const RowChanges &row_changes,
                 const ColumnChanges &changes) {
    native::check_length("control", changes.control.size(), CONTROL_SIZE);
    native::check_length("row_start", row_changes.start.size(), rows + 1);
    native::check_length("row_changed", row_changes.changed.size(), rows);
    native::check_length("row_list", row_changes.list.size(), rows);
    native::check_length("column_changed", changes.changed.size(), 2 * columns);
    native::check_length("column_list", changes.list.size(), 2 * columns);
}

void batch_rows(int parity, int rows, int columns, int binaries, Ints row_start, Ints row_split,
                Ints row_place, Numbers row_weight, Numbers row_largest, Numbers row_lower,
                Numbers row_upper, Ints whole, IntsOut row_changed, IntsOut row_list,
                GridOut column_changed, GridOut column_list, IntGrid masks,
                native::Cube<const REAL> wide, GridOut next_masks, CubeOut next_wide,
                IntsOut control, int) {
    const RowChanges row_changes = {row_start, row_changed, row_list, control};
    const ColumnChanges changes = {column_changed, column_list, control};
    check_lists(rows, columns, row_changes, changes);
    tighten_rows(parity,
                 {binaries, row_place, row_weight, masks, wide, whole, next_masks, next_wide},
                 {row_split, row_largest, row_lower, row_upper}, row_changes, changes);
}

void batch_columns(int parity, int rows, int columns, int binaries, Ints place_column,
                   Ints column_start, Ints column_row, Ints, int, Ints row_start,
                   IntsOut row_changed, IntsOut row_list, GridOut column_changed,
                   GridOut column_list, GridOut masks, CubeOut wide, GridOut next_masks,
                   CubeOut next_wide, IntsOut control, int) {
    const RowChanges row_changes = {row_start, row_changed, row_list, control};
    const ColumnChanges changes = {column_changed, column_list, control};
    check_lists(rows, columns, row_changes, changes);
    take_over_columns(parity, binaries, {place_column, column_start, column_row}, row_changes,
                      changes, masks, wide, next_masks, next_wide);
}

/// So many pairs of rounds, an even and an odd one, or fewer if a pair leaves nothing to do.
void rounds(int count, int rows, int columns, int binaries, Ints place_column, Ints column_start,
            Ints column_row, Ints row_start, Ints row_split, Ints row_place, Numbers row_weight,
            Numbers row_largest, Numbers row_lower, Numbers row_upper, Ints whole,
            IntsOut row_changed, IntsOut row_list, GridOut column_changed, GridOut column_list,
            GridOut masks, CubeOut wide, GridOut next_masks, CubeOut next_wide, IntsOut control) {
    const RowChanges row_changes = {row_start, row_changed, row_list, control};
    const ColumnChanges changes = {column_changed, column_list, control};
    check_lists(rows, columns, row_changes, changes);
    const Batch batch = {binaries, row_place, row_weight, masks,
                         wide,     whole,     next_masks, next_wide};
    for (int number = 0; number < count; ++number) {
        for (int parity = 0; parity < 2; ++parity) {
            take_over_columns(parity, binaries, {place_column, column_start, column_row},
                              row_changes, changes, masks, wide, next_masks, next_wide);
            tighten_rows(parity, batch, {row_split, row_largest, row_lower, row_upper}, row_changes,
                         changes);
        }
        if (control[NUM_COLUMNS] == 0)
            return;
    }
}

/// Narrow a column's next bounds in one lane; return whether that changed it.
inline bool narrow(INDEX place, INDEX binaries, int k, REAL lower, REAL upper,
                   const GridOut &next_masks, const CubeOut &next_wide) {
    if (place >= binaries) {
        REAL &low = next_wide(place - binaries, 0, k), &high = next_wide(place - binaries, 1, k);
        const bool changed = lower > low || upper < high;
        low = larger(low, lower);
        high = smaller(high, upper);
        return changed;
    }
    const INDEX bit = static_cast<INDEX>(bit_of(k));
    const bool no_zero = lower > 0.0 && (next_masks(place, 0) & bit) != 0;
    const bool no_one = upper < 1.0 && (next_masks(place, 1) & bit) != 0;
    if (no_zero)
        next_masks(place, 0) &= ~bit;
    if (no_one)
        next_masks(place, 1) &= ~bit;
    return no_zero || no_one;
}

/// Narrow columns in single lanes, and list them.
void batch_tighten(int items, Ints item_lane, Ints item_place, Numbers item_lower,
                   Numbers item_upper, int columns, int binaries, GridOut column_changed,
                   GridOut column_list, GridOut next_masks, CubeOut next_wide, IntsOut control,
                   int) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    native::check_length("column_list", column_list.size(), 2 * std::int64_t(columns));
    native::check_length("item_lane", item_lane.size(), items);
    native::check_length("item_place", item_place.size(), items);
    native::check_length("item_lower", item_lower.size(), items);
    native::check_length("item_upper", item_upper.size(), items);
    const ColumnChanges changes = {column_changed, column_list, control};
    for (int item = 0; item < items; ++item)
        if (narrow(item_place[item], binaries, item_lane[item], item_lower[item], item_upper[item],
                   next_masks, next_wide))
            changes.mark(0, item_place[item], bit_of(item_lane[item]));
}

/// Let lanes live.
inline void revive(const IntsOut &control, unsigned word) {
    control[DEAD] &= static_cast<INDEX>(~word);
    control[DEAD + 1] &= static_cast<INDEX>(~word);
}

/// Give lanes a box.
void batch_load(int lanes, int columns, int binaries, Ints place_column, Numbers lower,
                Numbers upper, GridOut masks, CubeOut wide, GridOut next_masks, CubeOut next_wide,
                IntsOut control, int) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    native::check_length("place_column", place_column.size(), columns);
    revive(control, static_cast<unsigned>(lanes));
    for (INDEX place = 0; place < columns; ++place) {
        const REAL low = lower[place_column[place]], high = upper[place_column[place]];
        if (place < binaries) {
            const INDEX zero = low <= 0.0 ? lanes : 0, one = high >= 1.0 ? lanes : 0;
            masks(place, 0) = next_masks(place, 0) = (masks(place, 0) & ~lanes) | zero;
            masks(place, 1) = next_masks(place, 1) = (masks(place, 1) & ~lanes) | one;
            continue;
        }
        const INDEX w = place - binaries;
        for (unsigned left = static_cast<unsigned>(lanes); left != 0; left &= left - 1) {
            const int k = std::countr_zero(left);
            wide(w, 0, k) = next_wide(w, 0, k) = low;
            wide(w, 1, k) = next_wide(w, 1, k) = high;
        }
    }
}

/// List all rows.
void batch_wake(int lanes, int rows, Ints row_start, IntsOut row_changed, IntsOut row_list,
                IntsOut control, int) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    native::check_length("row_start", row_start.size(), rows + 1);
    native::check_length("row_changed", row_changed.size(), rows);
    native::check_length("row_list", row_list.size(), rows);
    const RowChanges row_changes = {row_start, row_changed, row_list, control};
    for (INDEX i = 0; i < rows; ++i)
        row_changes.wake(0, i, static_cast<unsigned>(lanes));
}

/// The bits of a word in the lanes' sources.
inline unsigned moved_bits(unsigned given, const Ints &source) {
    unsigned own = 0;
    for (int k = 0; k < LANES; ++k)
        if (source[k] >= 0 && has(given, source[k]))
            own |= bit_of(k);
    return own;
}

/// Give each lane the box of its source.
void batch_assign(Ints source, int, int binaries, Ints whole, IntGrid from_masks,
                  native::Cube<const REAL> from_wide, GridOut masks, CubeOut wide,
                  GridOut next_masks, CubeOut next_wide, IntsOut control, int) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    native::check_length("source", source.size(), LANES);
    unsigned word = 0;
    for (int k = 0; k < LANES; ++k)
        word |= source[k] >= 0 ? bit_of(k) : 0u;
    revive(control, word);
    for (INDEX place = 0; place < binaries; ++place)
        for (int side = 0; side < 2; ++side) {
            const unsigned given = static_cast<unsigned>(from_masks(place, side));
            const unsigned kept = static_cast<unsigned>(masks(place, side)) & ~word;
            masks(place, side) = next_masks(place, side) =
                static_cast<INDEX>(moved_bits(given, source) | kept);
        }
    REAL given[LANES];
    for (std::int64_t w = 0; w < whole.size(); ++w)
        for (int side = 0; side < 2; ++side) {
            for (int k = 0; k < LANES; ++k)
                given[k] = from_wide(w, side, k);
            for (int k = 0; k < LANES; ++k)
                if (source[k] >= 0)
                    wide(w, side, k) = next_wide(w, side, k) = given[source[k]];
        }
}

} // namespace

NATIVE_MODULE(mip_inference_propagation_batch) {
    using native::expose;
    expose(module, "rounds", &rounds, "count", "rows", "columns", "binaries", "place_column",
           "column_start", "column_row", "row_start", "row_split", "row_place", "row_weight",
           "row_largest", "row_lower", "row_upper", "whole", "row_changed", "row_list",
           "column_changed", "column_list", "masks", "wide", "next_masks", "next_wide", "control");
    native::constants(module, "solvers.mip.inference.propagation.kernels.batch",
                      {{"LANES", LANES},
                       {"LONG_COLUMN", LONG_COLUMN},
                       {"Control.NUM_ROWS", NUM_ROWS},
                       {"Control.NUM_LONG_ROWS", NUM_LONG_ROWS},
                       {"Control.NUM_COLUMNS", NUM_COLUMNS},
                       {"Control.DEAD", DEAD},
                       {"Control.WORK", WORK},
                       {"Control.ROUNDS", ROUNDS},
                       {"Control.SIZE", CONTROL_SIZE}});
    NATIVE_KERNELS(module, batch_columns, batch_rows, batch_tighten, batch_load, batch_wake,
                   batch_assign);
}
