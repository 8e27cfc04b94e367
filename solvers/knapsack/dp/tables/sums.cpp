// Which capacities can be filled exactly, as bits, 64 columns at a time.
#include <bit>

#include "native/bindings.h"

namespace knapsack {
namespace {

using native::Span;
using Integers = Span<const std::int64_t>;

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

} // namespace
} // namespace knapsack

NATIVE_MODULE(knapsack_dp_tables_sums) {
    using namespace knapsack;
    native::expose(module, "mark", &mark, "words", "stage", "weight", "low", "high", "first",
                   "last", "wanted");
    native::expose(module, "highest", &highest, "words", "wanted");
}
