// Double-double numbers: unevaluated sums of two doubles (Dekker 1971; Ogita, Rump, Oishi,
// "Accurate sum and dot product", SIAM J. Sci. Comput. 26, 2005). The roundings are spelt out, for
// the compiler may fuse a product and a sum otherwise.
#pragma once

struct DoubleDouble {
    REAL high, low;
};

__device__ __forceinline__ double rounded_sum(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ float rounded_sum(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double rounded_product(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ float rounded_product(float a, float b) { return __fmul_rn(a, b); }

// a + b and what its rounding lost.
__device__ __forceinline__ DoubleDouble exact_sum(REAL a, REAL b) {
    const REAL sum = rounded_sum(a, b);
    const REAL part = rounded_sum(sum, -a);
    const REAL lost =
        rounded_sum(rounded_sum(a, -rounded_sum(sum, -part)), rounded_sum(b, -part));
    return DoubleDouble{sum, lost};
}

__device__ __forceinline__ DoubleDouble plus(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble sum = exact_sum(a.high, b.high);
    return exact_sum(sum.high, rounded_sum(sum.low, rounded_sum(a.low, b.low)));
}

__device__ __forceinline__ DoubleDouble minus_product(DoubleDouble a, REAL b, REAL c) {
    const REAL product = rounded_product(b, c);
    const REAL lost = fma(b, c, -product);
    const DoubleDouble sum = exact_sum(a.high, -product);
    return DoubleDouble{sum.high, rounded_sum(sum.low, rounded_sum(a.low, -lost))};
}
