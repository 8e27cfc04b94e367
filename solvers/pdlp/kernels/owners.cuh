// What the owner of a row of A', that is a column, or of a row of A does with its product.

#pragma once

#include "sides.cuh"
#include "slices.cuh"

#define KEEP_FIRST 1
#define KEEP_LAST 2

// What all rows of one half iteration have in common. It is read again for each row, from the
// first-level cache: registers that held it were missing for threads.
struct Iteration {
    const REAL* control;
    int side;  // TAU or SIGMA
    int offset, keep;

    __device__ __forceinline__ REAL step() const { return control[side]; }

    // The Halpern average of the reflected point, the current point and the anchor.
    __device__ __forceinline__ REAL halpern(REAL current, REAL mirrored, REAL anchor) const {
        const REAL gamma = control[REFLECTION];
        const REAL k = control[ITERATIONS_SINCE_RESTART] + (REAL)offset;
        const REAL weight = (k + REAL(1)) / (k + REAL(2));
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

#define OTHERS 255  // the code of bounds that are read from where they are

// CODED bounds are read by their codes, and only once the product is known: threads that had asked
// for those that are not among the pairs before would hold registers for all.
template <class Side, bool CODED>
struct Owner {
    const Side side;
    const Iteration iteration;
    REAL current, anchor, cost, lower, upper, metric;
    unsigned char code;

    __device__ Owner(const Side& side, const Iteration& iteration)
        : side(side), iteration(iteration) {}

    __device__ __forceinline__ void prepare(INDEX row) {
        current = side.point[row];
        anchor = side.anchor[row];
        metric = side.metric[row];
        if constexpr (PRIMAL<Side>) cost = side.cost[row];
        if constexpr (CODED) {
            code = side.codes[row];
        } else {
            read_bounds(row);
        }
    }

    __device__ __forceinline__ void read_bounds(INDEX row) {
        lower = side.lower[row];
        upper = side.upper[row];
    }

    // Where the row's element goes.
    __device__ __forceinline__ Moved move(INDEX row, REAL product) {
        if constexpr (CODED) {
            if (code == OTHERS) {
                read_bounds(row);
            } else {
                lower = side.pairs[2 * code];
                upper = side.pairs[2 * code + 1];
            }
        }
        const REAL step = iteration.step() * metric;
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
        const Moved moved = move(row, products[0]);
        if constexpr (PRIMAL<Side>) side.reflected[row] = moved.mirrored;
        store(row, moved);
    }
};
