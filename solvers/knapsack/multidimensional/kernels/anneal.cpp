// Replicas on the CPU, each one trial after the other, as anneal.cu has them.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "native/bindings.h"
#include "native/threads.h"

namespace knapsack::rows {
namespace {

using native::Span;
using REAL = double;
using INDEX = std::int32_t;

#include "trial.cuh"

class Replica {
  public:
    Replica(const Problem &problem, const Sizes &sizes, Span<std::int32_t> words,
            Span<std::int32_t> champion, double best)
        : problem_(problem), items_(sizes.items), rows_(sizes.rows), champion_(champion),
          packed_(items_ + 1), left_(problem.capacity.begin(), problem.capacity.begin() + rows_),
          best_(best) {
        for (std::int64_t item = 0; item < items_; ++item) {
            packed_[item] = (words[item % LANES] >> (item / LANES)) & 1;
            if (packed_[item])
                pack(item);
        }
        for (std::int64_t i = 0; i < rows_; ++i)
            violation_ += problem.price[i] * std::max<std::int64_t>(0, -left_[i]);
    }

    double best() const { return best_; }

    /// Return the energy of the packing at hand.
    double energy() const {
        double total = 0.0;
        for (std::int64_t item = 0; item < items_; ++item)
            if (packed_[item])
                total += double(problem_.worth[item]);
        return double(violation_) - total;
    }

    /// Make trials 0 to ``trials``.
    void anneal(std::int64_t trials, int temperature, std::uint64_t key) {
        // what does not change, in variables of its own, as the compiler cannot know that
        const int items = static_cast<int>(items_), last = static_cast<int>(trials);
        const std::int32_t *worth = problem_.worth.data(), *draws = problem_.exponential.data();
        const std::uint8_t *packed = packed_.data();
        const auto is_packed = [packed](int item) { return packed[item]; };
        std::int64_t violation = violation_;
        for (int number = 0; number < last; ++number) {
            if ((number & 4095) == 0)
                native::poll();
            const Trial trial =
                draw(key, number, violation, temperature, items, worth, draws, is_packed);
            if (trial.limit < 0) // mostly so, by what the items are worth
                continue;
            const std::int64_t after = violation_after(trial);
            if (after > trial.limit)
                continue;
            accept(trial);
            violation = violation_ = after;
            if (violation == 0 && now_ > best_) {
                best_ = now_;
                write(champion_);
            }
        }
    }

    /// Write the packing as words.
    void write(Span<std::int32_t> words) const {
        std::fill(words.begin(), words.end(), 0);
        for (std::int64_t item = 0; item < items_; ++item)
            if (packed_[item])
                words[item % LANES] |= std::int32_t{1} << (item / LANES);
    }

  private:
    const std::int32_t *weights(std::int64_t item) const {
        return problem_.weight.data() + item * rows_;
    }

    void pack(std::int64_t item) {
        const std::int32_t *weight = weights(item);
        now_ += problem_.profit[item];
        for (std::int64_t i = 0; i < rows_; ++i)
            left_[i] -= weight[i];
    }

    /// Return the priced violation after a trial, or some number beyond its limit.
    std::int64_t violation_after(const Trial &trial) const {
        const std::int32_t *into = weights(trial.in);
        const std::int32_t *out = weights(trial.out);
        const std::int32_t *price = problem_.price.data();
        const std::int64_t *left = left_.data();
        std::int64_t after = 0;
        for (std::int64_t i = 0; i < rows_ && after <= trial.limit; ++i) {
            const std::int64_t excess = std::int64_t{into[i]} - out[i] - left[i];
            after += price[i] * std::max<std::int64_t>(0, excess);
        }
        return after;
    }

    void accept(const Trial &trial) {
        const std::int32_t *into = weights(trial.in);
        const std::int32_t *out = weights(trial.out);
        for (std::int64_t i = 0; i < rows_; ++i)
            left_[i] += std::int64_t{out[i]} - into[i];
        now_ += problem_.profit[trial.in] - problem_.profit[trial.out];
        if (trial.in < items_)
            packed_[trial.in] = 1;
        if (trial.out < items_)
            packed_[trial.out] = 0;
    }

    const Problem &problem_;
    std::int64_t items_, rows_;
    Span<std::int32_t> champion_;
    std::vector<std::uint8_t> packed_;
    std::vector<std::int64_t> left_;
    std::int64_t violation_ = 0;
    double now_ = 0.0, best_;
};

/// Let every replica make its trials.
void anneal(const Problem &problem, const Replicas &replicas, const Sizes &sizes,
            std::int64_t trials, std::int64_t seed, std::int64_t turn, int threads) {
    const std::int64_t items = sizes.items, rows = sizes.rows, count = sizes.replicas;
    native::check_length("weight", problem.weight.size(), (items + 1) * rows);
    native::check_lengths(rows, {{"price", problem.price}, {"capacity", problem.capacity}});
    native::check_lengths(items + 1, {{"worth", problem.worth}, {"profit", problem.profit}});
    native::check_length("exponential", problem.exponential.size(), TABLE);
    native::check_lengths(count, {{"temperature", replicas.temperature},
                                  {"value", replicas.value},
                                  {"energy", replicas.energy}});
    native::check_lengths(LANES * count,
                          {{"packing", replicas.packing}, {"champion", replicas.champion}});
    const std::uint64_t key =
        hash((static_cast<std::uint64_t>(seed) << 32) + static_cast<std::uint64_t>(turn));
    native::parallel_for(threads, count, [&](std::int64_t number) {
        const std::int64_t first = number * LANES;
        const Span<std::int32_t> words = replicas.packing.part(first, first + LANES);
        Replica replica(problem, sizes, words, replicas.champion.part(first, first + LANES),
                        replicas.value[number]);
        replica.anneal(trials, replicas.temperature[number],
                       hash(key + static_cast<std::uint64_t>(number)));
        replica.write(words);
        replicas.value[number] = replica.best();
        replicas.energy[number] = replica.energy();
    });
}

} // namespace
} // namespace knapsack::rows

NATIVE_STRUCT(knapsack::rows::Problem, weight, price, worth, profit, capacity, exponential)
NATIVE_STRUCT(knapsack::rows::Replicas, temperature, packing, champion, value, energy)
NATIVE_STRUCT(knapsack::rows::Sizes, replicas, items, rows)

NATIVE_MODULE(knapsack_multidimensional_anneal) {
    using namespace knapsack::rows;
    native::constants(module, "solvers.knapsack.multidimensional.kernels.anneal",
                      {{"LANES", LANES},
                       {"TABLE", TABLE},
                       {"FRACTION_BITS", FRACTION_BITS},
                       {"LARGEST_RISE", LARGEST_RISE}});
    NATIVE_KERNELS(module, anneal);
}
