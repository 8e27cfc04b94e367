// What code needs that a GPU's kernels and the CPU's loops have in common.
//
// A CPU file names its types (REAL, INDEX), has <cmath> and native/arrays.h, and includes such a
// header within an anonymous namespace of its own. Products and sums are rounded one by one, so that
// both get the same bits. An Array is a pointer on a GPU, and a view with its length on the CPU.

#pragma once

#ifdef __CUDACC__
#define BOTH __device__ __forceinline__
#define UNROLLED _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
BOTH double times(double a, double b) { return __dmul_rn(a, b); }
BOTH float times(float a, float b) { return __fmul_rn(a, b); }
BOTH double plus(double a, double b) { return __dadd_rn(a, b); }
BOTH long long bits_of(double a) { return __double_as_longlong(a); }
#else
#define BOTH inline
#define UNROLLED
#define ROLLED
BOTH double times(double a, double b) { return a * b; }
BOTH float times(float a, float b) { return a * b; }
BOTH double plus(double a, double b) { return a + b; }
BOTH long long bits_of(double a) { return __builtin_bit_cast(long long, a); }
#endif

#if defined(__CUDACC__) || defined(__device__)  // a test's compiler has CUDA's words, too
template <class T> using Array = T*;
template <class T> using Table = T*;  // rows of equal length, one after the other
#else
template <class T> using Array = native::Span<T>;
template <class T> using Table = native::Grid<T>;
#endif

// max and min of Python: the first of equals, so that zeros keep their signs.
template <class T> BOTH T larger(T a, T b) { return b > a ? b : a; }
template <class T> BOTH T smaller(T a, T b) { return b < a ? b : a; }
