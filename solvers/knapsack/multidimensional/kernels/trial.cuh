// What a launch takes and a trial of a replica, on both devices; anneal.py states what they are.
#pragma once

#include "both.cuh"

// Threads of a warp, binary digits of a place in the table of exponentials, and binary places of
// its entries.
constexpr int LANES = 32, TABLE_BITS = 11, TABLE = 1 << TABLE_BITS, FRACTION_BITS = 16;
// Violations are kept up to here, so that sums stay within 32 bits.
constexpr int LARGEST_RISE = 1 << 30;

typedef unsigned long long Bits;

// The last item is none.
struct Problem {
    Array<const INDEX> weight, price, worth;
    Array<const REAL> profit;
    Array<const INDEX> capacity, exponential;
};

struct Replicas {
    Array<const INDEX> temperature;
    Array<INDEX> packing, champion;
    Array<REAL> value, energy;
};

struct Sizes {
    int replicas, items, rows;
};

// The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", 2014).
BOTH Bits hash(Bits value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

constexpr Bits STEP = 0x9e3779b97f4a7c15ull;

// What a trial does, and how large the violation may be after it; below zero it is refused.
struct Trial {
    int in, out, limit;
};

BOTH int place(Bits random, int shift, int items) {
    return int((((random >> shift) & 0xffffull) * Bits(items)) >> 16);
}

// Trial `number`; `packed` says of an item whether it is in, and on a device all lanes ask at once.
template <class Packed>
BOTH Trial draw(Bits key, int number, long long violation, int temperature, int items,
                const int* worth, const int* exponential, Packed packed) {
    const Bits random = hash(key + STEP * (Bits(number) + 1ull));
    const int a = place(random, 0, items), b = place(random, 16, items);
    const int c = place(random, 32, items);
    const auto a_in = packed(a), b_in = packed(b), c_in = packed(c);
    const int second = b_in != a_in ? b : c_in != a_in ? c : items;
    const int in = a_in ? second : a, out = a_in ? a : second;
    const long long drawn = exponential[int(random >> (64 - TABLE_BITS))];
    const long long limit =
        violation + worth[in] - worth[out] + ((temperature * drawn) >> FRACTION_BITS);
    return {in, out, limit < -1 ? -1 : limit > LARGEST_RISE ? LARGEST_RISE : int(limit)};
}
