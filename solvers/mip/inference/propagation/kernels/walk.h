// What walk.cuh does with a lane for each box, for one thread: walking a row for 32 boxes at once.
#pragma once

#include "lanes.h"

namespace {

/// The bits of every byte as numbers: adding eight of them at once takes one instruction or two.
struct BitTable {
    double of[256][8];
    constexpr BitTable() : of() {
        for (int byte = 0; byte < 256; ++byte)
            for (int k = 0; k < 8; ++k)
                of[byte][k] = (byte >> k) & 1;
    }
};
alignas(64) constexpr BitTable BITS;

/// Smallest and largest activity in each lane, and how many of its terms are infinite.
struct Sums {
    alignas(64) double low[LANES], high[LANES], low_infinite[LANES], high_infinite[LANES];
};

/// What rows read and tighten.
struct Batch {
    INDEX binaries;
    Ints place;
    native::Span<const REAL> weight;
    IntGrid masks;
    native::Cube<const REAL> wide;
    Ints whole;
    native::Grid<INDEX> next_masks;
    native::Cube<REAL> next_wide;
};

inline void add_bits(double a, unsigned word, double *__restrict sums) {
    for (int byte = 0; byte < 4; ++byte) {
        const unsigned bits = (word >> (8 * byte)) & 255u;
        if (bits != 0)
            for (int k = 0; k < 8; ++k)
                sums[8 * byte + k] += a * BITS.of[bits][k];
    }
}

inline void add_finite(double a, const double *bound, double *__restrict sums,
                       double *__restrict infinite) {
    for (int k = 0; k < LANES; ++k) {
        const bool counts = std::fabs(bound[k]) < native::INF;
        sums[k] += a * (counts ? bound[k] : 0.0);
        infinite[k] += counts ? 0.0 : 1.0;
    }
}

/// Sum the entries of a stretch for all lanes.
NATIVE_HOT void sum_stretch(const Batch &batch, const Stretch &stretch, Sums &sums) {
    sums = Sums{};
    for (INDEX entry = stretch.first; entry < stretch.split; ++entry) {
        const INDEX p = batch.place[entry];
        const double a = batch.weight[entry];
        const unsigned zero = static_cast<unsigned>(batch.masks(p, 0));
        const unsigned one = static_cast<unsigned>(batch.masks(p, 1));
        add_bits(a, a > 0.0 ? ~zero : one, sums.low);
        add_bits(a, a > 0.0 ? one : ~zero, sums.high);
    }
    for (INDEX entry = stretch.split; entry < stretch.last; ++entry) {
        const INDEX w = batch.place[entry] - batch.binaries;
        const double a = batch.weight[entry];
        const int side = a <= 0.0;
        add_finite(a, &batch.wide(w, side, 0), sums.low, sums.low_infinite);
        add_finite(a, &batch.wide(w, 1 - side, 0), sums.high, sums.high_infinite);
    }
}

/// Sum a row for all lanes: a long one in parts, one after the other.
inline void sum_row(const Batch &batch, const Stretch &row, Sums &sums, Sums &part_sums) {
    if (row.last - row.first <= LONG_ROW) {
        sum_stretch(batch, row, sums);
        return;
    }
    sums = Sums{};
    for (int part = 0; part < PARTS; ++part) {
        sum_stretch(batch, row.part(part), part_sums);
        for (int k = 0; k < LANES; ++k) {
            sums.low[k] += part_sums.low[k];
            sums.high[k] += part_sums.high[k];
            sums.low_infinite[k] += part_sums.low_infinite[k];
            sums.high_infinite[k] += part_sums.high_infinite[k];
        }
    }
}

/// What is known of a row once it is summed: each lane's room, and what there is to do.
struct Verdict {
    alignas(64) double above[LANES], below[LANES];           // room of finite terms
    alignas(64) double full_above[LANES], full_below[LANES]; // the same, infinite with other terms
    alignas(64) double infeasible[LANES], redundant[LANES];  // whether a lane is, as a number
    unsigned active, died; // lanes to be tightened, and in which the row cannot hold

    /// Lanes in which the row has less room than needed, above and below.
    std::pair<unsigned, unsigned> full_lanes(unsigned lanes, double needed) const {
        unsigned over = 0, under = 0;
        for (int k = 0; k < LANES; ++k) {
            over |= unsigned(full_above[k] < needed) << k;
            under |= unsigned(full_below[k] < needed) << k;
        }
        return {over & lanes, under & lanes};
    }

