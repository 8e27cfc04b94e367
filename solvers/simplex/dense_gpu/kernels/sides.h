// Right sides of the solves with the basis: the entering column, and the sum of the flipped ones.
#pragma once

#include "structures.h"

namespace simplex::dense_gpu {

inline std::int64_t count_entries(const Matrix &matrix, std::int64_t j) {
    return j >= matrix.structurals ? 1 : matrix.starts[j + 1] - matrix.starts[j];
}

/// Call visit(row, element) for the entries of a column of [A -I].
template <class Visit>
inline void visit_column(const Matrix &matrix, std::int64_t j, const Visit &visit) {
    if (j >= matrix.structurals) {
        visit(static_cast<Index>(j - matrix.structurals), -1.0);
        return;
    }
    for (Index k = matrix.starts[j], end = matrix.starts[j + 1]; k < end; ++k)
        visit(matrix.indices[k], matrix.values[k]);
}

/// Columns that are flipped, and by which steps.
struct Flips {
    Ints variables;
    Reals steps;
    std::int64_t count;
};

/// Append step times a column to the list of entries; its new end.
inline std::int64_t list_column(std::int64_t j, double step, std::int64_t at, const Matrix &matrix,
                                const RightSidesOut &target) {
    visit_column(matrix, j, [&](Index row, double element) {
        const Index slot = matrix.slot_of_row[row];
        target.places[at] = slot >= 0 ? slot : -1 - row;
        target.amounts[at] = step * element;
        ++at;
    });
    return at;
}

/// Lay out the sums by row and by slot.
inline void lay_out(std::int64_t q, const Flips &flips, const Matrix &matrix,
                    const RightSidesOut &target) {
    std::fill(target.column.begin(), target.column.end(), 0.0);
    visit_column(matrix, q, [&](Index row, double element) { target.column[row] += element; });
    if (flips.count > 0)
        std::fill(target.flip_column.begin(), target.flip_column.end(), 0.0);
    for (std::int64_t f = 0; f < flips.count; ++f)
        visit_column(matrix, flips.variables[f], [&](Index row, double element) {
            target.flip_column[row] += flips.steps[f] * element;
        });
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        const Index slot = matrix.slot_of_row[i];
        if (slot < 0)
            continue;
        target.column_slots[slot] = target.column[i];
        if (flips.count > 0)
            target.flip_slots[slot] = target.flip_column[i];
    }
}

/// List the entries of flipped and entering columns, or lay out their sums. ``streamed`` says that
/// the solve reads the whole inverse anyway.
inline void make_sides(std::int64_t q, const Flips &flips, bool streamed, const Matrix &matrix,
                       const RightSidesOut &target, IntsOut control) {
    std::int64_t flipped = 0;
    for (std::int64_t f = 0; f < flips.count; ++f)
        flipped += count_entries(matrix, flips.variables[f]);
    const std::int64_t entries = flipped + count_entries(matrix, q);
    const bool list = is_list(entries, streamed, control[SLOTS], matrix.rows);
    if (list) {
        std::int64_t at = 0;
        for (std::int64_t f = 0; f < flips.count; ++f)
            at = list_column(flips.variables[f], flips.steps[f], at, matrix, target);
        list_column(q, 1.0, at, matrix, target);
    } else {
        lay_out(q, flips, matrix, target);
    }
    control[ENTRIES] = list ? static_cast<Index>(entries) : -1;
    control[FLIP_ENTRIES] = static_cast<Index>(flipped);
}

} // namespace simplex::dense_gpu
