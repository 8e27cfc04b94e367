// Passes over the columns of a table: what one more stage makes of the best profits.
//
// ``values[i]`` is the best profit known of packings that weigh i at most, and a stage makes it
// ``max(values[i], values[i - weight] + profit)``, in place: from the last column downwards, or
// upwards where copies may come in any number of times, so that raised columns are raised further.
//
// Long tables are not walked along once for each stage. A few stages follow each other over a block
// that stays in the cache; each lags behind the one before by its own weight, because it reads
// columns that far below, in which the one before has to be done (Wolf: "More iteration space
// tiling", 1989).
//
// A column that a stage raised can be recorded by a bit, from which the packing is read off later.
//
// Which capacities can be filled exactly, as bits, 64 columns at a time.
//
// How many copies of each item may go out of the break solution, or come in.
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "knapsack/efficiency.h"

namespace knapsack {

using native::Span;
using Integers = Span<const std::int64_t>;

/// Items with all their copies: profit and weight of one, copies packed and those beside.
struct Types {
    Integers profit, weight, packed, free;
};

namespace {

/// Columns that are raised before they are written back: a part of the nearest cache.
constexpr std::int64_t CHUNK = 1024;

/// Columns that one stage of several treats before the next one: a part of a core's own cache.
constexpr std::int64_t BLOCK = 1 << 15;

/// Weights below which copies that come in any number of times are treated column by column.
constexpr std::int64_t SHORT = 32;

/// One stage on a table: what it brings in, and where the columns that it raises are recorded.
template <class Profit> struct Stage {
    Span<Profit> values;
    std::int64_t weight;
    Profit profit;
    /// Bits of columns that rose; bit 0 of word ``first`` is column 0's.
    Span<std::uint64_t> changed;
    std::int64_t first;
    bool recording;
};

/// One bit for each of 64 columns, or fewer, that differ.
template <class Profit>
[[gnu::always_inline]] inline std::uint64_t differing(const Profit *one, const Profit *other,
                                                      std::int64_t count) {
    // bytes first, which vectors make fast, then eight of them become bits by one product
    std::array<std::uint8_t, 64> differs{};
    if (count == 64)
        for (std::int64_t j = 0; j < 64; ++j)
            differs[j] = one[j] != other[j];
    else
        for (std::int64_t j = 0; j < count; ++j)
            differs[j] = one[j] != other[j];
    std::uint64_t bits = 0;
    for (int part = 0; part < 8; ++part) {
        std::uint64_t bytes = 0;
        for (int k = 0; k < 8; ++k)
            bytes |= std::uint64_t{differs[8 * part + k]} << (8 * k);
        bits |= (bytes * 0x0102040810204080U) >> 56 << (8 * part);
    }
    return bits;
}

/// Set the bits of the columns that are higher in ``raised``.
template <class Profit>
[[gnu::always_inline]] inline void record(const Stage<Profit> &stage, const Profit *raised,
                                          std::int64_t start, std::int64_t stop) {
    for (std::int64_t word = start >> 6; word << 6 < stop; ++word) {
        const std::int64_t begin = std::max(start, word << 6);
        const std::int64_t end = std::min(stop, (word + 1) << 6);
        const std::uint64_t bits =
            differing(raised + (begin - start), stage.values.data() + begin, end - begin);
        stage.changed[stage.first + word] |= bits << (begin & 63);
    }
}

/// Raise the columns from ``start`` up to ``stop``, at most a chunk of them.
template <class Profit>
[[gnu::always_inline]] inline void raise(const Stage<Profit> &stage, std::int64_t start,
                                         std::int64_t stop) {
    std::array<Profit, CHUNK> raised;
    const std::int64_t count = stop - start;
    Profit *one = stage.values.part(start, stop).data();
    const Profit *other = one - stage.weight;
    const Profit profit = stage.profit;
    for (std::int64_t j = 0; j < count; ++j)
        raised[j] = std::max<Profit>(one[j], other[j] + profit);
    if (stage.recording)
        record(stage, raised.data(), start, stop);
    std::copy_n(raised.data(), count, one);
}

/// Treat columns for a stage that takes its copies once.
template <class Profit>
[[gnu::always_inline]] inline void downwards(const Stage<Profit> &stage, std::int64_t start,
                                             std::int64_t stop) {
    start = std::max(start, stage.weight);
    while (stop > start) {
        const std::int64_t begin = std::max(start, (stop - 1) / CHUNK * CHUNK);
        raise(stage, begin, stop);
        stop = begin;
    }
}

/// Treat columns one by one.
template <class Profit>
[[gnu::always_inline]] inline void each_upwards(const Stage<Profit> &stage, std::int64_t start,
                                                std::int64_t stop) {
    const Span<Profit> values = stage.values;
    for (std::int64_t i = start; i < stop; ++i) {
        const Profit then = values[i - stage.weight] + stage.profit;
        if (then <= values[i])
            continue;
        values[i] = then;
        if (stage.recording)
            stage.changed[stage.first + (i >> 6)] |= std::uint64_t{1} << (i & 63);
    }
}

/// Treat columns for a stage that takes its copies any number of times.
template <class Profit>
[[gnu::always_inline]] inline void upwards(const Stage<Profit> &stage, std::int64_t start,
                                           std::int64_t stop) {
    start = std::max(start, stage.weight);
    if (stage.weight < SHORT)
        return each_upwards(stage, start, stop);
    while (start < stop) {
        const std::int64_t end = std::min(stop, start + std::min(CHUNK, stage.weight));
        raise(stage, start, end);
        start = end;
    }
}

/// Treat a block of columns for a stage, by the widest vectors that the processor has.
NATIVE_HOT void treat_block(const Stage<std::int32_t> &stage, bool up, std::int64_t start,
                            std::int64_t stop) {
    up ? upwards(stage, start, stop) : downwards(stage, start, stop);
}
NATIVE_HOT void treat_block(const Stage<std::int64_t> &stage, bool up, std::int64_t start,
                            std::int64_t stop) {
    up ? upwards(stage, start, stop) : downwards(stage, start, stop);
}

/// By how much each stage's blocks are shifted, and what all of them together span.
struct Skewed {
    std::vector<std::int64_t> lag;
    std::int64_t begin = INT64_MAX / 2;
    std::int64_t end = INT64_MIN / 2;

