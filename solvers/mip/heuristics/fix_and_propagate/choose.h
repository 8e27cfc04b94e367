// The value that a column is fixed to first, and the random numbers of a dive.
//
// One 64-bit state per dive, the same on every machine: SplitMix64 (Steele, Lea, Flood 2014), one
// addition and three mixing steps.
#pragma once

#include "native/bindings.h"

namespace mip::fix_and_propagate {

/// The state (1,).
using RandomState = native::Span<std::uint64_t>;

/// Draw a number from [0, 1).
inline double uniform(RandomState state) {
    std::uint64_t z = state[0] + 0x9E3779B97F4A7C15U;
    state[0] = z;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    z = z ^ (z >> 31);
    return static_cast<double>(z >> 11) / 9007199254740992.0;
}

/// What values are chosen by, as strategy.py says.
struct Guide {
    native::Span<const double> cost;
    native::Span<const std::int32_t> up_locks;
    native::Span<const std::int32_t> down_locks;
    native::Span<const double> reference;
};

/// The rules of strategy.py.
enum Value { UP, DOWN, RANDOM, GOOD_OBJECTIVE, BAD_OBJECTIVE, LOOSE, REFERENCE };

/// Stand-in for a missing bound: up to so many powers of ten from the other (the paper's 1e5).
inline constexpr double BOX_DIGITS = 5.0;

/// Round: almost always to the nearest for nearly whole numbers, by chance in the middle.
///
/// The threshold's distribution is that of Bertacco, Fischetti and Lodi (2007), which the seed
/// paper draws its bulks from.
inline double round_randomly(double x, RandomState random) {
    const double w = uniform(random);
    const double t = 2.0 * w * (1.0 - w);
    return std::floor(x + (w > 0.5 ? 1.0 - t : t));
}

/// Return a finite value in [low, high]: near the reference, or at the better end.
inline double choose_continuous(int rule, std::int64_t j, double low, double high,
                                const Guide &guide) {
    const double cost = guide.cost[j];
    if (rule != REFERENCE && cost > 0.0 && low > -native::INF)
        return low;
    if (rule != REFERENCE && cost < 0.0 && high < native::INF)
        return high;
    return std::min(std::max(rule == REFERENCE ? guide.reference[j] : 0.0, low), high);
}

/// Return in which direction a rule goes; zero where it leaves that to chance.
inline double direction_of(int rule, std::int64_t j, const Guide &guide) {
    const double cost = guide.cost[j];
    if (rule == LOOSE || (rule == GOOD_OBJECTIVE && cost == 0.0))
        return static_cast<double>(std::int64_t{guide.down_locks[j]} - guide.up_locks[j]);
    if (rule == UP)
        return 1.0;
    if (rule == DOWN)
        return -1.0;
    if (rule == GOOD_OBJECTIVE)
        return -cost;
    if (rule == BAD_OBJECTIVE)
        return cost != 0.0 ? cost : 1.0;
    return 0.0;
}

/// Return a whole value in [low, high].
inline double choose_whole(int rule, std::int64_t j, double low, double high, const Guide &guide,
                           RandomState random) {
    if (low == -native::INF && high == native::INF)
        low = std::min(0.0, std::floor(guide.reference[j]));
    if (high == native::INF)
        high = low + std::floor(std::pow(10.0, BOX_DIGITS * uniform(random)));
    else if (low == -native::INF)
        low = high - std::floor(std::pow(10.0, BOX_DIGITS * uniform(random)));
    if (rule == REFERENCE)
        return std::min(std::max(round_randomly(guide.reference[j], random), low), high);
    double direction = direction_of(rule, j, guide);
    if (direction == 0.0) {
        const double draw = uniform(random);
        if (rule == RANDOM && high - low > 1.0 && draw < 0.5)
            return low + std::floor(2.0 * draw * (high - low + 1.0));
        direction = uniform(random) - 0.5;
    }
    return direction > 0.0 ? high : low;
}

/// Return the value in [low, high] that column j is to be fixed to.
inline double choose(int rule, std::int64_t j, double low, double high, bool is_integer,
                     const Guide &guide, RandomState random) {
    return is_integer ? choose_whole(rule, j, low, high, guide, random)
                      : choose_continuous(rule, j, low, high, guide);
}

} // namespace mip::fix_and_propagate

NATIVE_STRUCT(mip::fix_and_propagate::Guide, cost, up_locks, down_locks, reference)