    Room room(const Sums &sums, int k) const {
        return {above[k], below[k], int(sums.low_infinite[k]), int(sums.high_infinite[k]),
                false,    false};
    }
};

/// Lanes in which two numbers differ.
inline unsigned differing(const REAL *one, const REAL *other) {
    unsigned word = 0;
    for (int k = 0; k < LANES; ++k)
        word |= unsigned(one[k] != other[k]) << k;
    return word;
}

NATIVE_HOT void judge(double lower, double upper, const Sums &sums, unsigned word,
                      Verdict &verdict) {
    for (int k = 0; k < LANES; ++k) {
        const Room room = room_of(
            {sums.low[k], sums.high[k], int(sums.low_infinite[k]), int(sums.high_infinite[k])},
            lower, upper);
        verdict.above[k] = room.above;
        verdict.below[k] = room.below;
        verdict.full_above[k] = sums.low_infinite[k] == 0.0 ? room.above : native::INF;
        verdict.full_below[k] = sums.high_infinite[k] == 0.0 ? room.below : native::INF;
        verdict.infeasible[k] = room.infeasible ? 1.0 : 0.0;
        verdict.redundant[k] = room.redundant ? 1.0 : 0.0;
    }
    unsigned died = 0, kept = 0;
    for (int k = 0; k < LANES; ++k) {
        died |= unsigned(verdict.infeasible[k] != 0.0) << k;
        kept |= unsigned(verdict.redundant[k] != 0.0) << k;
    }
    verdict.died = died & word;
    verdict.active = word & ~died & ~kept;
}

/// Forbid values of binary columns that leave no room in the row.
inline void tighten_binaries(const Batch &batch, const Stretch &row, const Verdict &verdict,
                             int later, const ColumnChanges &changes) {
    for (INDEX entry = row.first; entry < row.split; ++entry) {
        const INDEX p = batch.place[entry];
        const double a = batch.weight[entry], size = magnitude(a);
        const unsigned free =
            static_cast<unsigned>(batch.masks(p, 0) & batch.masks(p, 1)) & verdict.active;
        if (free == 0 || size < SMALLEST_ENTRY)
            continue;
        const auto [above, below] = verdict.full_lanes(free, size * (1.0 - ROUNDING));
        if ((above | below) == 0)
            continue;
        const unsigned no_one = a > 0.0 ? above : below, no_zero = a > 0.0 ? below : above;
        batch.next_masks(p, 0) &= static_cast<INDEX>(~no_zero);
        batch.next_masks(p, 1) &= static_cast<INDEX>(~no_one);
        changes.mark(later, p, no_zero | no_one);
    }
}

/// Tighten a column that is not binary, with an entry a; return the lanes in which that changed it.
inline unsigned tighten_lanes(const Batch &batch, INDEX w, REAL a, const Sums &sums,
                              const Verdict &verdict) {
    const REAL *const lower = &batch.wide(w, 0, 0), *const upper = &batch.wide(w, 1, 0);
    REAL *const next_lower = &batch.next_wide(w, 0, 0), *const next_upper =
                                                            &batch.next_wide(w, 1, 0);
    const bool whole = batch.whole[w] != 0;
    unsigned changed = 0;
    for (unsigned left = verdict.active & differing(lower, upper); left != 0; left &= left - 1) {
        const int k = std::countr_zero(left);
        const Interval found = implied(a, lower[k], upper[k], verdict.room(sums, k), whole);
        const bool rises = found.lower > lower[k], falls = found.upper < upper[k];
        if (rises)
            next_lower[k] = larger(next_lower[k], found.lower);
        if (falls)
            next_upper[k] = smaller(next_upper[k], found.upper);
        if (rises || falls)
            changed |= bit_of(k);
    }
    return changed;
}

/// Tighten the bounds of the other columns.
NATIVE_HOT void tighten_wide(const Batch &batch, const Stretch &row, const Sums &sums,
                             const Verdict &verdict, int later, const ColumnChanges &changes) {
    for (INDEX entry = row.split; entry < row.last; ++entry) {
        const INDEX place = batch.place[entry];
        const unsigned word =
            tighten_lanes(batch, place - batch.binaries, batch.weight[entry], sums, verdict);
        if (word != 0)
            changes.mark(later, place, word);
    }
}

} // namespace
