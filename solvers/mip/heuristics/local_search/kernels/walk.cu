// A slice of many walkers' searches, a walker to a warp; walk.py has the algorithm.
//
// The model's arrays are shared by all walkers and stay in the L2 cache as far as they fit. A
// walker's own state stands together in global memory; slack and weight of a row are one pair, as
// are value and stamp of a column, so that an entry that is scored costs one sector of state. What
// decides branches is the same for all lanes of a walker.

#include "group.cuh"
#include "launch.cuh"

__device__ __forceinline__ void walk(
    const Model& model, const Carried& carried, int walkers, int steps, int seed) {
    __shared__ Sample sample;
    const int walker = int(blockIdx.x);
    if (walker < walkers)
        walker_of(model, carried, walker, seed, Group{int(threadIdx.x)}, sample).run(steps);
}

// Walkers go on from other points, a block to a walker, threads over its columns and rows.
__device__ __forceinline__ void restart(
    const Model& model, const Origins& from, REAL* values, REAL* cells, RECORDS_T* records,
    int walkers, int seed, int number) {
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
    const Fresh fresh = {model, random_of(seed, walker, number), double(from.shares[walker]),
                         int(from.weights[walker]), double(record[JUMP]) > 0.0,
                         double(other[JUMP]) > 0.0};
    for (int j = int(threadIdx.x); j < columns; j += int(blockDim.x))
        own[j] = Pair{fresh.value_of(j, double(follows ? leader[j].first : point[j])), REAL(0)};
    for (int row = int(threadIdx.x); row < rows; row += int(blockDim.x))
        cell[row].second = fresh.weight_of(double(heavy[row].second), double(model.scales[row]));
    if (threadIdx.x == 0) fresh.set(record, double(other[OBJECTIVE_WEIGHT]));
}
