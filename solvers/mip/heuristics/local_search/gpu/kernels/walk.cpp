// A slice of a few walkers' searches, each by one thread, with the bits of a warp's.
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

} // namespace

NATIVE_STRUCT(Carried, values, cells, place, violated, kept, records)

NATIVE_MODULE(mip_heuristics_local_search_gpu_walk) {
    NATIVE_KERNELS(module, walk);
    NATIVE_CONSTANTS(module, "solvers.mip.heuristics.local_search.gpu.kernels.walk", RECORD, NONE,
                     TOLERANCE);
    NATIVE_CONSTANTS(module, "solvers.mip.heuristics.local_search.gpu.layout", LIFT_PATIENCE);
}
