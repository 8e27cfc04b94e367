// Many small knapsack problems on the CPU, as many.cu has them: one after the other in each slot.
#include <vector>

#include "native/bindings.h"
#include "native/threads.h"
#include "start.h"

namespace knapsack::many {
namespace {

using INDEX = std::int64_t;
using PROFIT_T = std::int64_t;
using WEIGHT_T = std::int64_t;

#include "problems.cuh"

/// How a problem ended.
enum : std::int64_t { SOLVED, INFEASIBLE, TOO_LARGE, OUTGROWN };

/// States by rising weight; profits rise, too. A state's history has a word for each 64 items.
struct List {
    std::int64_t *profit, *weight, *history;
    std::int64_t room;

    List(std::int64_t *memory, std::int64_t room)
        : profit(memory), weight(memory + room), history(memory + 2 * room), room(room) {}
    std::int64_t &word(std::int64_t number, std::int64_t state) const {
        return history[number * room + state];
    }
};

/// An item that is put in or taken out.
struct Step {
    std::int64_t item, profit, weight;
};

/// What a state must be worth to be kept: the next items to put in and to take out bound it.
struct Limit {
    std::int64_t capacity, best;
    std::int64_t in_profit, in_weight, out_profit, out_weight;

    bool keeps(std::int64_t profit, std::int64_t weight) const {
        const std::int64_t spare = capacity - weight;
        const std::int64_t by_profit = spare >= 0 ? in_profit : out_profit;
        const std::int64_t by_weight = spare >= 0 ? in_weight : out_weight;
        return spare * by_profit >= (best + 1 - profit) * by_weight;
    }
};

/// Merge a list with itself shifted by one item; return the length of what is kept.
template <bool one_word>
std::int64_t merge(List now, std::int64_t length, List then, Step step, Limit limit,
                   std::int64_t several) {
    const std::int64_t words = one_word ? 1 : several;
    const std::int64_t bit_word = step.item / WORD;
    const std::int64_t bit = static_cast<std::int64_t>(std::uint64_t{1} << (step.item % WORD));
    std::int64_t highest = -(std::int64_t{1} << 62), kept = 0;
    const auto keep = [&](std::int64_t profit, std::int64_t weight, std::int64_t from,
                          bool shifted) {
        if (profit <= highest)
            return;
        highest = profit;
        if (!limit.keeps(profit, weight))
            return;
        then.profit[kept] = profit;
        then.weight[kept] = weight;
        for (std::int64_t word = 0; word < words; ++word)
            then.word(word, kept) = now.word(word, from);
        if (shifted)
            then.word(bit_word, kept) ^= bit;
        ++kept;
    };
    std::int64_t i = 0;
    for (std::int64_t j = 0; j < length;) { // the shifted list
        const std::int64_t weight = now.weight[j] + step.weight,
                           profit = now.profit[j] + step.profit;
        if (i < length &&
            (now.weight[i] < weight || (now.weight[i] == weight && now.profit[i] >= profit))) {
            keep(now.profit[i], now.weight[i], i, false);
            ++i;
        } else {
            keep(profit, weight, j, true);
            ++j;
        }
    }
    for (; i < length; ++i) // what is left of the list itself
        keep(now.profit[i], now.weight[i], i, false);
    return kept;
}

/// What became of a problem.
struct Answer {
    std::int64_t ending, value, visited;
};

/// The search of one slot, with its memory.
class Slot {
  public:
    Slot(Span<std::int64_t> lists, std::int64_t words, std::int64_t room, std::int64_t most)
        : items_(WORD * words), start_(words), best_flags_(words), packed_(words),
          lists_{List(lists.data(), room), List(lists.data() + lists.size() / 2, room)},
          words_(words), room_(room), most_(most) {}

    /// The items packed in the problem solved last.
    const Bits &packed() const { return packed_; }

    Answer solve(Integers profit, Integers weight, std::int64_t capacity) {
        packed_.clear();
        if (profit.size() > WORD * words_ || too_large(profit, weight))
            return {TOO_LARGE, 0, 0};
        const Form form = arrange(profit, weight, capacity, items_, packed_);
        if (form.capacity < 0) {
            packed_.clear();
            return {INFEASIBLE, 0, 0};
        }
        const Answer found = search(form.capacity);
        for (std::int64_t j = 0; j < items_.count; ++j)
            if (best_flags_.has(j))
                packed_.flip(items_.origin[j]);
        return {found.ending, found.value * form.profit_unit + form.base, found.visited};
    }

  private:
    /// Find the best packing of arranged items.
    Answer search(std::int64_t capacity) {
        const std::int64_t broken = items_.break_item(capacity);
        start_.clear();
        for (std::int64_t j = 0; j < broken; ++j)
            start_.set(j);
        best_flags_ = start_;
        if (broken == items_.count)
            return {SOLVED, items_.profit_before[broken], 0};
        const std::int64_t greedy = greedy_packing(items_, capacity, broken, best_flags_);
        best_ = best_exchange(items_, capacity, broken, greedy, start_, best_flags_);
        bound_opposites(items_, capacity, broken);
        return treat(capacity, broken);
    }

