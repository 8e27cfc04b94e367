// Arithmetic as Python and NumPy have it, where C++ has it otherwise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

/// Functions whose loops gain from wide vectors: compiled for x86-64-v2, v3 and v4, and chosen
/// when the library is loaded. Sums keep their order and nothing is fused, so all give the same
/// bits. Not by Clang: with Zig's runtime (0.17) the choice is always the first.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(NATIVE_CHECKED)
#define NATIVE_HOT __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define NATIVE_HOT
#endif

namespace native {

inline constexpr double INF = std::numeric_limits<double>::infinity();
inline constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

/// a // b of Python, rounded down.
template <class Integer> inline Integer floor_divide(Integer a, Integer b) {
    Integer quotient = a / b;
    return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}

/// a % b of Python, with the sign of b.
template <class Integer> inline Integer floor_modulo(Integer a, Integer b) {
    Integer rest = a % b;
    return (rest != 0 && ((rest < 0) != (b < 0))) ? rest + b : rest;
}

/// np.sign.
inline double sign_of(double x) { return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : x); }

/// np.round and Python's round: halves to even.
inline double round_even(double x) { return std::nearbyint(x); }

} // namespace native
