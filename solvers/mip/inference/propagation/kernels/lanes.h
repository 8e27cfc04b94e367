// What lanes.cuh does for many threads, for one: lists of what changed.
#pragma once

#include <bit>

#include "native/bindings.h"

namespace {

using REAL = double;
using INDEX = std::int32_t;
#include "bounds.cuh"
#include "layout.cuh"

using Ints = native::Span<const INDEX>;
using IntGrid = native::Grid<const INDEX>;

constexpr std::int64_t CONTROL_SIZE = 16;

constexpr unsigned bit_of(int lane) { return 1u << lane; }

/// Add to a word or count that wraps around.
inline void add_to(INDEX &number, std::int64_t more) {
    number = static_cast<INDEX>(static_cast<unsigned>(number) + static_cast<unsigned>(more));
}

/// Columns that changed in even and in odd rounds, in which lanes, and their lists.
struct ColumnChanges {
    native::Grid<INDEX> changed, list;
    native::Span<INDEX> control;

    /// Add lanes to a column's word, and list it if it had none.
    void mark(int parity, INDEX place, unsigned word) const {
        const INDEX before = changed(parity, place);
        if (before == 0) {
            list(parity, control[NUM_COLUMNS + parity]) = place;
            control[NUM_COLUMNS + parity] += 1;
        }
        changed(parity, place) = static_cast<INDEX>(static_cast<unsigned>(before) | word);
    }
};

} // namespace
