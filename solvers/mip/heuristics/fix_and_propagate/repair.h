// Shifting columns of a contradicted box until no row is broken: WalkSAT on bounds.
//
// A random broken row is picked; each of its columns could be shifted, within its bounds at the
// root, so that the row holds; the shift that breaks least is taken, or one at random (Salvagnin,
// Roberti, Fischetti 2025, section 4, after Selman, Kautz, Cohen 1994). A column that is not fixed
// is shifted as an interval. Afterwards the unfixed columns go back to the root's bounds and
// everything is propagated again, since only the fixed ones say what the bounds are; what breaks
// then is repaired in turn.
#pragma once

#include "repair_state.h"

namespace mip::fix_and_propagate {

/// Walks, each followed by a propagation, before a repair is given up.
inline constexpr int ROUNDS = 5;

/// Shift columns until nothing is broken; return how many rows still are, the fewest seen.
inline std::int64_t walk_once(const Matrix &matrix, const Box &box, native::Grid<const double> root,
                              const Walk &walk, RandomState random, std::int64_t max_shifts,
                              std::int64_t work_end) {
    std::int64_t size = collect(box, walk);
    std::int64_t done = 0, best_at = 0, fewest = size, stuck = 0;
    while (size > 0 && done < max_shifts && stuck < 2 * TABU &&
           box.counts[domain::WORK] < work_end) {
        const std::int64_t i = walk.broken[below(random, size)];
        const Shift found = pick_shift(matrix, box, root, walk, random, i);
        walk.clock[0] += 1;
        if (found.column < 0) {
            ++stuck;
            continue;
        }
        stuck = 0;
        walk.last[found.column] = walk.clock[0];
        size = apply_shift(matrix, box, walk, found.column, found.by, size);
        walk.column[done] = static_cast<std::int32_t>(found.column);
        walk.shift[done] = found.by;
        ++done;
        if (size < fewest) {
            fewest = size;
            best_at = done;
        }
    }
    for (std::int64_t move = done - 1; move >= best_at; --move)
        size = apply_shift(matrix, box, walk, walk.column[move], -walk.shift[move], size);
    return size;
}

/// Give a column the root's bounds back, and let its rows know how wide it is again.
inline void loosen(const Matrix &matrix, const Box &box, native::Grid<const double> root,
                   std::int64_t j) {
    const Rows rows(box);
    for (int side = 0; side < 2; ++side) {
        if (box.bounds(side, j) != root(side, j))
            domain::set_bound(matrix, box, j, side, root(side, j));
    }
    for (std::int64_t p = matrix.columns.indptr[j]; p < matrix.columns.indptr[j + 1]; ++p) {
        const std::int64_t i = matrix.columns.indices[p];
        const double widest =
            std::abs(matrix.columns.data[p]) * (box.bounds(1, j) - box.bounds(0, j));
        if (widest > rows(i, domain::WIDEST)) {
            domain::record(box, 2 * matrix.is_integer.size() + i, rows(i, domain::WIDEST));
            rows(i, domain::WIDEST) = widest;
        }
    }
}

/// Give unfixed columns the root's bounds back and propagate all; false on contradiction.
inline bool release(const Matrix &matrix, const Box &box, native::Grid<const double> root,
                    std::int64_t cap) {
    for (std::int64_t j = 0; j < box.bounds.shape(1); ++j) {
        if (box.bounds(0, j) < box.bounds(1, j))
            loosen(matrix, box, root, j);
    }
    domain::wake_all(box);
    return domain::propagate(matrix, box, cap, true);
}

/// Mend a box that a lenient propagation has left contradicted; whether nothing is broken.
///
/// ``root`` (2, n) are bounds to stay within, ``max_shifts`` the shifts of each walk, and from the
/// reading ``work_end`` of the box's work counter on nothing new is begun. Each propagation may
/// visit ``cap`` entries.
inline bool repair(const Matrix &matrix, const Box &box, native::Grid<const double> root,
                   const Walk &walk, RandomState random, std::int64_t max_shifts,
                   std::int64_t work_end, std::int64_t cap) {
    for (int round = 0; round < ROUNDS; ++round) {
        if (walk_once(matrix, box, root, walk, random, max_shifts, work_end) > 0)
            return false;
        if (release(matrix, box, root, cap))
            return true;
        if (box.counts[domain::WORK] >= work_end)
            break;
    }
    return false;
}

} // namespace mip::fix_and_propagate
