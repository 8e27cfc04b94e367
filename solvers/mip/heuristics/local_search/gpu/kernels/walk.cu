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
__device__ __forceinline__ void walk_together(
    const Model& model, const Carried& carried, int walkers, int steps, int seed) {
    __shared__ Sample sample;
    __shared__ Mailbox<LANES> mail;
    const int walker = int(blockIdx.x);
    if (walker >= walkers) return;
    const Group<LANES> group = {int(threadIdx.x), &mail};
    walker_of(model, carried, walker, seed, group, sample).run(steps);
}

__device__ __forceinline__ void walk(
    const Model& model, const Carried& carried, int walkers, int steps, int seed) {
    walk_together<WARP>(model, carried, walkers, steps, seed);
}

__device__ __forceinline__ void walk_wide(
    const Model& model, const Carried& carried, int walkers, int steps, int seed) {
    walk_together<BLOCK>(model, carried, walkers, steps, seed);
}