    /// Treat items from the break item outwards, right and left in turn.
    Answer treat(std::int64_t capacity, std::int64_t broken) {
        List now = lists_[0], then = lists_[1];
        now.profit[0] = items_.profit_before[broken];
        now.weight[0] = items_.weight_before[broken];
        for (std::int64_t word = 0; word < words_; ++word)
            now.word(word, 0) = 0;
        std::int64_t length = 1, seen = 0, stage = 0;
        left_ = broken - 1;
        right_ = broken;
        while (length > 0) {
            native::poll();
            skip_useless();
            const bool to_right = right_ < items_.count && (left_ < 0 || stage % 2 == 0);
            if (!to_right && left_ < 0)
                break;
            const std::int64_t item = to_right ? right_++ : left_--, sign = to_right ? 1 : -1;
            if (2 * length > room_ || seen + 2 * length > most_)
                return {OUTGROWN, best_, seen};
            ++stage;
            seen += 2 * length;
            const Step step{item, sign * items_.profit[item], sign * items_.weight[item]};
            look_for_better(now, length, step, capacity);
            skip_useless();
            const auto merged = words_ == 1 ? &merge<true> : &merge<false>;
            length = merged(now, length, then, step, limit(capacity), words_);
            std::swap(now, then);
        }
        return {SOLVED, best_, seen};
    }

    /// Leave out items whose packing against the break solution is no better than the best.
    void skip_useless() {
        while (right_ < items_.count && items_.opposite[right_] <= best_)
            ++right_;
        while (left_ >= 0 && items_.opposite[left_] <= best_)
            --left_;
    }

    Limit limit(std::int64_t capacity) const {
        // without an item to come nothing can be gained, without one to go nothing lost
        Limit found{capacity, best_, 0, 1, 1, 0};
        if (right_ < items_.count) {
            found.in_profit = items_.profit[right_];
            found.in_weight = items_.weight[right_];
        }
        if (left_ >= 0) {
            found.out_profit = items_.profit[left_];
            found.out_weight = items_.weight[left_];
        }
        return found;
    }

    /// Keep the packing of the best of the shifted states that fit, if it is better.
    void look_for_better(const List &now, std::int64_t length, const Step &step,
                         std::int64_t capacity) {
        const std::int64_t last =
            std::upper_bound(now.weight, now.weight + length, capacity - step.weight) - now.weight -
            1;
        if (last < 0 || now.profit[last] + step.profit <= best_)
            return;
        for (std::int64_t word = 0; word < words_; ++word)
            best_flags_.word(word) =
                start_.word(word) ^ static_cast<std::uint64_t>(now.word(word, last));
        best_flags_.flip(step.item);
        best_ = now.profit[last] + step.profit;
    }

    Items items_;
    Bits start_, best_flags_; // break solution and best packing, by place in the sorted order
    Bits packed_;             // by place in the given order
    List lists_[2];
    std::int64_t words_, room_, most_;
    std::int64_t best_ = 0, left_ = 0, right_ = 0; // the next items outwards
};

/// Solve problems 0 to ``count``; a slot takes every ``slots``-th of them.
void many(const Problems &problems, const Memory &memory, const Packings &packings,
          const Sizes &sizes, int threads) {
    const std::int64_t count = sizes.count, slots = sizes.slots, words = sizes.words;
    const std::int64_t numbers = 2 * (2 + words) * sizes.room;
    native::check_length("starts", problems.starts.size(), count + 1);
    native::check_length("weight", problems.weight.size(), problems.profit.size());
    native::check_length("capacity", problems.capacity.size(), count);
    native::check_length("lists", memory.lists.size(), numbers * slots);
    native::check_length("packed", packings.packed.size(), count * words);
    for (const Span<std::int64_t> &one : {packings.value, packings.ending, packings.visited})
        native::check_length("value, ending or visited", one.size(), count);
    native::parallel_for(threads, slots, [&](std::int64_t slot) {
        Slot own(memory.lists.part(slot * numbers, (slot + 1) * numbers), words, sizes.room,
                 sizes.most);
        for (std::int64_t k = slot; k < count; k += slots) {
            const std::int64_t first = problems.starts[k], last = problems.starts[k + 1];
            const Answer found = own.solve(problems.profit.part(first, last),
                                           problems.weight.part(first, last), problems.capacity[k]);
            packings.ending[k] = found.ending;
            packings.value[k] = found.value;
            packings.visited[k] = found.visited;
            for (std::int64_t word = 0; word < words; ++word)
                packings.packed[k * words + word] =
                    static_cast<std::int64_t>(own.packed().word(word));
        }
    });
}

} // namespace
} // namespace knapsack::many

NATIVE_STRUCT(knapsack::many::Problems, starts, profit, weight, capacity)
NATIVE_STRUCT(knapsack::many::Memory, lists, queue)
NATIVE_STRUCT(knapsack::many::Packings, packed, value, ending, visited)
NATIVE_STRUCT(knapsack::many::Sizes, count, slots, words, room, near, most)

NATIVE_MODULE(knapsack_batch_many) {
    using namespace knapsack::many;
    NATIVE_CONSTANTS(module, "solvers.knapsack.batch.kernels.many", SOLVED, INFEASIBLE, TOO_LARGE,
                     OUTGROWN, WORD);
    NATIVE_KERNELS(module, many);
}
