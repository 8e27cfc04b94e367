// Walkers that go on from other points, a block to a walker, threads over its columns and rows.

#include "restart.cuh"

extern "C" __global__ void __launch_bounds__(256) restart(
    int rows, int columns, int binaries, int integers, const REAL* __restrict__ bounds,
    const REAL* __restrict__ scales, const REAL* __restrict__ points,
    const INDEX* __restrict__ origins, const INDEX* __restrict__ weights,
    const REAL* __restrict__ shares, REAL* __restrict__ values, REAL* __restrict__ cells,
    RECORDS_T* __restrict__ records, int walkers, int seed, int epoch) {
    const int walker = int(blockIdx.x);
    if (walker >= walkers || origins[walker] < 0) return;
    const int origin = int(origins[walker]);
    const bool follows = origin < walkers;
    Pair* own = (Pair*)values + (long long)walker * columns;
    const Pair* leader = (const Pair*)values + (long long)(follows ? origin : walker) * columns;
    const REAL* point = points + (long long)(follows ? 0 : origin - walkers) * columns;
    const Pair* heavy = (const Pair*)cells + (long long)(follows ? origin : walker) * rows;
    Pair* cell = (Pair*)cells + (long long)walker * rows;
    RECORDS_T* record = records + (long long)walker * RECORD;
    const RECORDS_T* other = records + (long long)(follows ? origin : walker) * RECORD;
    const Fresh fresh = {columns, binaries, integers, bounds, random_of(seed, walker, epoch),
                         double(shares[walker]), int(weights[walker]),
                         double(record[JUMP]) > 0.0, double(other[JUMP]) > 0.0};
    for (int j = int(threadIdx.x); j < columns; j += int(blockDim.x))
        own[j] = Pair{fresh.value_of(j, double(follows ? leader[j].first : point[j])), REAL(0)};
    for (int row = int(threadIdx.x); row < rows; row += int(blockDim.x))
        cell[row].second = fresh.weight_of(double(heavy[row].second), double(scales[row]));
    if (threadIdx.x == 0) fresh.set(record, double(other[OBJECTIVE_WEIGHT]));
}
