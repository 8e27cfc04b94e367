// The whole GPU's walker by one thread: the same rounds, one team after the other.
#include "grid_round.h"

namespace {

inline double warp_activity(const Walk &walk, int begin, int end) {
    double parts[LANES];
    for (int lane = 0; lane < LANES; ++lane)
        parts[lane] = activity(walk, begin + lane, end, LANES);
    return lane_sum(parts, LANES);
}

/// A row's activity, summed by a lane, a warp, or chunk by chunk.
inline double row_activity(const Walk &walk, int row) {
    const int begin = walk.model.row_start[row], end = walk.model.row_start[row + 1];
    if (end - begin <= LANE_ROW)
        return activity(walk, begin, end, 1);
    if (end - begin <= CHUNK)
        return warp_activity(walk, begin, end);
    double parts[LANES] = {};
    for (int chunk = 0; begin + chunk * CHUNK < end; ++chunk) {
        const int first = begin + chunk * CHUNK;
        parts[chunk % LANES] += warp_activity(walk, first, smaller(first + CHUNK, end));
    }
    return lane_sum(parts, LANES);
}

inline void empty_claims(const Walk &walk) {
    std::fill(walk.claims, walk.claims + walk.model.rows, 0);
}

/// The objective, in the order in which a grid adds it.
inline double objective_of(const Walk &walk) {
    double parts[BLOCK] = {};
    for (int piece = 0; piece < PIECES; ++piece) {
        double part = 0.0;
        for (int j = piece; j < walk.model.columns; j += PIECES)
            part += walk.model.costs[j] * walk.values[j].first;
        parts[piece % BLOCK] += part;
    }
    return lane_sum(parts, BLOCK);
}

/// Compute slack, violated rows and objective anew from the values.
void refresh(const Walk &walk) {
    empty_claims(walk);
    std::fill(walk.tree->nodes, walk.tree->nodes + walk.tree->size, 0);
    for (int row = 0; row < walk.model.rows; ++row) {
        const REAL slack = walk.model.sides[row] - row_activity(walk, row);
        walk.cells[row].first = slack;
        if (violation(slack, walk.range(row)) > 0.0)
            tree_change(*walk.tree, row, true);
    }
    walk.record[OBJECTIVE] = objective_of(walk);
    walk.record[REFRESH] = 0.0;
}

void restart_clock(const Walk &walk) {
    for (int j = 0; j < walk.model.columns; ++j)
        walk.values[j].second = 0.0;
    empty_claims(walk);
    walk.record[ORIGIN] = walk.record[STEP];
}

void run(Walk &walk, int steps) {
    walk.load_round();
    if (walk.record[STEP] - walk.record[ORIGIN] + double(steps) > CLOCK_LIMIT)
        restart_clock(walk);
    if (walk.record[REFRESH] > 0.0)
        refresh(walk);
    empty_slots(walk);
    open_rounds(walk, tree_count(*walk.tree));
    for (int number = 0; number < steps && walk.control[DONE] == 0; ++number) {
        native::poll();
        play_round(walk);
    }
    if (walk.control[PENDING] || walk.control[COPY])
        copy_point(walk);
    if (walk.control[PENDING] == 0)
        return;
    walk.record[BEST] = walk.record[OBJECTIVE];
    walk.record[KEPT] += 1.0;
    walk.control[PENDING] = 0;
}

/// Make a slice of rounds.
void walk_grid(const Model &model, const Lines &lines, const Carried &carried, const Round &round,
               int, int steps, int seed, int) {
    check_model(model);
    const std::int64_t rows = model.rows, columns = model.columns, teams = round.teams;
    native::check_length("long_rows", lines.long_rows.size(), lines.long_count);
    native::check_length("shared_rows", lines.shared_rows.size(), lines.shared_count);
    native::check_length("values", carried.values.size(), 2 * columns);
    native::check_length("cells", carried.cells.size(), 2 * rows);
    native::check_length("kept", carried.kept.size(), columns);
    native::check_length("records", carried.records.size(), PATIENCE + 1);
    native::check_length("claims", round.claims.size(), rows);
    native::check_length("moves", round.moves.size(), MOVE * teams);
    native::check_length("slots", round.slots.size(), MOVE * SLOTS);
    native::check_length("shares", round.shares.size(), lines.shared_count * teams);
    native::check_length("control", round.control.size(), GENERATION + 1);
    const Tree tree = check_tree(round.tree, model.rows);
    Walk walk = walk_of(model, lines, carried, round, tree, seed);
    run(walk, std::min(steps, static_cast<int>(CLOCK_LIMIT)));
}

/// Turn rows of a tree round one after the other; list those that are then violated, and return
/// how many they are.
int turn_rows(IntsOut nodes, int rows, Ints changed, IntsOut violated) {
    const Tree tree = check_tree(nodes, rows);
    for (const INDEX row : changed)
        tree_change(tree, row, ((tree.nodes[row >> 5] >> (row & 31)) & 1u) == 0);
    const int count = tree_count(tree);
    native::check_length("violated", violated.size(), count);
    for (int rank = 0; rank < count; ++rank)
        violated[rank] = tree_find(tree, rank);
    return count;
}

} // namespace

NATIVE_STRUCT(Lines, long_rows, long_count, shared_rows, shared_count, row_chunks, column_chunks)
NATIVE_STRUCT(Carried, values, cells, kept, records)
NATIVE_STRUCT(Round, tree, claims, moves, slots, partials, shares, control, teams)

NATIVE_MODULE(mip_heuristics_local_search_grid_walk) {
    native::expose(module, "turn_rows", &turn_rows, "nodes", "rows", "changed", "violated");
    NATIVE_CONSTANTS(module, "solvers.mip.heuristics.local_search.kernels.grid_walk", CHUNK, SLOTS,
                     MOVE, PIECES);
    NATIVE_KERNELS(module, walk_grid);
}
