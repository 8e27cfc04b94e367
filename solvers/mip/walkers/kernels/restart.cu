// Walkers that go on from other points, a block to a walker, threads over its columns and rows.

#include "record.cuh"
#include "pair.cuh"

__device__ inline double part_of(unsigned draw) { return double(draw) / 4294967296.0; }

extern "C" __global__ void __launch_bounds__(256) restart(
    int rows, int columns, int binaries, int integers, const REAL* __restrict__ bounds,
    const REAL* __restrict__ scales, const REAL* __restrict__ points, const INDEX* __restrict__ origins,
    const INDEX* __restrict__ weights, const REAL* __restrict__ shares, REAL* __restrict__ values,
    REAL* __restrict__ cells, RECORDS_T* __restrict__ records, int walkers, int seed, int epoch) {
    const int walker = int(blockIdx.x);
    if (walker >= walkers || origins[walker] < 0) return;
    const int origin = int(origins[walker]);
    const bool follows = origin < walkers;
    Pair* own = (Pair*)values + (long long)walker * columns;
    const Pair* leader = (const Pair*)values + (long long)(follows ? origin : walker) * columns;
    const REAL* point = points + (long long)(follows ? 0 : origin - walkers) * columns;
    const unsigned long long name =
        ((unsigned long long)(unsigned)seed << 32) | (unsigned long long)walker;
    const Random random = {mix(name + (unsigned long long)(unsigned)epoch * 0x9e3779b97f4a7c15ull)};
    const double share = double(shares[walker]);
    for (int j = int(threadIdx.x); j < columns; j += int(blockDim.x)) {
        double value = double(follows ? leader[j].first : point[j]);
        if (random.chance(j, 0, share)) {
            const double low = double(bounds[2 * (long long)j]);
            const double high = double(bounds[2 * (long long)j + 1]);
            if (j < binaries) {
                value = 1.0 - value;
            } else {
                const double reach = fmin(__dadd_rn(high, -low), fmax(1.0, __dmul_rn(0.2, fabs(value))));
                const double turn = __dadd_rn(__dmul_rn(2.0, part_of(random.draw(j, 1))), -1.0);
                value = __dadd_rn(value, __dmul_rn(turn, reach));
                if (j < integers) value = turn > 0.0 ? ceil(value) : floor(value);
                value = fmin(fmax(value, low), high);
            }
        }
        own[j] = Pair{REAL(value), REAL(0)};
    }
    const Pair* heavy = (const Pair*)cells + (long long)(follows ? origin : walker) * rows;
    Pair* cell = (Pair*)cells + (long long)walker * rows;
    RECORDS_T* record = records + (long long)walker * RECORD;
    const RECORDS_T* other = records + (long long)(follows ? origin : walker) * RECORD;
    const bool jumps = double(record[JUMP]) > 0.0, others = double(other[JUMP]) > 0.0;
    for (int row = int(threadIdx.x); row < rows; row += int(blockDim.x)) {
        const double scale = double(scales[row]);
        double weight = 1.0;
        if (weights[walker] != 0) weight = double(heavy[row].second) / (others ? scale : 1.0);
        if (weights[walker] == 2) weight = fmax(1.0, floor(0.5 * weight));
        cell[row].second = REAL(__dmul_rn(weight, jumps ? scale : 1.0));
    }
    if (threadIdx.x == 0) {
        record[REFRESH] = (RECORDS_T)(1);
        record[ORIGIN] = record[STEP];
        record[IDLE] = (RECORDS_T)(0);
        record[LAST] = (RECORDS_T)(columns);
        record[BEST] = (RECORDS_T)(NONE);
        const double least = jumps ? 0.0 : 1.0;
        double weight = double(other[OBJECTIVE_WEIGHT]);
        if (weights[walker] == 0) weight = least;
        if (weights[walker] == 2) weight = floor(0.5 * weight);
        record[OBJECTIVE_WEIGHT] = (RECORDS_T)(fmax(least, weight));
    }
}
