// Walkers that go on from other points, a block to a walker, threads over its columns and rows.

#include "restart.cuh"

__device__ __forceinline__ void restart(
    const Model& model, const Origins& from, REAL* values, REAL* cells, RECORDS_T* records,
    int walkers, int seed, int epoch) {
    const int walker = int(blockIdx.x), columns = model.columns, rows = model.rows;
    if (walker >= walkers || from.origins[walker] < 0) return;
    const int origin = int(from.origins[walker]);
    const bool follows = origin < walkers;
    Pair* own = (Pair*)values + (long long)walker * columns;
    const Pair* leader = (const Pair*)values + (long long)(follows ? origin : walker) * columns;
    const REAL* point = from.points + (long long)(follows ? 0 : origin - walkers) * columns;
    const Pair* heavy = (const Pair*)cells + (long long)(follows ? origin : walker) * rows;
    Pair* cell = (Pair*)cells + (long long)walker * rows;
    RECORDS_T* record = records + (long long)walker * RECORD;
    const RECORDS_T* other = records + (long long)(follows ? origin : walker) * RECORD;
    const Fresh fresh = {model, random_of(seed, walker, epoch), double(from.shares[walker]),
                         int(from.weights[walker]), double(record[JUMP]) > 0.0,
                         double(other[JUMP]) > 0.0};
    for (int j = int(threadIdx.x); j < columns; j += int(blockDim.x))
        own[j] = Pair{fresh.value_of(j, double(follows ? leader[j].first : point[j])), REAL(0)};
    for (int row = int(threadIdx.x); row < rows; row += int(blockDim.x))
        cell[row].second = fresh.weight_of(double(heavy[row].second), double(model.scales[row]));
    if (threadIdx.x == 0) fresh.set(record, double(other[OBJECTIVE_WEIGHT]));
}
