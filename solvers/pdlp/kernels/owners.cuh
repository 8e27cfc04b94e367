// What the owner of a row of A', that is a column, or of a row of A does with its product.

#pragma once

#include "sides.cuh"
#include "slices.cuh"

#define KEEP_FIRST 1
#define KEEP_LAST 2

// What all rows of one half iteration have in common.
struct Iteration {
    REAL step;     // tau or sigma
    REAL gamma;    // reflection
    REAL weight;   // of the new point against the anchor
    int keep;

    __device__ Iteration(const REAL* control, int side, int offset, int keep) : keep(keep) {
        const REAL k = __ldcg(control + ITERATIONS_SINCE_RESTART) + (REAL)offset;
        step = __ldcg(control + side);
        gamma = __ldcg(control + REFLECTION);
        weight = (k + REAL(1)) / (k + REAL(2));
    }

    // The Halpern average of the reflected point, the current point and the anchor.
    __device__ __forceinline__ REAL halpern(REAL current, REAL mirrored, REAL anchor) const {
        const REAL relaxed = gamma * mirrored + (REAL(1) - gamma) * current;
        return weight * relaxed + (REAL(1) - weight) * anchor;
    }
};

__device__ __forceinline__ REAL between(REAL low, REAL value, REAL high) {
    return value < low ? low : (value > high ? high : value);
}

template <class Side> constexpr bool PRIMAL = false;
template <> constexpr bool PRIMAL<ColumnSide> = true;

// An element after half an iteration: projected, reflected, and averaged.
struct Moved {
    REAL projected, mirrored, point;
};

template <class Side>
struct Owner {
    const Side side;
    const Iteration iteration;
    REAL current, anchor, cost, lower, upper, metric;

    __device__ Owner(const Side& side, const Iteration& iteration)
        : side(side), iteration(iteration) {}

    __device__ __forceinline__ void prepare(INDEX row) {
        current = side.point[row];
        anchor = side.anchor[row];
        lower = side.lower[row];
        upper = side.upper[row];
        metric = side.metric[row];
        if constexpr (PRIMAL<Side>) cost = side.cost[row];
    }

    // Where the row's element goes.
    __device__ __forceinline__ Moved move(REAL product) const {
        const REAL step = iteration.step * metric;
        Moved moved;
        if constexpr (PRIMAL<Side>) {
            moved.projected = between(lower, current - step * (cost - product), upper);
        } else {
            const REAL free_step = current - step * product;
            moved.projected = free_step - between(-step * upper, free_step, -step * lower);
        }
        moved.mirrored = REAL(2) * moved.projected - current;
        moved.point = iteration.halpern(current, moved.mirrored, anchor);
        return moved;
    }

    __device__ __forceinline__ void store(INDEX row, const Moved& moved) const {
        side.point[row] = moved.point;
        if (iteration.keep & KEEP_FIRST) side.first_difference[row] = moved.mirrored - current;
        if (iteration.keep & KEEP_LAST) {
            side.projection[row] = moved.projected;
            side.difference[row] = moved.mirrored - current;
        }
    }

    __device__ __forceinline__ void finish(INDEX row, const REAL (&products)[1]) {
        const Moved moved = move(products[0]);
        if constexpr (PRIMAL<Side>) side.reflected[row] = moved.mirrored;
        store(row, moved);
    }
};
