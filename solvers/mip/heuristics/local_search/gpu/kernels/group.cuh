// Threads that walk together: a warp, or a block of several warps, behind the same few operations.
//
// All threads of a group call each operation together. What comes back is the same for all of
// them except for rank(), so that branches on it are uniform. Sums are taken in an order that
// host.h follows on the CPU: a butterfly within each warp, then warp after warp.

#pragma once

#include "model.cuh"

constexpr unsigned ALL_LANES = 0xffffffffu;

template <int LANES>
struct Mailbox {  // shared memory of a group of several warps
    double numbers[LANES / 32];
    long long counts[LANES / 32];
    unsigned words[LANES / 32];
};

template <int LANES>
struct Group {
    static constexpr int WARPS = LANES / 32;
    static constexpr int STRIDE = LANES;  // what one thread does not, the others do
    static constexpr int TOGETHER = LANES;
    static constexpr int FETCHED = 4;     // entries whose rows are fetched together
    int lane;
    Mailbox<LANES>* mail;

    __device__ void sync() const {
        if constexpr (WARPS == 1) __syncwarp();
        else __syncthreads();
    }

    __device__ unsigned largest(unsigned value) const {
        value = __reduce_max_sync(ALL_LANES, value);
        if constexpr (WARPS > 1) {
            if ((lane & 31) == 0) mail->words[lane >> 5] = value;
            __syncthreads();
            for (int warp = 0; warp < WARPS; ++warp)
                if (mail->words[warp] > value) value = mail->words[warp];
            __syncthreads();
        }
        return value;
    }

    // Lowest lane that raises its flag, or -1.
    __device__ int first(bool flag) const {
        const unsigned raised = __ballot_sync(ALL_LANES, flag);
        if constexpr (WARPS == 1) return __ffs(int(raised)) - 1;
        if ((lane & 31) == 0) mail->words[lane >> 5] = raised;
        __syncthreads();
        int found = -1;
        for (int warp = WARPS - 1; warp >= 0; --warp)
            if (mail->words[warp]) found = 32 * warp + __ffs(int(mail->words[warp])) - 1;
        __syncthreads();
        return found;
    }

    // Number of lower lanes that raise their flags; ``total`` counts all flags.
    __device__ int rank(bool flag, int& total) const {
        const unsigned raised = __ballot_sync(ALL_LANES, flag);
        int below = __popc(raised & ((1u << (lane & 31)) - 1u));
        total = __popc(raised);
        if constexpr (WARPS > 1) {
            if ((lane & 31) == 0) mail->words[lane >> 5] = unsigned(total);
            __syncthreads();
            total = 0;
            for (int warp = 0; warp < WARPS; ++warp) {
                if (warp < (lane >> 5)) below += int(mail->words[warp]);
                total += int(mail->words[warp]);
            }
            __syncthreads();
        }
        return below;
    }

    __device__ double sum(double value) const {
        for (int offset = 16; offset; offset >>= 1)
            value += __shfl_xor_sync(ALL_LANES, value, offset);
        if constexpr (WARPS > 1) {
            if ((lane & 31) == 0) mail->numbers[lane >> 5] = value;
            __syncthreads();
            value = mail->numbers[0];
            for (int warp = 1; warp < WARPS; ++warp) value += mail->numbers[warp];
            __syncthreads();
        }
        return value;
    }

    __device__ double least(double value) const {
        for (int offset = 16; offset; offset >>= 1)
            value = fmin(value, __shfl_xor_sync(ALL_LANES, value, offset));
        if constexpr (WARPS > 1) {
            if ((lane & 31) == 0) mail->numbers[lane >> 5] = value;
            __syncthreads();
            for (int warp = 0; warp < WARPS; ++warp) value = fmin(value, mail->numbers[warp]);
            __syncthreads();
        }
        return value;
    }

    __device__ long long count(long long value) const {
        for (int offset = 16; offset; offset >>= 1)
            value += __shfl_xor_sync(ALL_LANES, value, offset);
        if constexpr (WARPS > 1) {
            if ((lane & 31) == 0) mail->counts[lane >> 5] = value;
            __syncthreads();
            value = 0;
            for (int warp = 0; warp < WARPS; ++warp) value += mail->counts[warp];
            __syncthreads();
        }
        return value;
    }

    // The value that lane ``source`` holds.
    __device__ double from(int source, double value) const {
        if constexpr (WARPS == 1) return __shfl_sync(ALL_LANES, value, source);
        if (lane == source) mail->numbers[0] = value;
        __syncthreads();
        value = mail->numbers[0];
        __syncthreads();
        return value;
    }

    __device__ int from(int source, int value) const {
        if constexpr (WARPS == 1) return __shfl_sync(ALL_LANES, value, source);
        if (lane == source) mail->words[0] = unsigned(value);
        __syncthreads();
        value = int(mail->words[0]);
        __syncthreads();
        return value;
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

template <int LANES>
__device__ Choice best_of(const Group<LANES>& group, const Choice& own) {
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
