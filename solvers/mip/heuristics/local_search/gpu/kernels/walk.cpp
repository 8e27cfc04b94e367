// A slice of a few walkers' searches, each by one thread, with the bits of a warp's or a block's.
#include "host.h"

#include "native/threads.h"

namespace {

#include "candidates.cuh"

/// What walkers carry.
struct State {
    NumbersOut values, cells;
    IntsOut place, violated;
    NumbersOut kept, records;
};

void check_state(const Model &model, const State &state, std::int64_t walkers) {
    native::check_length("values", state.values.size(), 2 * model.columns * walkers);
    native::check_length("cells", state.cells.size(), 2 * model.rows * walkers);
    native::check_length("place", state.place.size(), model.rows * walkers);
    native::check_length("violated", state.violated.size(), model.rows * walkers);
    native::check_length("kept", state.kept.size(), model.columns * walkers);
    native::check_length("records", state.records.size(), RECORD * walkers);
}

template <int LANES>
void run_walker(const Model &model, const State &state, std::int64_t walker, int steps, int seed) {
    const std::int64_t columns = walker * model.columns, rows = walker * model.rows;
    Sample sample;
    Walker<Single<LANES>> one = {model,
                                 {},
                                 sample,
                                 random_of(seed, static_cast<int>(walker), 1),
                                 reinterpret_cast<Pair *>(state.values.data()) + columns,
                                 reinterpret_cast<Pair *>(state.cells.data()) + rows,
                                 state.place.data() + rows,
                                 state.violated.data() + rows,
                                 state.kept.data() + columns,
                                 state.records.data() + walker * RECORD};
    one.run(steps);
}

/// Make a slice of steps with groups of so many lanes.
template <int LANES>
void walk(int rows, int inequalities, int columns, int binaries, int integers, int objectives,
          Ints row_start, Ints row_column, Numbers row_value, Numbers sides, Numbers ranges,
          Numbers scales, Ints column_start, Ints column_row, Numbers column_value, Numbers bounds,
          Numbers costs, Ints objective_columns, NumbersOut values, NumbersOut cells, IntsOut place,
          IntsOut violated, NumbersOut kept, NumbersOut records, int walkers, int steps, int seed,
          int threads) {
    const Model model =
        model_of(rows, inequalities, columns, binaries, integers, objectives, row_start, row_column,
                 row_value, sides, ranges, scales, column_start, column_row, column_value, bounds,
                 costs, objective_columns);
    const State state = {values, cells, place, violated, kept, records};
    check_state(model, state, walkers);
    native::parallel_for(threads, walkers, [&](std::int64_t walker) {
        run_walker<LANES>(model, state, walker, steps, seed);
    });
}

} // namespace

NATIVE_MODULE(mip_heuristics_local_search_gpu_walk) {
    native::expose(module, "walk", &walk<32>);
    native::expose(module, "walk_wide", &walk<256>);
    NATIVE_CONSTANTS(module, "solvers.mip.heuristics.local_search.gpu.kernels.walk", RECORD, NONE,
                     TOLERANCE);
    NATIVE_CONSTANTS(module, "solvers.mip.heuristics.local_search.gpu.layout", LIFT_PATIENCE);
}
