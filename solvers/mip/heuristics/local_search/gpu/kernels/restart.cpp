// Walkers that go on from other points, as restart.cu has them.
#include "host.h"

#include "native/threads.h"

namespace {

#include "restart.cuh"

/// Set walkers to the points they shall go on from.
void restart(int rows, int columns, int binaries, int integers, Numbers bounds, Numbers scales,
             Numbers points, Ints origins, Ints weights, Numbers shares, NumbersOut values,
             NumbersOut cells, NumbersOut records, int walkers, int seed, int epoch, int threads) {
    native::check_length("bounds", bounds.size(), 2 * std::int64_t(columns));
    native::check_length("scales", scales.size(), rows);
    native::check_length("origins", origins.size(), walkers);
    native::check_length("weights", weights.size(), walkers);
    native::check_length("shares", shares.size(), walkers);
    native::check_length("values", values.size(), 2 * std::int64_t(columns) * walkers);
    native::check_length("cells", cells.size(), 2 * std::int64_t(rows) * walkers);
    native::check_length("records", records.size(), RECORD * std::int64_t(walkers));
    native::parallel_for(threads, walkers, [&](std::int64_t walker) {
        const std::int64_t origin = origins[walker];
        if (origin < 0)
            return;
        const bool follows = origin < walkers;
        const std::int64_t leader = follows ? origin : walker;
        const NumbersOut record = records.part(RECORD * walker, RECORD * (walker + 1));
        const NumbersOut other = records.part(RECORD * leader, RECORD * (leader + 1));
        const Fresh fresh = {columns,
                             binaries,
                             integers,
                             bounds.data(),
                             random_of(seed, static_cast<int>(walker), epoch),
                             shares[walker],
                             weights[walker],
                             record[JUMP] > 0.0,
                             other[JUMP] > 0.0};
        for (std::int64_t j = 0; j < columns; ++j) {
            const REAL value = follows ? values[2 * (columns * origin + j)]
                                       : points[columns * (origin - walkers) + j];
            values[2 * (columns * walker + j)] = fresh.value_of(static_cast<int>(j), value);
            values[2 * (columns * walker + j) + 1] = 0.0;
        }
        for (std::int64_t row = 0; row < rows; ++row)
            cells[2 * (rows * walker + row) + 1] =
                fresh.weight_of(cells[2 * (rows * leader + row) + 1], scales[row]);
        fresh.set(record.data(), other[OBJECTIVE_WEIGHT]);
    });
}

} // namespace

NATIVE_MODULE(mip_heuristics_local_search_gpu_restart) { NATIVE_KERNELS(module, restart); }
