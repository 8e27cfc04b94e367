// Shifting columns of a contradicted box until no row is broken: WalkSAT on bounds.
//
// A random broken row is picked; each of its columns could be shifted, within its bounds at the
// root, so that the row holds; the shift that breaks least is taken, or one at random (Salvagnin,
// Roberti, Fischetti 2025, section 4, after Selman, Kautz, Cohen 1994). A column that is not fixed
// is shifted as an interval. Afterwards the unfixed columns go back to the root's bounds and
// everything is propagated again, since only the fixed ones say what the bounds are; what breaks
// then is repaired in turn.
#pragma once

#include "choose.h"
#include "mip/inference/domain/propagate.h"

namespace mip::fix_and_propagate {

using domain::Box;
using domain::Rows;

/// Columns of the broken row that are tried, from a random place on.
inline constexpr std::int64_t MAX_CANDIDATES = 100;

/// Chance of a random shift where every shift breaks something.
///
/// The paper's 0.75 mended a fifth to a quarter as many dives of two MIPLIB models, and left two
/// of 20 hard ones without a point that 0.25 finds, with equal work.
inline constexpr double RANDOM_WALK = 0.25;

/// A column rests for so many shifts after it was shifted (the paper's).
inline constexpr std::int64_t TABU = 3;

/// Scratch arrays of a walk, as walk.py says.
struct Walk {
    native::Span<std::int32_t> broken;
    native::Span<std::int32_t> place;
    native::Span<std::int64_t> last;
    native::Span<std::int32_t> column;
    native::Span<double> shift;
    native::Span<std::int64_t> clock;
};

/// Refuse arrays that do not belong together.
inline void check_shapes(const Box &box, const Walk &walk) {
    native::check_length("broken", walk.broken.size(), box.rows.shape(0));
    native::check_length("place", walk.place.size(), box.rows.shape(0));
    native::check_length("last", walk.last.size(), box.bounds.shape(1));
    native::check_length("shift", walk.shift.size(), walk.column.size());
    native::check_length("clock", walk.clock.size(), 1);
}

/// Return by how much a row is broken whatever the columns do within the box.
inline double violation(Rows rows, std::int64_t i) {
    return std::max(domain::excess_of(rows, i, 0), domain::excess_of(rows, i, 1));
}

/// Return the same after both activities have moved by ``change``; no tolerance.
inline double violation_after(Rows rows, std::int64_t i, double change) {
    using namespace domain;
    double worst = NOISE_LIMIT;
    if (rows(i, INFINITE) == 0.0)
        worst = std::max(worst, rows(i, SMALLEST) + change - rows(i, UPPER));
    if (rows(i, INFINITE + 1) == 0.0)
        worst = std::max(worst, rows(i, LOWER) - rows(i, LARGEST) - change);
    return worst > NOISE_LIMIT ? worst : 0.0;
}

/// List the broken rows and return their number.
inline std::int64_t collect(const Box &box, const Walk &walk) {
    const Rows rows(box);
    std::int64_t size = 0;
    for (std::int64_t i = 0; i < walk.place.size(); ++i) {
        walk.place[i] = -1;
        if (violation(rows, i) > 0.0) {
            walk.place[i] = static_cast<std::int32_t>(size);
            walk.broken[size] = static_cast<std::int32_t>(i);
            ++size;
        }
    }
    box.counts[domain::WORK] += walk.place.size();
    return size;
}

/// Put a row on the list of broken ones or take it off; return the new number of them.
inline std::int64_t note_row(const Box &box, const Walk &walk, std::int64_t i, std::int64_t size) {
    const bool is_broken = violation(Rows(box), i) > 0.0;
    if (is_broken && walk.place[i] < 0) {
        walk.place[i] = static_cast<std::int32_t>(size);
        walk.broken[size] = static_cast<std::int32_t>(i);
        ++size;
    } else if (walk.place[i] >= 0 && !is_broken) {
        --size;
        const std::int32_t other = walk.broken[size];
        walk.broken[walk.place[i]] = other;
        walk.place[other] = walk.place[i];
        walk.place[i] = -1;
    }
    return size;
}

/// Move both bounds of a column, and return the new number of broken rows.
inline std::int64_t apply_shift(const Matrix &matrix, const Box &box, const Walk &walk,
                                std::int64_t j, double shift, std::int64_t size) {
    using namespace domain;
    const Rows rows(box);
    for (int side = 0; side < 2; ++side) {
        record(box, side * matrix.is_integer.size() + j, box.bounds(side, j));
        box.bounds(side, j) += shift;
    }
    for (std::int64_t p = matrix.columns.indptr[j]; p < matrix.columns.indptr[j + 1]; ++p) {
        const std::int64_t i = matrix.columns.indices[p];
        const double change = matrix.columns.data[p] * shift;
        rows(i, SMALLEST) += change;
        rows(i, LARGEST) += change;
        if (rows(i, NOISE) >= 0.0) {
            const double size_now =
                std::max(std::abs(rows(i, SMALLEST)), std::abs(rows(i, LARGEST)));
            rows(i, NOISE) += EPSILON * (size_now + std::abs(change));
            if (rows(i, NOISE) > NOISE_LIMIT)
                sum_row(matrix, box, i);
        }
        size = note_row(box, walk, i, size);
    }
    box.counts[WORK] += matrix.columns.indptr[j + 1] - matrix.columns.indptr[j];
    return size;
}

/// Return the shift of a column with coefficient ``a`` that mends a broken row.
inline double shift_for(Rows rows, std::int64_t i, double a, bool is_integer) {
    const double excess = domain::excess_of(rows, i, 0);
    const double wanted = excess > 0.0 ? -excess / a : domain::excess_of(rows, i, 1) / a;
    if (!is_integer)
        return wanted;
    const double size = std::ceil(std::abs(wanted) - domain::ROUNDING);
    return wanted > 0.0 ? size : -size;
}

/// A shift of a column, -1 for none, and what it breaks elsewhere.
struct Shift {
    std::int64_t column = -1;
    double by = 0.0;
    std::int64_t count = 0;
    double damage = native::INF;
    std::int64_t last = 0;

