// Pairs of numbers, and random numbers that follow from key and counter alone.

#pragma once

#include "both.cuh"
#include "record.cuh"

#ifdef __CUDACC__
#define READ_AT_ONCE alignas(2 * sizeof(REAL))
#else
#define READ_AT_ONCE
#endif

struct READ_AT_ONCE Pair {
    REAL first;   // a column's value or a row's slack
    REAL second;  // a column's stamp or a row's weight
};

constexpr unsigned long long GOLDEN = 0x9e3779b97f4a7c15ull;

BOTH unsigned long long mix(unsigned long long z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

struct Random {
    unsigned long long key;
    BOTH unsigned draw(long long step, int purpose) const {
        const unsigned long long counter = (unsigned long long)(step * STEP_DRAWS + purpose);
        return unsigned(mix(key + counter * GOLDEN) >> 32);
    }
    BOTH int below(long long step, int purpose, int bound) const {
        return int(((unsigned long long)draw(step, purpose) * (unsigned long long)bound) >> 32);
    }
    BOTH bool chance(long long step, int purpose, double probability) const {
        return double(draw(step, purpose)) < probability * 4294967296.0;
    }
};

BOTH Random random_of(int seed, int walker, int epoch) {
    const unsigned long long name =
        ((unsigned long long)(unsigned)seed << 32) | (unsigned long long)walker;
    return Random{mix(name + (unsigned long long)(unsigned)epoch * GOLDEN)};
}
