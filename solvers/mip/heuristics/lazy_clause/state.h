// What a search holds: the sides of rows and what changes (see sides.py and state.py).
#pragma once

#include <cstdint>

#include "native/arrays.h"

namespace mip::lazy_clause {

using native::Span;

/// Places of ``counts``.
enum Count : std::int64_t {
    TRAIL,
    LEVEL,
    HEAD,
    QUEUE_HEAD,
    QUEUE_SIZE,
    WORK,
    CONFLICT,
    CLAUSES,
    LITERALS,
    CONFLICTS,
    HEAP,
    FIXED,
    MOST_FIXED,
    UNTIL_RESTART,
    CAPPED,
    EXPLAINED,
    RECORDED,
    TOUCHED,
    OPEN,
    AT,
    RUNGS,
    NUM_COUNTS
};

/// Places of ``numbers``.
constexpr std::int64_t STEP = 0, NUM_NUMBERS = 1;

/// Reason of a decision.
constexpr std::int64_t DECISION = -1;

/// No code, or no entry.
constexpr std::int64_t NOTHING = -1;

/// The level without decisions.
constexpr std::int64_t ROOT = 0;

/// Absolute excess of a side at which it is contradicted; also for rounding whole bounds.
constexpr double TOLERANCE = 1e-6;

struct Sides {
    native::SparseRows<std::int32_t> by_side, by_code;
    Span<const double> widest;
    Span<const std::uint8_t> is_exact, is_integer;
};

struct State {
    Span<double> bound, root, right, activity;
    Span<std::int32_t> infinite, queue;
    Span<std::uint8_t> queued;
    Span<std::int32_t> entry_code, entry_before, entry_reason, entry_level;
    Span<double> entry_value, entry_old;
    Span<std::int32_t> latest, level_start, clause_start, literal_code;
    Span<double> literal_value;
    Span<std::int32_t> clause_spread, watch_next, watch_first;
    Span<double> score;
    Span<std::int32_t> heap, heap_place;
    Span<double> preferred, closest;
    Span<std::uint8_t> seen;
    Span<std::int32_t> found, lits, touched, stamp, chosen;
    Span<double> rung;
    Span<std::int64_t> counts;
    Span<double> numbers;
};

} // namespace mip::lazy_clause
