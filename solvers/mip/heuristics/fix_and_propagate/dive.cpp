// The loops of a dive: fix columns in a given order, propagate, go back, go on.
//
// Each function works until it is done or has spent its share of work, says which, and takes up
// where it was when it is called again: the caller looks at the clock in between and enlarges the
// trail.
#include "choose.h"
#include "mip/inference/domain/propagate.h"

namespace mip::fix_and_propagate {

/// The order and the stack of a dive, as dive.py says.
struct Search {
    native::Span<const std::int32_t> order;
    native::Span<std::int32_t> stack_column;
    native::Span<double> stack_value;
    native::Span<std::int64_t> stack_place;
    native::Span<std::int64_t> stack_cursor;
    RandomState random;
    native::Span<std::int64_t> counts;
};

} // namespace mip::fix_and_propagate

NATIVE_STRUCT(mip::fix_and_propagate::Search, order, stack_column, stack_value, stack_place,
              stack_cursor, random, counts)

namespace mip::fix_and_propagate {
namespace {

using domain::Box;
using domain::decide;
using domain::Rows;
using native::check_length;

/// How a slice ends: work spent, trail full, all columns fixed, no (more) search.
constexpr int RUNNING = 0, FULL = 1, DONE = 2, GAVE_UP = 3;

/// Places in Search::counts: next column of the order, decisions on the stack, and tallies.
constexpr int CURSOR = 0, DEPTH = 1, NODES = 2, NUM_TALLIES = 3;

/// The modes of strategy.py.
enum Mode { DFS, DIVE, DIVE_PROPAGATE };

void check_all(const Matrix &matrix, const Box &box, const Guide &guide, const Search &search) {
    domain::check_shapes(matrix, box);
    const std::int64_t n = box.bounds.shape(1);
    check_length("cost", guide.cost.size(), n);
    check_length("up_locks", guide.up_locks.size(), n);
    check_length("down_locks", guide.down_locks.size(), n);
    check_length("reference", guide.reference.size(), n);
    check_length("random", search.random.size(), 1);
    check_length("counts", search.counts.size(), NUM_TALLIES);
}

/// Refuse a stack that has no place for each column of the order.
void check_stack(const Search &search) {
    const std::int64_t k = search.order.size();
    check_length("stack_column", search.stack_column.size(), k);
    check_length("stack_value", search.stack_value.size(), k);
    check_length("stack_place", search.stack_place.size(), k);
    check_length("stack_cursor", search.stack_cursor.size(), k);
}

/// Whether the trail may not hold another level.
bool is_full(const Box &box) {
    return box.trail_code.size() - box.counts[domain::TRAIL] < box.stamp.size() + 2;
}

/// Return the first column of the order that is not fixed, or -1.
std::int64_t next_column(const Box &box, const Search &search) {
    const auto order = search.order;
    std::int64_t place = search.counts[CURSOR];
    while (place < order.size() && !(box.bounds(0, order[place]) < box.bounds(1, order[place])))
        ++place;
    search.counts[CURSOR] = place;
    return place < order.size() ? order[place] : -1;
}

/// Exclude a value: the interval beside it, or one of the two by chance; false if impossible.
bool other_side(const Matrix &matrix, const Box &box, const Search &search, std::int64_t j,
                double value, std::int64_t cap) {
    const double low = box.bounds(0, j), high = box.bounds(1, j);
    const bool above = value <= low || (value < high && uniform(search.random) < 0.5);
    return above ? decide(matrix, box, j, value + 1.0, high, cap, false)
                 : decide(matrix, box, j, low, value - 1.0, cap, false);
}

/// Undo decisions until excluding the last one's value is consistent; false if none is left.
bool backtrack(const Matrix &matrix, const Box &box, const Search &search, std::int64_t cap) {
    const auto counts = search.counts;
    while (counts[DEPTH] > 0) {
        counts[DEPTH] -= 1;
        const std::int64_t depth = counts[DEPTH];
        domain::undo(matrix, box, search.stack_place[depth]);
        counts[CURSOR] = search.stack_cursor[depth];
        counts[NODES] += 1;
        if (other_side(matrix, box, search, search.stack_column[depth], search.stack_value[depth],
                       cap))
            return true;
    }
    return false;
}

/// Put the decision to be taken next on the stack.
void push(const Box &box, const Search &search, std::int64_t j, double value) {
    const auto counts = search.counts;
    const std::int64_t depth = counts[DEPTH];
    search.stack_column[depth] = static_cast<std::int32_t>(j);
    search.stack_value[depth] = value;
    search.stack_cursor[depth] = counts[CURSOR];
    search.stack_place[depth] = domain::mark(box);
    counts[DEPTH] += 1;
    counts[NODES] += 1;
}

/// Dive with backtracking; the box is consistent whenever this returns, but for the root.
int search_depth_first(const Matrix &matrix, const Box &box, const Guide &guide,
                       const Search &search, int rule, std::int64_t max_nodes,
                       std::int64_t slice_end, std::int64_t cap) {
    check_all(matrix, box, guide, search);
    check_stack(search);
    const auto counts = search.counts;
    while (box.counts[domain::WORK] < slice_end) {
        const std::int64_t j = next_column(box, search);
        if (j < 0)
            return DONE;
        if (counts[NODES] >= max_nodes)
            return GAVE_UP;
        if (is_full(box))
            return FULL;
        const double value = choose(rule, j, box.bounds(0, j), box.bounds(1, j),
                                    matrix.is_integer[j] == 1, guide, search.random);
        push(box, search, j, value);
        if (!decide(matrix, box, j, value, value, cap, false) &&
            !backtrack(matrix, box, search, cap))
            return GAVE_UP;
    }
    return RUNNING;
}

/// Fix what is not fixed yet, passing contradictions over; one level of the trail is needed.
int dive_leniently(const Matrix &matrix, const Box &box, const Guide &guide, const Search &search,
                   int rule, int mode, std::int64_t slice_end, std::int64_t cap) {
    check_all(matrix, box, guide, search);
    const std::int64_t limit = mode == DIVE ? -1 : cap;
    while (box.counts[domain::WORK] < slice_end) {
        const std::int64_t j = next_column(box, search);
        if (j < 0)
            return DONE;
        const double value = choose(rule, j, box.bounds(0, j), box.bounds(1, j),
                                    matrix.is_integer[j] == 1, guide, search.random);
        decide(matrix, box, j, value, value, limit, true);
    }
    return RUNNING;
}

/// Number of rows that are broken whatever the columns do within the box.
std::int64_t count_broken(const Box &box) {
    domain::check_shapes(box);
    const Rows rows(box);
    const std::int64_t m = box.rows.shape(0);
    std::int64_t broken = 0;
    for (std::int64_t i = 0; i < m; ++i)
        broken += std::max(domain::excess_of(rows, i, 0), domain::excess_of(rows, i, 1)) > 0.0;
    box.counts[domain::WORK] += m;
    return broken;
}

} // namespace
} // namespace mip::fix_and_propagate

