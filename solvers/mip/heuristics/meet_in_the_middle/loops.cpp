// Sums of two lists whose last bits are given, stored or looked for.
//
// Keys are 64-bit numbers that add up like the sums they stand for, wrapping round.
#include "native/bindings.h"

namespace mip::meet_in_the_middle {
namespace {

using native::check_length;
using native::Span;
using Key = std::uint64_t;

/// The sizes of the table and of the marks, as lists.py says.
constexpr int SLOT_BITS = 16, MARK_BITS = 18;
constexpr std::int64_t MOST_STORED = 1 << (SLOT_BITS - 2);

/// Sums stored in slots, and marks of which leading bits occur.
struct Table {
    Span<Key> slots;
    Span<Key> marks;

    static constexpr Key LAST_SLOT = (Key{1} << SLOT_BITS) - 1;

    void clear() const {
        std::fill(slots.begin(), slots.end(), 0);
        std::fill(marks.begin(), marks.end(), 0);
    }

    /// Store a key; whether it is new.
    bool add(Key key) const {
        Key slot = key >> (64 - SLOT_BITS);
        while (slots[slot] != 0 && slots[slot] != key)
            slot = (slot + 1) & LAST_SLOT;
        const bool is_new = slots[slot] != key;
        slots[slot] = key;
        const Key mark = key >> (64 - MARK_BITS);
        marks[mark >> 6] |= Key{1} << (mark & 63);
        return is_new;
    }

    bool holds(Key key) const {
        const Key mark = key >> (64 - MARK_BITS);
        if (((marks[mark >> 6] >> (mark & 63)) & 1) == 0)
            return false;
        for (Key slot = key >> (64 - SLOT_BITS); slots[slot] != 0; slot = (slot + 1) & LAST_SLOT) {
            if (slots[slot] == key)
                return true;
        }
        return false;
    }
};

Table table_of(Span<Key> slots, Span<Key> marks) {
    check_length("table", slots.size(), std::int64_t{1} << SLOT_BITS);
    check_length("marks", marks.size(), std::int64_t{1} << (MARK_BITS - 6));
    return {slots, marks};
}

/// Store the sums of a class, from place ``begin`` of the first list on.
///
///     first  (a,)
///     second  (b,)  grouped by their last bits
///     second_start  (c + 1,)  where each group begins; c is a power of two
///     residue  last bits of the sums wanted
///     table  (2**SLOT_BITS,)  overwritten; zero where nothing is stored
///     marks  (2**MARK_BITS / 64,)  overwritten: which leading bits occur
///
/// Returns the place to go on from, and the sums looked at.
std::tuple<std::int64_t, std::int64_t> store(Span<const Key> first, Span<const Key> second,
                                             Span<const std::int64_t> second_start, Key residue,
                                             std::int64_t begin, Span<Key> slots, Span<Key> marks) {
    const Table table = table_of(slots, marks);
    check_length("second_start", second_start.size(), 2);
    table.clear();
    const Key mask = static_cast<Key>(second_start.size() - 2);
    std::int64_t stored = 0, looked = 0, place = begin;
    while (place < first.size() && stored < MOST_STORED) {
        native::poll();
        const Key one = first[place];
        const auto group = static_cast<std::int64_t>((residue - one) & mask);
        const std::int64_t last = second_start[group + 1];
        for (std::int64_t other = second_start[group]; other < last; ++other)
            stored += table.add(one + second[other]);
        looked += last - second_start[group];
        ++place;
    }
    return {place, looked};
}

/// Look for a sum of two other lists that makes up the sum wanted with a stored one.
///
///     third  (a,)
///     fourth  (b,)  grouped by their last bits
///     fourth_start  (c + 1,)
///     wanted  what all four lists are to add up to
///     residue  last bits of the stored sums
///     table, marks  as store has left them
///
/// Returns places in the two lists, -1 where there are none, and the sums looked at.
std::tuple<std::int64_t, std::int64_t, std::int64_t>
look_up(Span<const Key> third, Span<const Key> fourth, Span<const std::int64_t> fourth_start,
        Key wanted, Key residue, Span<Key> slots, Span<Key> marks) {
    const Table table = table_of(slots, marks);
    check_length("fourth_start", fourth_start.size(), 2);
    const Key mask = static_cast<Key>(fourth_start.size() - 2);
    std::int64_t looked = 0;
    for (std::int64_t place = 0; place < third.size(); ++place) {
        native::poll();
        const Key left = wanted - third[place];
        const auto group = static_cast<std::int64_t>((left - residue) & mask);
        const std::int64_t last = fourth_start[group + 1];
        for (std::int64_t other = fourth_start[group]; other < last; ++other) {
            if (table.holds(left - fourth[other]))
                return {place, other, looked};
        }
        looked += last - fourth_start[group];
    }
    return {-1, -1, looked};
}

} // namespace
} // namespace mip::meet_in_the_middle

NATIVE_MODULE(mip_heuristics_meet_in_the_middle) {
    using namespace mip::meet_in_the_middle;
    native::expose(module, "store", &store, "first", "second", "second_start", "residue", "begin",
                   "table", "marks");
    native::expose(module, "look_up", &look_up, "third", "fourth", "fourth_start", "wanted",
                   "residue", "table", "marks");
    NATIVE_CONSTANTS(module, "solvers.mip.heuristics.meet_in_the_middle.lists", SLOT_BITS,
                     MARK_BITS, MOST_STORED);
}
