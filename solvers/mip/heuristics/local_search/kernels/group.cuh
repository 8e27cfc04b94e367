// The threads of a warp, which walk together, behind a few operations.
//
// All of them call each operation together. What comes back is the same for all of them except for
// rank(), so that branches on it are uniform. Sums are taken in an order that host.h follows on the
// CPU: a butterfly.

#pragma once

#include "model.cuh"

constexpr int LANES = 32;  // threads of a warp
constexpr unsigned ALL_LANES = 0xffffffffu;

struct Group {
    static constexpr int STRIDE = LANES;  // what one thread does not, the others do
    static constexpr int TOGETHER = LANES;
    static constexpr int FETCHED = 4;     // entries whose rows are fetched together
    int lane;

    __device__ void sync() const { __syncwarp(); }

    __device__ unsigned largest(unsigned value) const {
        return __reduce_max_sync(ALL_LANES, value);
    }

    // Lowest lane that raises its flag, or -1.
    __device__ int first(bool flag) const {
        return __ffs(int(__ballot_sync(ALL_LANES, flag))) - 1;
    }

    // Number of lower lanes that raise their flags; ``total`` counts all flags.
    __device__ int rank(bool flag, int& total) const {
        const unsigned raised = __ballot_sync(ALL_LANES, flag);
        total = __popc(raised);
        return __popc(raised & ((1u << lane) - 1u));
    }

    __device__ double sum(double value) const {
        for (int offset = 16; offset; offset >>= 1)
            value += __shfl_xor_sync(ALL_LANES, value, offset);
        return value;
    }

    __device__ double least(double value) const {
        for (int offset = 16; offset; offset >>= 1)
            value = fmin(value, __shfl_xor_sync(ALL_LANES, value, offset));
        return value;
    }

    __device__ long long count(long long value) const {
        for (int offset = 16; offset; offset >>= 1)
            value += __shfl_xor_sync(ALL_LANES, value, offset);
        return value;
    }

    // The value that lane ``source`` holds.
    template <class T>
    __device__ T from(int source, T value) const {
        return __shfl_sync(ALL_LANES, value, source);
    }

    // The sum over the lanes of what ``part`` (first, stride) returns, or, ``alone``, this lane's.
    template <class Part>
    __device__ Score total_score(bool alone, Part part) const {
        const Score own = part(alone ? 0 : lane, alone ? 1 : LANES);
        return alone ? own : Score{sum(own.progress), sum(own.bonus)};
    }

    template <class Part>
    __device__ double total(Part part) const { return sum(part(lane, LANES)); }

    // The same for the least.
    template <class Part>
    __device__ double least_of(bool alone, Part part) const {
        const double own = part(alone ? 0 : lane, alone ? 1 : LANES);
        return alone ? own : least(own);
    }

    // The rows of lanes that raise their flags, which go down, from the lowest lane on, and then -1.
    __device__ int next_of(int row, bool& flag, bool) const {
        const int source = first(flag);
        if (source < 0) return -1;
        const int found = from(source, row);
        if (lane == source) flag = false;
        return found;
    }

    // Lanes of which each looks at entries of its own, in their order.
    template <class Look>
    __device__ void each_lane(Look look) const { look(lane); }

    __device__ void poll() const {}
};

__device__ inline unsigned long long ordered(double value) {  // keeps the order of numbers
    const unsigned long long bits = (unsigned long long)__double_as_longlong(value);
    return (bits >> 63) ? ~bits : bits | 0x8000000000000000ull;
}

__device__ Choice best_of(const Group& group, const Choice& own) {
    bool active = own.tie != 0u;
    const unsigned long long progress = ordered(own.progress);
    const unsigned keys[5] = {unsigned(progress >> 32), unsigned(progress),
                              unsigned(int(own.bonus)) + 0x80000000u, ~own.stamp, own.tie};
    for (int place = 0; place < 5; ++place) {
        const unsigned top = group.largest(active ? keys[place] : 0u);
        active = active && keys[place] == top;
        if (place == 0 && top == 0u) return Choice{0.0, 0.0, 0u, -1, REAL(0), 0u};
    }
    const int source = group.first(active);
    return Choice{group.from(source, own.progress), 0.0, 1u, group.from(source, own.column),
                  REAL(group.from(source, double(own.value))), 0u};
}