    Skewed(Integers weight, bool up, Integers low, Integers high) : lag(weight.size()) {
        for (std::int64_t t = 0; t < weight.size(); ++t) {
            // upwards, the stage before still reads as far below as it weighs itself
            if (t > 0)
                lag[t] = lag[t - 1] + (up ? -weight[t - 1] : weight[t]);
            begin = std::min(begin, low[t] - lag[t]);
            end = std::max(end, high[t] + 1 - lag[t]);
        }
    }
};

/// Treat the columns of a few stages that follow each other over blocks.
///
/// ``values`` are the (columns,) best profits, in and out; ``weight``, ``profit``, ``low`` and
/// ``high`` (k,) tell of the stages what they bring in, and their first and last columns. With
/// ``up`` the stages take their copies any number of times. Where ``recording``, the bits of
/// columns that rise are set in ``changed``; ``first`` (k,) is the word of each stage's column 0,
/// were it there.
template <class Profit>
void treat(Span<Profit> values, Integers weight, Span<const Profit> profit, bool up, Integers low,
           Integers high, Span<std::uint64_t> changed, Integers first, bool recording) {
    const std::int64_t stages = weight.size();
    native::check_length("profit", profit.size(), stages);
    native::check_length("low", low.size(), stages);
    native::check_length("high", high.size(), stages);
    native::check_length("first", first.size(), stages);
    const Skewed skewed(weight, up, low, high);
    if (stages > 0)
        native::check_length("values", values.size(),
                             *std::max_element(high.begin(), high.end()) + 1);
    const std::int64_t steps = native::floor_divide(skewed.end - skewed.begin + BLOCK - 1, BLOCK);
    for (std::int64_t step = 0; step < steps; ++step) {
        const std::int64_t place =
            up ? skewed.begin + step * BLOCK : skewed.end - (step + 1) * BLOCK;
        native::poll();
        for (std::int64_t t = 0; t < stages; ++t) {
            const std::int64_t start = std::max(low[t], place + skewed.lag[t]);
            const std::int64_t stop = std::min(high[t] + 1, place + skewed.lag[t] + BLOCK);
            if (start < stop)
                treat_block(
                    Stage<Profit>{values, weight[t], profit[t], changed, first[t], recording}, up,
                    start, stop);
        }
    }
}

/// Read off from the last stage backwards how often each one's copies were taken.
///
/// Returns the column before the first stage.
std::int64_t trace(Integers weight, Span<const bool> repeated, Integers low, Integers high,
                   Span<const std::uint64_t> changed, Integers first, std::int64_t column,
                   Span<std::int64_t> taken) {
    const std::int64_t stages = weight.size();
    native::check_length("repeated", repeated.size(), stages);
    native::check_length("low", low.size(), stages);
    native::check_length("high", high.size(), stages);
    native::check_length("first", first.size(), stages);
    native::check_length("taken", taken.size(), stages);
    for (std::int64_t t = stages - 1; t >= 0; --t)
        while (low[t] <= column && column <= high[t]) {
            if (!(changed[first[t] + (column >> 6)] >> (column & 63) & 1))
                break;
            ++taken[t];
            column -= weight[t];
            if (!repeated[t])
                break;
        }
    return column;
}

/// The bits of a word up to and with that of a column.
std::uint64_t up_to(std::int64_t column) { return ~std::uint64_t{0} >> (63 - (column & 63)); }

bool is_marked(Span<const std::uint64_t> words, std::int64_t column) {
    return words[column >> 6] >> (column & 63) & 1;
}

/// Mark what a stage of such a weight reaches, in words from ``last`` down to ``first``.
void mark_stage(Span<std::uint64_t> words, Span<std::int32_t> stage, std::int64_t weight,
                std::int64_t first, std::int64_t last, std::int64_t wanted, std::int32_t number) {
    const std::int64_t shift = weight >> 6, bits = weight & 63;
    std::uint64_t *now = words.part(0, last + 1).data();
    for (std::int64_t word = last; word >= first; --word) {
        if ((word & 4095) == 0)
            native::poll();
        const std::uint64_t *from = now + (word - shift);
        const std::uint64_t below = word > shift ? from[-1] : 0;
        // in two steps, as no shift may be by 64
        std::uint64_t come = (from[0] << bits | below >> 1 >> (63 - bits)) & ~now[word];
        if (!come)
            continue;
        if (word == wanted >> 6)
            come &= up_to(wanted);
        now[word] |= come;
        for (; come; come &= come - 1)
            stage[(word << 6) + std::countr_zero(come)] = number;
    }
}

/// Add the columns that stages from ``first`` up to ``last`` reach; return the next stage.
///
/// Columns beyond ``wanted`` are of no use, and the stage that reaches it is the last.
std::int64_t mark(Span<std::uint64_t> words, Span<std::int32_t> stage, Integers weight,
                  Integers low, Integers high, std::int64_t first, std::int64_t last,
                  std::int64_t wanted) {
    native::check_length("weight", weight.size(), last);
    native::check_length("low", low.size(), last);
    native::check_length("high", high.size(), last);
    native::check_length("words", words.size(), (wanted >> 6) + 1);
    native::check_length("stage", stage.size(), wanted + 1);
    for (std::int64_t t = first; t < last; ++t) {
        mark_stage(words, stage, weight[t], std::max(low[t] >> 6, weight[t] >> 6),
                   std::min(high[t], wanted) >> 6, wanted, static_cast<std::int32_t>(t));
        if (is_marked(words, wanted))
            return t + 1;
    }
    return last;
}

/// The last marked column up to ``wanted``; column 0 is always marked.
std::int64_t highest(Span<const std::uint64_t> words, std::int64_t wanted) {
    native::check_length("words", words.size(), (wanted >> 6) + 1);
    std::int64_t word = wanted >> 6;
    std::uint64_t left = words[word] & up_to(wanted);
    while (!left && word > 0)
        left = words[--word];
    return left ? (word << 6) + std::bit_width(left) - 1 : 0;
}

/// Items in order of efficiency, and the profit that is to be exceeded.
struct Known {
    const Sorted &items;
    std::int64_t capacity;
    std::int64_t best;