NATIVE_MODULE(mip_heuristics_fix_and_propagate_dive) {
    using namespace mip::fix_and_propagate;
    native::expose(module, "search_depth_first", &search_depth_first, "matrix", "box", "guide",
                   "search", "rule", "max_nodes", "slice_end", "cap");
    native::expose(module, "dive_leniently", &dive_leniently, "matrix", "box", "guide", "search",
                   "rule", "mode", "slice_end", "cap");
    native::expose(module, "count_broken", &count_broken, "box");
    native::expose(module, "uniform", &uniform, "state");
    native::constants(module, "solvers.mip.heuristics.fix_and_propagate.dive",
                      {{"SliceEnd.RUNNING", RUNNING},
                       {"SliceEnd.FULL", FULL},
                       {"SliceEnd.DONE", DONE},
                       {"SliceEnd.GAVE_UP", GAVE_UP},
                       {"Count.CURSOR", CURSOR},
                       {"Count.DEPTH", DEPTH},
                       {"Count.NODES", NODES}});
    native::constants(module, "solvers.mip.heuristics.fix_and_propagate.strategy",
                      {{"Value.UP", UP},
                       {"Value.DOWN", DOWN},
                       {"Value.RANDOM", RANDOM},
                       {"Value.GOOD_OBJECTIVE", GOOD_OBJECTIVE},
                       {"Value.BAD_OBJECTIVE", BAD_OBJECTIVE},
                       {"Value.LOOSE", LOOSE},
                       {"Value.REFERENCE", REFERENCE},
                       {"Mode.DFS", DFS},
                       {"Mode.DIVE", DIVE},
                       {"Mode.DIVE_PROPAGATE", DIVE_PROPAGATE}});
}
