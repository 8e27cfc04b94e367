// Choosing the next bulk of 32 dives, and fixing it, as dive.cu does it, by one thread.
#include "lanes.h"

namespace {

#include "values.cuh"

using Numbers = native::Span<const REAL>;

/// Whether some living lane has not fixed a column.
inline bool is_open(INDEX place, INDEX binaries, unsigned live, const IntGrid &masks,
                    const native::Cube<const REAL> &wide) {
    if (place < binaries)
        return (static_cast<unsigned>(masks(place, 0) & masks(place, 1)) & live) != 0;
    for (unsigned left = live; left != 0; left &= left - 1) {
        const int k = std::countr_zero(left);
        if (wide(place - binaries, 0, k) < wide(place - binaries, 1, k))
            return true;
    }
    return false;
}

/// Choose the next columns of the order that some living lane has not fixed.
void dive_select(int total, int most, Ints order, int binaries, IntGrid masks,
                 native::Cube<const REAL> wide, native::Span<INDEX> bulk,
                 native::Span<INDEX> control, int) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    native::check_length("order", order.size(), total);
    const unsigned live = ~static_cast<unsigned>(control[DEAD]);
    int count = 0, wanted = 0, first = total;
    for (int at = control[CURSOR]; at < total; ++at) {
        if (!is_open(order[at], binaries, live, masks, wide))
            continue;
        if (first == total) {
            const int left = total - at;
            first = at;
            wanted = left <= LAST_ONES ? 1 : std::min(most, int(std::sqrt(double(left))));
            native::check_length("bulk", bulk.size(), wanted);
        }
        bulk[count] = order[at];
        if (++count == wanted)
            break;
    }
    control[CURSOR] = first;
    control[BULK] = count;
}

/// What the lanes go by.
struct Rules {
    Ints rule, seed;
    Numbers noise;
    Ints good, loose;
    Numbers reference;

    REAL value(int lane, INDEX j, REAL lower, REAL upper) const {
        return value_of(rule[lane], static_cast<unsigned>(seed[lane]), noise[lane],
                        static_cast<unsigned>(j), good[j], loose[j], reference[j], lower, upper);
    }
};

/// How much of the bulk an amount stands for.
inline int share_of(int count, int amount) {
    if (amount == HALF)
        return (count + 1) / 2;
    return amount >= FIRST ? std::min(count, 1) : count;
}

/// Fix the columns of the bulk in each lane at the value of its rule.
void dive_fix(int lanes, int amount, int columns, int binaries, Ints place_column, Ints bulk,
              Ints rule, Ints seed, Numbers noise, Ints good, Ints loose, Numbers reference,
              native::Grid<INDEX> column_changed, native::Grid<INDEX> column_list,
              native::Grid<INDEX> next_masks, native::Cube<REAL> next_wide,
              native::Span<INDEX> control, int) {
    native::check_length("control", control.size(), CONTROL_SIZE);
    native::check_length("place_column", place_column.size(), columns);
    const Rules rules = {rule, seed, noise, good, loose, reference};
    const ColumnChanges changes = {column_changed, column_list, control};
    const unsigned word = static_cast<unsigned>(lanes & ~control[DEAD]);
    const int count = share_of(control[BULK], amount);
    for (int at = 0; at < count; ++at) {
        const INDEX place = bulk[at], j = place_column[place], w = place - binaries;
        unsigned fixed = 0;
        for (unsigned left = word; left != 0; left &= left - 1) {
            const int k = std::countr_zero(left);
            REAL lower, upper;
            if (place < binaries) {
                lower = has(static_cast<unsigned>(next_masks(place, 0)), k) ? 0.0 : 1.0;
                upper = has(static_cast<unsigned>(next_masks(place, 1)), k) ? 1.0 : 0.0;
            } else {
                lower = next_wide(w, 0, k);
                upper = next_wide(w, 1, k);
            }
            if (!(lower < upper))
                continue;
            REAL value = rules.value(k, j, lower, upper);
            if (amount == OTHER)
                value = other_than(value, lower, upper);
            fixed |= bit_of(k);
            if (place >= binaries)
                next_wide(w, 0, k) = next_wide(w, 1, k) = value;
            else
                next_masks(place, value > 0.5 ? 0 : 1) &= static_cast<INDEX>(~bit_of(k));
        }
        if (fixed != 0)
            changes.mark(0, place, fixed);
    }
}

/// The value that a lane's rule gives a column with these bounds.
double value(int rule, int seed, double noise, int column, int good, int loose, double x,
             double lower, double upper) {
    return value_of(rule, static_cast<unsigned>(seed), noise, static_cast<unsigned>(column), good,
                    loose, x, lower, upper);
}

} // namespace

NATIVE_MODULE(mip_inference_propagation_dive) {
    native::expose(module, "value_of", &value, "rule", "seed", "noise", "column", "good", "loose",
                   "x", "lower", "upper");
    native::constants(module, "solvers.mip.inference.propagation.kernels.dive",
                      {{"Rule.DOWN", DOWN},
                       {"Rule.UP", UP},
                       {"Rule.RANDOM", RANDOM},
                       {"Rule.GOOD", GOOD},
                       {"Rule.BAD", BAD},
                       {"Rule.LOOSE", LOOSE},
                       {"Rule.TIGHT", TIGHT},
                       {"Rule.REFERENCE", REFERENCE},
                       {"Amount.WHOLE", WHOLE},
                       {"Amount.HALF", HALF},
                       {"Amount.FIRST", FIRST},
                       {"Amount.OTHER", OTHER},
                       {"Driver.CURSOR", CURSOR},
                       {"Driver.BULK", BULK}});
    NATIVE_KERNELS(module, dive_select, dive_fix);
}
