// Passes over all items: numbers made whole on the way in, answers added up on the way out.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "native/bindings.h"
#include "native/threads.h"

namespace knapsack::many {
namespace {

using native::Grid;
using native::Span;
using Integers = Span<const std::int64_t>;

/// Items that one word of a packing holds.
constexpr std::int64_t WORD = 64;

/// Numbers that a thread shortens at a time.
constexpr std::int64_t PART = 1 << 16;

/// Set flags (N,) by bits (k, words); value and load (k,) become profit and weight packed.
template <class Number>
void add_up(Integers starts, Span<const Number> profit, Span<const Number> weight, Integers bits,
            std::int64_t words, Span<bool> flags, Span<std::int64_t> value, Span<std::int64_t> load,
            int threads) {
    const std::int64_t count = value.size();
    native::check_length("starts", starts.size(), count + 1);
    native::check_length("bits", bits.size(), count * words);
    native::check_length("load", load.size(), count);
    native::check_lengths(profit.size(), {{"weight", weight}, {"flags", flags}});
    native::parallel_for(threads, count, [&](std::int64_t k) {
        const std::int64_t first = starts[k], last = starts[k + 1];
        std::int64_t total_profit = 0, total_weight = 0;
        for (std::int64_t word = 0; word < words; ++word) {
            const std::int64_t held = bits[k * words + word], begin = first + WORD * word;
            for (std::int64_t j = begin; j < std::min(begin + WORD, last); ++j) {
                const std::int64_t inside = (held >> (j - begin)) & 1;
                total_profit += inside * profit[j];
                total_weight += inside * weight[j];
                flags[j] = inside != 0;
            }
        }
        value[k] = total_profit;
        load[k] = total_weight;
    });
}

/// A number made whole, if it is below ``limit`` in size.
///
/// With a branch on nothing, and through 32 bits where these do: then vectors hold more of them.
template <class Number> [[gnu::always_inline]] inline Number whole_of(double value, double limit) {
    using Whole = std::conditional_t<sizeof(Number) == 8, std::int64_t, std::int32_t>;
    const double most = sizeof(Number) == 8 ? limit : std::min(limit, 2147483648.0);
    return static_cast<Number>(static_cast<Whole>(std::abs(value) < most ? value : 0.0));
}

/// Make a row whole; return whether that changed a number.
template <class Number>
[[gnu::always_inline]] inline bool make_row(const double *__restrict values, Number *__restrict out,
                                            std::int64_t columns, double sign, double limit) {
    std::int64_t changed = 0; // of the numbers' width, for vectors of both
    for (std::int64_t j = 0; j < columns; ++j) {
        const double value = sign * values[j];
        out[j] = whole_of<Number>(value, limit);
        changed |= double(out[j]) != value;
    }
    return changed != 0;
}

NATIVE_HOT bool make_row_whole(const double *values, std::int64_t *out, std::int64_t columns,
                               double sign, double limit) {
    return make_row(values, out, columns, sign, limit);
}

NATIVE_HOT bool make_row_whole(const double *values, std::int32_t *out, std::int64_t columns,
                               double sign, double limit) {
    return make_row(values, out, columns, sign, limit);
}

NATIVE_HOT bool make_row_whole(const double *values, std::uint16_t *out, std::int64_t columns,
                               double sign, double limit) {
    return make_row(values, out, columns, sign, limit);
}

/// Put ``sign`` times values (r, c) as whole numbers into columns ``places`` (c,) of out (r, n).
///
/// ``straight`` says that places are 0 to c - 1. ``refused`` (r,) is set where a number is not
/// whole, not below ``limit`` in size, or not one of the type of ``out``.
template <class Number>
void make_whole(Grid<const double> values, Integers places, bool straight, double sign,
                double limit, Grid<Number> out, Span<bool> refused, int threads) {
    const std::int64_t rows = values.shape(0), columns = values.shape(1);
    native::check_length("out", out.shape(0), rows);
    native::check_length("refused", refused.size(), rows);
    native::check_length("rows of 'out'", out.shape(1), columns);
    native::check_length("places", places.size(), columns);
    native::parallel_for(threads, rows, [&](std::int64_t k) {
        if (straight) {
            refused[k] = make_row_whole(values[k].data(), out[k].data(), columns, sign, limit);
            return;
        }
        bool changed = false;
        for (std::int64_t j = 0; j < columns; ++j) {
            const double value = sign * values(k, j);
            Number &to = out(k, places[j]);
            to = whole_of<Number>(value, limit);
            changed |= double(to) != value;
        }
        refused[k] = changed;
    });
}

/// Copy whole numbers; ``refused`` is set for every part of them that ``out`` cannot hold.
template <class Number, class Shorter>
void shorten(Span<const Number> values, Span<Shorter> out, Span<bool> refused, int threads) {
    native::check_length("out", out.size(), values.size());
    native::parallel_for(threads, refused.size(), [&](std::int64_t part) {
        bool bad = false;
        for (std::int64_t j = part * PART; j < std::min((part + 1) * PART, values.size()); ++j) {
            out[j] = static_cast<Shorter>(values[j]);
            bad |= std::int64_t{out[j]} != std::int64_t{values[j]};
        }
        refused[part] = bad;
    });
}

/// Fill rows (k, n) with what is packed, or with NaN where nothing is.
void points(Span<const bool> packed, Span<const bool> feasible, Grid<double> out, int threads) {
    const std::int64_t rows = out.shape(0), columns = out.shape(1);
    native::check_length("packed", packed.size(), rows * columns);
    native::check_length("feasible", feasible.size(), rows);
    native::parallel_for(threads, rows, [&](std::int64_t k) {
        for (std::int64_t j = 0; j < columns; ++j)
            out(k, j) = feasible[k] ? double(packed[k * columns + j]) : native::NaN;
    });
}

/// Bind the functions for one of the types of numbers.
template <class Number> void open(native::Module &module) {
    native::expose(module, "add_up", &add_up<Number>, "starts", "profit", "weight", "bits", "words",
                   "flags", "value", "load", "threads");
    native::expose(module, "make_whole", &make_whole<Number>, "values", "places", "straight",
                   "sign", "limit", "out", "refused", "threads");
}

template <class Number, class Shorter> void open_shorten(native::Module &module) {
    native::expose(module, "shorten", &shorten<Number, Shorter>, "values", "out", "refused",
                   "threads");
}

} // namespace
} // namespace knapsack::many

NATIVE_MODULE(knapsack_batch_check) {
    using namespace knapsack::many;
    open<std::int64_t>(module);
    open<std::int32_t>(module);
    open<std::uint16_t>(module);
    open_shorten<std::int64_t, std::int32_t>(module);
    open_shorten<std::int64_t, std::uint16_t>(module);
    open_shorten<std::int32_t, std::uint16_t>(module);
    native::expose(module, "points", &points, "packed", "feasible", "out", "threads");
    NATIVE_CONSTANTS(module, "solvers.knapsack.batch.problems", PART);
    NATIVE_CONSTANTS(module, "solvers.knapsack.batch.kernels.many", WORD);
}