    /// Whether more than the best profit can be hoped for with so many copies of an item more.
    bool allows(std::int64_t copies, std::int64_t p, std::int64_t w) const {
        const std::int64_t room = capacity - copies * w;
        return copies * p + relaxed(items, room) > best;
    }

    /// The largest number of copies, up to ``many``, by which that holds, by bisection.
    std::int64_t largest(std::int64_t many, std::int64_t sign, std::int64_t p,
                         std::int64_t w) const {
        std::int64_t few = 0, guess = std::min<std::int64_t>(1, many); // mostly not even one
        while (few < many) {
            if (allows(sign * guess, p, w))
                few = guess;
            else
                many = guess - 1;
            guess = few + (many - few + 1) / 2;
        }
        return few;
    }
};

/// Fill in ``out`` and ``into``, the copies of each item that may go out, and come in.
void count_changes(const Types &types, const Sorted &given, std::int64_t capacity,
                   std::int64_t best, Span<std::int64_t> out, Span<std::int64_t> into) {
    const std::int64_t items = types.profit.size();
    for (const Integers &one : {types.weight, types.packed, types.free})
        native::check_length("types", one.size(), items);
    native::check_length("out", out.size(), items);
    native::check_length("into", into.size(), items);
    check_sorted(given);
    const Known known{given, capacity, best};
    for (std::int64_t j = 0; j < items; ++j) {
        if ((j & 255) == 0)
            native::poll();
        const std::int64_t p = types.profit[j], w = types.weight[j];
        out[j] = known.largest(types.packed[j], -1, p, w);
        into[j] = known.largest(std::min(types.free[j], capacity / w), 1, p, w);
    }
}

} // namespace
} // namespace knapsack

NATIVE_STRUCT(knapsack::Types, profit, weight, packed, free)

NATIVE_MODULE(knapsack_dp_tables_dense) {
    using namespace knapsack;
    native::expose(module, "treat", &treat<std::int32_t>, "values", "weight", "profit", "upwards",
                   "low", "high", "changed", "first", "recording");
    native::expose(module, "treat", &treat<std::int64_t>, "values", "weight", "profit", "upwards",
                   "low", "high", "changed", "first", "recording");
    native::expose(module, "trace", &trace, "weight", "repeated", "low", "high", "changed", "first",
                   "column", "taken");
    NATIVE_CONSTANTS(module, "solvers.knapsack.dp.tables.dense", BLOCK);
    native::expose(module, "mark", &mark, "words", "stage", "weight", "low", "high", "first",
                   "last", "wanted");
    native::expose(module, "highest", &highest, "words", "wanted");
    native::expose(module, "count_changes", &count_changes, "types", "items", "capacity", "best",
                   "out", "into");
}
