// What code needs that a GPU's kernels and the CPU's loops have in common.
//
// A CPU file names its types (REAL, INDEX), has <cmath>, and includes such a header within an
// anonymous namespace of its own. Products and sums are rounded one by one, so that both get the
// same bits.

#pragma once

#ifdef __CUDACC__
#define BOTH __device__ __forceinline__
BOTH double times(double a, double b) { return __dmul_rn(a, b); }
BOTH float times(float a, float b) { return __fmul_rn(a, b); }
BOTH double plus(double a, double b) { return __dadd_rn(a, b); }
#else
#define BOTH inline
BOTH double times(double a, double b) { return a * b; }
BOTH float times(float a, float b) { return a * b; }
BOTH double plus(double a, double b) { return a + b; }
#endif

template <class T> BOTH T larger(T a, T b) { return a > b ? a : b; }
template <class T> BOTH T smaller(T a, T b) { return a < b ? a : b; }
