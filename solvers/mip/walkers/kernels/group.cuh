// Threads that walk together: a warp, or a block of several warps, behind the same few operations.
//
// All threads of a group call each operation together. What comes back is the same for all of
// them except for rank(), so that branches on it are uniform. Sums are taken in an order that
// the Numba twin follows: a butterfly within each warp, then warp after warp.

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
};
