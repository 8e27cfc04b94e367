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
