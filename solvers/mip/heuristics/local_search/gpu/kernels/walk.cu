// A slice of many walkers' searches: a walker to a warp, or to a block; walk.py has the algorithm.
//
// The model's arrays are shared by all walkers and stay in the L2 cache as far as they fit. A
// walker's own state stands together in global memory; slack and weight of a row are one pair, as
// are value and stamp of a column, so that an entry that is scored costs one sector of state. What
// decides branches is the same for all lanes of a walker.

#include "group.cuh"
#include "candidates.cuh"

constexpr int WARP = 32, BLOCK = 256;

template <int LANES>
__device__ void run_walker(int walker, int steps, int seed, const Model& model, Sample& sample,
                           Mailbox<LANES>& mail, REAL* values, REAL* cells, INDEX* place,
                           INDEX* violated, REAL* kept, RECORDS_T* records) {
    const long long columns = (long long)walker * model.columns;
    const long long rows = (long long)walker * model.rows;
    const Group<LANES> group = {int(threadIdx.x), &mail};
    Walker<Group<LANES>> state = {model, group, sample, random_of(seed, walker, 1),
                                  (Pair*)values + columns, (Pair*)cells + rows, place + rows,
                                  violated + rows, kept + columns,
                                  records + (long long)walker * RECORD};
    state.run(steps);
}

extern "C" __global__ void __launch_bounds__(WARP) walk(
    int rows, int inequalities, int columns, int binaries, int integers, int objectives,
    const INDEX* __restrict__ row_start, const INDEX* __restrict__ row_column,
    const REAL* __restrict__ row_value, const REAL* __restrict__ sides,
    const REAL* __restrict__ ranges, const REAL* __restrict__ scales,
    const INDEX* __restrict__ column_start, const INDEX* __restrict__ column_row,
    const REAL* __restrict__ column_value, const REAL* __restrict__ bounds,
    const COSTS_T* __restrict__ costs, const INDEX* __restrict__ objective_columns,
    REAL* __restrict__ values,
    REAL* __restrict__ cells, INDEX* __restrict__ place, INDEX* __restrict__ violated,
    REAL* __restrict__ kept, RECORDS_T* __restrict__ records, int walkers, int steps, int seed) {
    __shared__ Sample sample;
    __shared__ Mailbox<WARP> mail;
    const Model model = {rows, inequalities, columns, binaries, integers, objectives,
                         row_start, row_column, row_value, sides, ranges, scales, column_start,
                         column_row, column_value, (const Pair*)bounds, costs, objective_columns};
    if (int(blockIdx.x) < walkers)
        run_walker<WARP>(blockIdx.x, steps, seed, model, sample, mail, values, cells, place,
                         violated, kept, records);
}

extern "C" __global__ void __launch_bounds__(BLOCK) walk_wide(
    int rows, int inequalities, int columns, int binaries, int integers, int objectives,
    const INDEX* __restrict__ row_start, const INDEX* __restrict__ row_column,
    const REAL* __restrict__ row_value, const REAL* __restrict__ sides,
    const REAL* __restrict__ ranges, const REAL* __restrict__ scales,
    const INDEX* __restrict__ column_start, const INDEX* __restrict__ column_row,
    const REAL* __restrict__ column_value, const REAL* __restrict__ bounds,
    const COSTS_T* __restrict__ costs, const INDEX* __restrict__ objective_columns,
    REAL* __restrict__ values,
    REAL* __restrict__ cells, INDEX* __restrict__ place, INDEX* __restrict__ violated,
    REAL* __restrict__ kept, RECORDS_T* __restrict__ records, int walkers, int steps, int seed) {
    __shared__ Sample sample;
    __shared__ Mailbox<BLOCK> mail;
    const Model model = {rows, inequalities, columns, binaries, integers, objectives,
                         row_start, row_column, row_value, sides, ranges, scales, column_start,
                         column_row, column_value, (const Pair*)bounds, costs, objective_columns};
    if (int(blockIdx.x) < walkers)
        run_walker<BLOCK>(blockIdx.x, steps, seed, model, sample, mail, values, cells, place,
                          violated, kept, records);
}
