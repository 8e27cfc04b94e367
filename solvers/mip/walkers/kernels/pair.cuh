// Pairs of numbers, arithmetic without fused operations, and random numbers.
//
// Products and sums are rounded one by one, so that device code and the Numba twin agree bit by
// bit whatever the data.

struct alignas(2 * sizeof(REAL)) Pair {
    REAL first;   // a column's value or a row's slack
    REAL second;  // a column's stamp or a row's weight
};

__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float times(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double plus(double a, double b) { return __dadd_rn(a, b); }

__device__ inline unsigned long long mix(unsigned long long z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

struct Random {  // numbers that follow from key and counter alone
    unsigned long long key;
    __device__ unsigned draw(long long step, int purpose) const {
        const unsigned long long counter = (unsigned long long)(step * STEP_DRAWS + purpose);
        return unsigned(mix(key + counter * 0x9e3779b97f4a7c15ull) >> 32);
    }
    __device__ int below(long long step, int purpose, int bound) const {
        return int(((unsigned long long)draw(step, purpose) * (unsigned long long)bound) >> 32);
    }
    __device__ bool chance(long long step, int purpose, double probability) const {
        return double(draw(step, purpose)) < probability * 4294967296.0;
    }
};
