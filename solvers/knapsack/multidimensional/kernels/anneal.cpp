// Replicas on the CPU, each one trial after the other, as anneal.cu has them.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "native/bindings.h"
#include "native/threads.h"

namespace knapsack::rows {
namespace {

using native::Span;
using Numbers = Span<const std::int32_t>;

#include "trial.cuh"

/// A problem in the small whole numbers that replicas reckon in; the last item is none.
struct Problem {
    Numbers weight, price, worth;
    Span<const double> profit;
    Numbers capacity, exponential;
    std::int64_t items, rows;

    const std::int32_t *weights(std::int64_t item) const { return weight.data() + item * rows; }
};

class Replica {
  public:
    Replica(const Problem &problem, Span<std::int32_t> words, Span<std::int32_t> champion,
            double best)
        : problem_(problem), champion_(champion), packed_(problem.items + 1),
          left_(problem.capacity.begin(), problem.capacity.begin() + problem.rows), best_(best) {
        for (std::int64_t item = 0; item < problem.items; ++item) {
            packed_[item] = (words[item % LANES] >> (item / LANES)) & 1;
            if (packed_[item])
                pack(item);
        }
        for (std::int64_t i = 0; i < problem.rows; ++i)
            violation_ += problem.price[i] * std::max<std::int64_t>(0, -left_[i]);
    }

    double best() const { return best_; }

    /// Return the energy of the packing at hand.
    double energy() const {
        double total = 0.0;
        for (std::int64_t item = 0; item < problem_.items; ++item)
            if (packed_[item])
                total += double(problem_.worth[item]);
        return double(violation_) - total;
    }

    /// Make trials 0 to ``trials``.
    void anneal(std::int64_t trials, int temperature, std::uint64_t key) {
        // what does not change, in variables of its own, as the compiler cannot know that
        const int items = static_cast<int>(problem_.items), last = static_cast<int>(trials);
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
        for (std::int64_t item = 0; item < problem_.items; ++item)
            if (packed_[item])
                words[item % LANES] |= std::int32_t{1} << (item / LANES);
    }

  private:
    void pack(std::int64_t item) {
        const std::int32_t *weight = problem_.weights(item);
        now_ += problem_.profit[item];
        for (std::int64_t i = 0; i < problem_.rows; ++i)
            left_[i] -= weight[i];
    }

    /// Return the priced violation after a trial, or some number beyond its limit.
    std::int64_t violation_after(const Trial &trial) const {
        const std::int32_t *into = problem_.weights(trial.in);
        const std::int32_t *out = problem_.weights(trial.out);
        const std::int32_t *price = problem_.price.data();
        const std::int64_t *left = left_.data();
        std::int64_t after = 0;
        for (std::int64_t i = 0; i < problem_.rows && after <= trial.limit; ++i) {
            const std::int64_t excess = std::int64_t{into[i]} - out[i] - left[i];
            after += price[i] * std::max<std::int64_t>(0, excess);
        }
        return after;
    }

    void accept(const Trial &trial) {
        const std::int32_t *into = problem_.weights(trial.in);
        const std::int32_t *out = problem_.weights(trial.out);
        for (std::int64_t i = 0; i < problem_.rows; ++i)
            left_[i] += std::int64_t{out[i]} - into[i];
        now_ += problem_.profit[trial.in] - problem_.profit[trial.out];
        if (trial.in < problem_.items)
            packed_[trial.in] = 1;
        if (trial.out < problem_.items)
            packed_[trial.out] = 0;
    }

    const Problem &problem_;
    Span<std::int32_t> champion_;
    std::vector<std::uint8_t> packed_;
    std::vector<std::int64_t> left_;
    std::int64_t violation_ = 0;
    double now_ = 0.0, best_;
};

/// Let every replica make its trials.
void anneal(Numbers weight, Numbers price, Numbers worth, Span<const double> profit,
            Numbers capacity, Numbers exponential, Numbers temperature, Span<std::int32_t> packing,
            Span<std::int32_t> champion, Span<double> value, Span<double> energy,
            std::int64_t replicas, std::int64_t items, std::int64_t rows, std::int64_t trials,
            std::int64_t seed, std::int64_t turn, int threads) {
    native::check_length("weight", weight.size(), (items + 1) * rows);
    native::check_length("price", price.size(), rows);
    native::check_length("worth", worth.size(), items + 1);
    native::check_length("profit", profit.size(), items + 1);
    native::check_length("capacity", capacity.size(), rows);
    native::check_length("exponential", exponential.size(), TABLE);
    native::check_length("temperature", temperature.size(), replicas);
    native::check_length("packing", packing.size(), LANES * replicas);
    native::check_length("champion", champion.size(), LANES * replicas);
    native::check_length("value", value.size(), replicas);
    native::check_length("energy", energy.size(), replicas);
    const Problem problem{weight, price, worth, profit, capacity, exponential, items, rows};
    const std::uint64_t key =
        hash((static_cast<std::uint64_t>(seed) << 32) + static_cast<std::uint64_t>(turn));
    native::parallel_for(threads, replicas, [&](std::int64_t number) {
        const std::int64_t first = number * LANES;
        const Span<std::int32_t> words = packing.part(first, first + LANES);
        Replica replica(problem, words, champion.part(first, first + LANES), value[number]);
        replica.anneal(trials, temperature[number], hash(key + static_cast<std::uint64_t>(number)));
        replica.write(words);
        value[number] = replica.best();
        energy[number] = replica.energy();
    });
}

} // namespace
} // namespace knapsack::rows

NATIVE_MODULE(knapsack_multidimensional_anneal) {
    using namespace knapsack::rows;
    native::constants(module, "solvers.knapsack.multidimensional.kernels.anneal",
                      {{"LANES", LANES},
                       {"TABLE", TABLE},
                       {"FRACTION_BITS", FRACTION_BITS},
                       {"LARGEST_RISE", LARGEST_RISE}});
    NATIVE_KERNELS(module, anneal);
}
