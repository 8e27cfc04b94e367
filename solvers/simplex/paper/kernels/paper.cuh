// What the kernels of the paper's solver share; layout.py explains the places of control.

#pragma once

enum Place {
    STOP, PHASE, ITERATION, LIMIT, SINCE_INVERSE, ENTERING, ENTERING_COST, ENTERING_WEIGHT,
    LEAVING, STEP, PIVOT, COSTS_MOVED, DUAL_ERROR, BLAND, DUAL_TOLERANCE, PRIMAL_TOLERANCE,
    ZERO_PIVOT, SAFE_PIVOT, ERROR_ALLOWED, DEGENERATE
};

enum Stop { RUNNING, NO_CANDIDATE, NO_RATIO, INACCURATE, SMALL_PIVOT, BATCH_DONE };

constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / 32;
constexpr int SLOTS = 3;

__device__ inline bool first_thread() { return blockIdx.x == 0 && threadIdx.x == 0; }

__device__ inline bool stopped(const REAL* control) {
    return control[STOP] != REAL(RUNNING);
}

__device__ inline REAL magnitude(REAL value) { return value < REAL(0) ? -value : value; }

// Sum over neighbouring threads, a power of two of them up to 32; all get the result. The whole
// warp must call it.
__device__ inline REAL team_sum(REAL value, int team) {
    for (int distance = 16; distance > 0; distance >>= 1) {
        const REAL other = __shfl_xor_sync(0xffffffffu, value, distance);
        if (distance < team) value += other;
    }
    return value;
}

__device__ inline REAL block_sum(REAL value) {
    __shared__ REAL of_warp[WARPS];
    value = team_sum(value, 32);
    if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x >> 5] = value;
    __syncthreads();
    value = REAL(0);
    for (int warp = 0; warp < WARPS; ++warp) value += of_warp[warp];
    __syncthreads();  // the next call may write of_warp at once
    return value;
}

// A candidate: larger `key` wins, and among equals the smaller `index`; -1 stands for none.
struct Choice {
    REAL key;
    INDEX index;
    __device__ inline void take(REAL other_key, INDEX other_index) {
        if (other_index < 0) return;
        if (index < 0 || other_key > key || (other_key == key && other_index < index)) {
            key = other_key;
            index = other_index;
        }
    }
};

__device__ inline Choice block_best(Choice mine) {
    __shared__ REAL keys[WARPS];
    __shared__ INDEX indices[WARPS];
    for (int distance = 16; distance > 0; distance >>= 1) {
        const REAL key = __shfl_xor_sync(0xffffffffu, mine.key, distance);
        const INDEX index = __shfl_xor_sync(0xffffffffu, mine.index, distance);
        mine.take(key, index);
    }
    if ((threadIdx.x & 31) == 0) {
        keys[threadIdx.x >> 5] = mine.key;
        indices[threadIdx.x >> 5] = mine.index;
    }
    __syncthreads();
    for (int warp = 0; warp < WARPS; ++warp) mine.take(keys[warp], indices[warp]);
    __syncthreads();
    return mine;
}

__device__ inline REAL block_max(REAL value) {
    __shared__ REAL of_warp[WARPS];
    for (int distance = 16; distance > 0; distance >>= 1) {
        const REAL other = __shfl_xor_sync(0xffffffffu, value, distance);
        value = other > value ? other : value;
    }
    if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x >> 5] = value;
    __syncthreads();
    for (int warp = 0; warp < WARPS; ++warp) value = of_warp[warp] > value ? of_warp[warp] : value;
    __syncthreads();
    return value;
}

// Best of what the blocks of the last kernel left: (key, index, ...) in SLOTS numbers each.
__device__ inline Choice best_of_parts(const REAL* __restrict__ parts, int count) {
    Choice mine = {REAL(0), -1};
    for (int part = threadIdx.x; part < count; part += BLOCK) {
        mine.take(parts[SLOTS * part], (INDEX)parts[SLOTS * part + 1]);
    }
    return block_best(mine);
}

// Where the ratio test finds the bound of a basic variable: the step to it, and how far the
// tolerance lets the step go. Variables are non-negative, artificials (index >= columns) zero. One
// that is infeasible blocks where it becomes feasible, or not at all if it gets worse.
struct Ratio {
    REAL exact, relaxed;
    bool blocks;
};

__device__ inline Ratio ratio_of(REAL x, REAL d, bool artificial, const REAL* control) {
    const REAL tolerance = control[PRIMAL_TOLERANCE];
    const REAL allowed = control[BLAND] != REAL(0) ? REAL(0) : tolerance;
    Ratio ratio = {REAL(0), REAL(0), false};
    REAL room = REAL(0);
    if (d > control[ZERO_PIVOT]) {
        ratio.blocks = x >= -tolerance;
        room = x;
    } else if (d < -control[ZERO_PIVOT]) {
        ratio.blocks = x < -tolerance || (artificial && x <= tolerance);
        room = -x;
    }
    if (!ratio.blocks) return ratio;
    room = room > REAL(0) ? room : REAL(0);
    ratio.exact = room / magnitude(d);
    ratio.relaxed = (room + allowed) / magnitude(d);
    return ratio;
}

// The cost of a basic variable in phase 1: the gradient of the sum of infeasibilities.
__device__ inline REAL infeasibility_cost(REAL x, bool artificial, REAL tolerance) {
    if (x < -tolerance) return REAL(-1);
    return artificial && x > tolerance ? REAL(1) : REAL(0);
}
