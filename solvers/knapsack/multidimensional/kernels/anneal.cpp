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

constexpr std::int64_t LANES = 32;

/// Binary places of the entries of the table.
constexpr int FRACTION_BITS = 16;

/// Violations are kept up to here, so that sums stay within 32 bits.
constexpr std::int64_t LARGEST_RISE = std::int64_t{1} << 30;

/// Entries of the table of exponential draws, as a power of two.
constexpr int TABLE_BITS = 11;

/// SplitMix64.
constexpr std::uint64_t STEP = 0x9E3779B97F4A7C15;

inline std::uint64_t hash(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
    return value ^ (value >> 31);
}

/// Draw an item with 16 of a number's bits.
inline std::int64_t place_of(std::uint64_t random, int shift, std::int64_t items) {
    return static_cast<std::int64_t>(
        (((random >> shift) & 0xFFFF) * static_cast<std::uint64_t>(items)) >> 16);
}

/// A problem in the small whole numbers that replicas reckon in; the last item is none.
struct Problem {
    Numbers weight, price, worth;
    Span<const double> profit;
    Numbers capacity, exponential;
    std::int64_t items, rows;

    const std::int32_t *weights(std::int64_t item) const { return weight.data() + item * rows; }
};

/// A trial: two items that change places, one of which may be none, and how large the violation may
/// be then.
struct Trial {
    std::int64_t number, into, out, limit;
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
    void anneal(std::int64_t trials, std::int64_t temperature, std::uint64_t key) {
        for (Trial trial{-1, 0, 0, 0};;) {
            trial = next_trial(trial.number + 1, trials, temperature, key);
            if (trial.number >= trials)
                return;
            const std::int64_t after = violation_after(trial);
            if (after > trial.limit)
                continue;
            accept(trial);
            violation_ = after;
            if (violation_ == 0 && now_ > best_) {
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

    /// Return the next trial that is not ruled out by what its items are worth.
    Trial next_trial(std::int64_t first, std::int64_t last, std::int64_t temperature,
                     std::uint64_t key) const {
        const std::int64_t items = problem_.items, violation = violation_;
        const std::int32_t *worth = problem_.worth.data(), *draws = problem_.exponential.data();
        const std::uint8_t *packed = packed_.data();
        for (std::int64_t number = first; number < last; ++number) {
            if ((number & 4095) == 0)
                native::poll();
            const std::uint64_t random = hash(key + STEP * static_cast<std::uint64_t>(number + 1));
            const std::int64_t a = place_of(random, 0, items), b = place_of(random, 16, items);
            const std::int64_t c = place_of(random, 32, items);
            const std::uint8_t a_in = packed[a];
            const std::int64_t second = packed[b] != a_in ? b : (packed[c] != a_in ? c : items);
            const std::int64_t into = a_in ? second : a, out = a_in ? a : second;
            const std::int64_t draw = draws[random >> (64 - TABLE_BITS)];
            const std::int64_t gain = std::int64_t{worth[into]} - worth[out];
            const std::int64_t limit = violation + gain + ((temperature * draw) >> FRACTION_BITS);
            if (limit >= 0)
                return {number, into, out, std::min(limit, LARGEST_RISE)};
        }
        return {last, 0, 0, 0};
    }

    /// Return the priced violation after a trial, or some number beyond its limit.
    std::int64_t violation_after(const Trial &trial) const {
        const std::int32_t *into = problem_.weights(trial.into);
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
        const std::int32_t *into = problem_.weights(trial.into);
        const std::int32_t *out = problem_.weights(trial.out);
        for (std::int64_t i = 0; i < problem_.rows; ++i)
            left_[i] += std::int64_t{out[i]} - into[i];
        now_ += problem_.profit[trial.into] - problem_.profit[trial.out];
        if (trial.into < problem_.items)
            packed_[trial.into] = 1;
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
    native::check_length("exponential", exponential.size(), std::int64_t{1} << TABLE_BITS);
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
                       {"TABLE", std::int64_t{1} << TABLE_BITS},
                       {"FRACTION_BITS", FRACTION_BITS},
                       {"LARGEST_RISE", LARGEST_RISE}});
    NATIVE_KERNELS(module, anneal);
}
