// A slice of a few walkers' searches and their restarts, each by one thread, with a warp's bits.
#include "host.h"

#include "native/threads.h"

namespace {

#include "launch.cuh"

void check_carried(const Model &model, const Carried &carried, std::int64_t walkers) {
    native::check_length("values", carried.values.size(), 2 * model.columns * walkers);
    native::check_length("cells", carried.cells.size(), 2 * model.rows * walkers);
    native::check_length("place", carried.place.size(), model.rows * walkers);
    native::check_length("violated", carried.violated.size(), model.rows * walkers);
    native::check_length("kept", carried.kept.size(), model.columns * walkers);
    native::check_length("records", carried.records.size(), RECORD * walkers);
}

/// Make a slice of steps.
void walk(const Model &model, const Carried &carried, int walkers, int steps, int seed,
          int threads) {
    check_model(model);
    check_carried(model, carried, walkers);
    native::parallel_for(threads, walkers, [&](std::int64_t walker) {
        Sample sample;
        walker_of(model, carried, static_cast<int>(walker), seed, Single(), sample).run(steps);
    });
}

/// Set walkers to the points they shall go on from.
void restart(const Model &model, const Origins &from, NumbersOut values, NumbersOut cells,
             NumbersOut records, int walkers, int seed, int number, int threads) {
    check_model(model);
    const std::int64_t rows = model.rows, columns = model.columns;
    native::check_length("origins", from.origins.size(), walkers);
    native::check_length("weights", from.weights.size(), walkers);
    native::check_length("shares", from.shares.size(), walkers);
    native::check_length("values", values.size(), 2 * columns * walkers);
    native::check_length("cells", cells.size(), 2 * rows * walkers);
    native::check_length("records", records.size(), RECORD * std::int64_t(walkers));
    native::parallel_for(threads, walkers, [&](std::int64_t walker) {
        const std::int64_t origin = from.origins[walker];
        if (origin < 0)
            return;
        const bool follows = origin < walkers;
        const std::int64_t leader = follows ? origin : walker;
        const NumbersOut record = records.part(RECORD * walker, RECORD * (walker + 1));
        const NumbersOut other = records.part(RECORD * leader, RECORD * (leader + 1));
        const Fresh fresh = {model,
                             random_of(seed, static_cast<int>(walker), number),
                             from.shares[walker],
                             from.weights[walker],
                             record[JUMP] > 0.0,
                             other[JUMP] > 0.0};
        for (std::int64_t j = 0; j < columns; ++j) {
            const REAL value = follows ? values[2 * (columns * origin + j)]
                                       : from.points[columns * (origin - walkers) + j];
            values[2 * (columns * walker + j)] = fresh.value_of(static_cast<int>(j), value);
            values[2 * (columns * walker + j) + 1] = 0.0;
        }
        for (std::int64_t row = 0; row < rows; ++row)
            cells[2 * (rows * walker + row) + 1] =
                fresh.weight_of(cells[2 * (rows * leader + row) + 1], model.scales[row]);
        fresh.set(record.data(), other[OBJECTIVE_WEIGHT]);
    });
}

} // namespace

NATIVE_STRUCT(Origins, points, origins, weights, shares)
NATIVE_STRUCT(Carried, values, cells, place, violated, kept, records)

NATIVE_MODULE(mip_heuristics_local_search_walk) {
    NATIVE_KERNELS(module, walk, restart);
    NATIVE_CONSTANTS(module, "solvers.mip.heuristics.local_search.kernels.walk", RECORD, NONE,
                     TOLERANCE);
    NATIVE_CONSTANTS(module, "solvers.mip.heuristics.local_search.layout", LIFT_PATIENCE);
}
