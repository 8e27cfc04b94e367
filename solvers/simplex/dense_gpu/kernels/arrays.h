// What the loops of the dense GPU core take: views of arrays by what stands in them, and groups.
#pragma once

#include "native/threads.h"
#include "simplex/lengths.h"
#include "words.cuh"

namespace simplex::dense_gpu {

using native::INF;

using REAL = double;
using INDEX = std::int32_t;
using Index = INDEX;
using Reals = native::Span<const double>;
using Ints = native::Span<const Index>;
using RealsOut = native::Span<double>;
using IntsOut = native::Span<Index>;

/// A partial result: the largest merit, and the lowest place that has it.
struct Best {
    double value = 0.0;
    Index index = NONE;

    void take(double other, std::int64_t place) {
        if (other > value)
            *this = {other, static_cast<Index>(place)};
    }
};

/// Leave the best of each group's share of ``owners``; ``merit`` says how much speaks for one.
template <class Merit>
inline void leave_best(int threads, std::int64_t owners, std::int64_t groups, RealsOut value,
                       IntsOut index, const Merit &merit) {
    native::parallel_for(threads, groups, [&](std::int64_t group) {
        Best best;
        for (std::int64_t first = group * BLOCK; first < owners; first += groups * BLOCK) {
            const std::int64_t end = std::min<std::int64_t>(first + BLOCK, owners);
            for (std::int64_t one = first; one < end; ++one)
                best.take(merit(one), one);
        }
        value[group] = best.value;
        index[group] = best.index;
    });
}

/// The best of what groups have left.
inline Best best_of(Reals value, Ints index, std::int64_t groups) {
    Best best;
    for (std::int64_t g = 0; g < groups; ++g)
        if (value[g] > best.value || (value[g] == best.value && index[g] < best.index))
            best = {value[g], index[g]};
    return best;
}

/// Words that a loop reads or writes by name.
inline constexpr std::int64_t CONTROL_WORDS = 20, SCALAR_WORDS = 20;

} // namespace simplex::dense_gpu
