// One walker that the whole GPU drives, many rounds in one launch; grid_walk.py has the algorithm.
//
// Blocks stay for all rounds and meet at barriers of the grid, two in most rounds. A warp is a
// team: it finds a violated row, scores up to 32 moves and makes the best if no other team wants
// one of its rows. The model and the state lie in global memory; slack and weight of a row are one
// pair, as are value and stamp of a column, so that an entry that is scored costs one sector.

#include "grid_rounds.cuh"

__device__ inline void smooth(const Walk& walk, int thread, int threads) {
    for (int row = thread; row < walk.model.rows; row += threads) smooth_row(walk, row);
}

__device__ inline void copy_point(const Walk& walk, int thread, int threads) {
    for (int j = thread; j < walk.model.columns; j += threads) walk.kept[j] = walk.values[j].first;
}

__device__ inline void play_round(Walk& walk, int thread, int threads) {
    const int warp = thread >> 5, warps = threads >> 5;
    walk.load_round();
    if (walk.control[SMOOTH]) {
        smooth(walk, thread, threads);
        meet(walk.control, Nothing());
    }
    if (walk.control[COPY]) copy_point(walk, thread, threads);
    for (int team = warp; team < walk.teams; team += warps) propose(walk, team);
    meet(walk.control, Nothing());
    if (walk.control[HUGE_USED]) {
        score_slots(walk, warp, warps);
        meet(walk.control, [&] { choose_slot(walk); });
    }
    if (walk.control[EXCLUSIVE] >= 0)
        settle_slot(walk, warp, warps);
    else
        for (int team = warp; team < walk.teams; team += warps) settle(walk, team);
    flush(walk);
    meet(walk.control, [&] { end_round(walk); });
}

// Keeps a better point in which the launch ends, also one that the next round would have copied.
__device__ inline void keep_last(Walk& walk, int thread, int threads) {
    if (walk.control[PENDING] || walk.control[COPY]) copy_point(walk, thread, threads);
    meet(walk.control, [&] {
        if (threadIdx.x || walk.control[PENDING] == 0) return;
        walk.record[BEST] = walk.record[OBJECTIVE];
        walk.record[KEPT] += 1.0;
        walk.control[PENDING] = 0;
    });
}

__device__ inline void run(Walk& walk, int steps) {
    const int thread = int(blockIdx.x) * BLOCK + int(threadIdx.x), threads = int(gridDim.x) * BLOCK;
    const bool anew = walk.record[REFRESH] > 0.0;
    const bool late = walk.record[STEP] - walk.record[ORIGIN] + double(steps) > CLOCK_LIMIT;
    walk.load_round();
    if (late) restart_clock(walk, thread, threads);
    if (anew) prepare_refresh(walk, thread, threads);
    meet(walk.control, [&] {
        if (threadIdx.x == 0 && late) walk.record[ORIGIN] = walk.record[STEP];
    });
    if (anew) {
        refresh(walk, thread, threads);
        meet(walk.control, [&] { end_refresh(walk); });
    }
    meet(walk.control, [&] { begin_rounds(walk); });
    for (int number = 0; number < steps && walk.control[DONE] == 0; ++number)
        play_round(walk, thread, threads);
    keep_last(walk, thread, threads);
}

__device__ __forceinline__ void walk_grid(
    const Model& model, const Lines& lines, const Carried& carried, const Round& round, int blocks,
    int steps, int seed) {
    __shared__ int tally[34];
    __shared__ Tree tree;
    if (threadIdx.x < 34) tally[threadIdx.x] = 0;
    if (threadIdx.x == 0) tree.shape((unsigned*)round.tree, model.rows);
    __syncthreads();
    Walk walk = walk_of(model, lines, carried, round, tree, seed);
    walk.tally = tally;
    run(walk, min(steps, int(CLOCK_LIMIT)));
}