    /// Whether it breaks less than another; of equals, the column that rested longer wins.
    bool is_better_than(const Shift &other) const {
        return count < other.count ||
               (count == other.count &&
                (damage < other.damage || (damage == other.damage && last < other.last)));
    }
};

/// Count the rows that a shift breaks, less those that it mends, and add up the harm.
inline void weigh(const Matrix &matrix, const Box &box, Shift &shift) {
    const Rows rows(box);
    shift.damage = 0.0;
    for (std::int64_t q = matrix.columns.indptr[shift.column];
         q < matrix.columns.indptr[shift.column + 1]; ++q) {
        const std::int64_t k = matrix.columns.indices[q];
        const double before = violation_after(rows, k, 0.0);
        const double after = violation_after(rows, k, matrix.columns.data[q] * shift.by);
        shift.damage += std::max(0.0, after - before);
        shift.count += static_cast<int>(after > 0.0) - static_cast<int>(before > 0.0);
    }
}

/// Return the shift of the column at place p that helps row i, which is broken by ``before``;
/// column -1 if none does.
inline Shift shift_at(const Matrix &matrix, const Box &box, native::Grid<const double> root,
                      const Walk &walk, std::int64_t i, std::int64_t p, double before) {
    const Rows rows(box);
    const std::int64_t j = matrix.rows.indices[p];
    const double a = matrix.rows.data[p], low = box.bounds(0, j), high = box.bounds(1, j);
    if (walk.clock[0] - walk.last[j] < TABU || !(low > -native::INF && high < native::INF) ||
        std::abs(a) < domain::NOISE_LIMIT)
        return {};
    double by = shift_for(rows, i, a, matrix.is_integer[j] == 1);
    by = std::min(std::max(by, root(0, j) - low), root(1, j) - high);
    if (by == 0.0 || violation_after(rows, i, a * by) >= before)
        return {};
    return {.column = j, .by = by, .last = walk.last[j]};
}

/// Choose a column of a broken row and its shift; column -1 if none helps.
inline Shift pick_shift(const Matrix &matrix, const Box &box, native::Grid<const double> root,
                        const Walk &walk, RandomState random, std::int64_t i) {
    const std::int64_t first = matrix.rows.indptr[i], length = matrix.rows.indptr[i + 1] - first;
    const std::int64_t offset = length > MAX_CANDIDATES ? below(random, length) : 0;
    const double before = violation_after(Rows(box), i, 0.0);
    std::int64_t work = 0, seen = 0;
    Shift chosen, best;
    for (std::int64_t step = 0; step < std::min(length, MAX_CANDIDATES); ++step) {
        Shift found =
            shift_at(matrix, box, root, walk, i, first + (offset + step) % length, before);
        if (found.column < 0)
            continue;
        weigh(matrix, box, found);
        work += matrix.columns.indptr[found.column + 1] - matrix.columns.indptr[found.column];
        ++seen;
        if (below(random, seen) == 0)
            chosen = found;
        if (best.column < 0 || found.is_better_than(best))
            best = found;
    }
    box.counts[domain::WORK] += work;
    return seen > 0 && best.damage > 0.0 && uniform(random) < RANDOM_WALK ? chosen : best;
}

} // namespace mip::fix_and_propagate

NATIVE_STRUCT(mip::fix_and_propagate::Walk, broken, place, last, column, shift, clock)

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
