// Tabu search for packings: one item in or out at a time, across the border of what fits.
//
// A move is judged by what the item is worth beyond the capacity that it takes, less a price on
// violation. That price rises while packings are too heavy and falls while they fit, so that the
// search swings across the border, where the good packings are (strategic oscillation: Glover and
// Kochenberger, "Critical event tabu search for multidimensional knapsack problems", 1996). With
// nearly all of the duals' price charged for capacity, room left over counts as almost as good as
// filled, and the search is about reduced costs, like the packings that it looks for; with profits
// alone it mostly moves the cheapest items to and fro, and found none of the published optima that
// it now finds in a second. Weights and profits are whole numbers below 2^50 in doubles, so that
// what fits is exact, and a pass over a row of the weights is one over neighbouring numbers.
#include <algorithm>
#include <vector>

#include "native/bindings.h"

namespace knapsack::rows {
namespace {

using native::Grid;
using native::Span;

/// Moves for which an item stays as it is after its own, at least; it keeps small cycles out.
constexpr std::int64_t SHORTEST_TENURE = 5;

/// How many tenures there are; one is drawn at random for each move.
constexpr std::int64_t TENURES = 12;

/// Moves on one side of the border after which prices change.
constexpr std::int64_t PATIENCE = 3;

/// By which they change.
constexpr double FACTOR = 1.08;

/// First, least and largest multiple of the given prices.
constexpr double FIRST = 0.5, LIGHTEST = 0.02, HEAVIEST = 20.0;

/// Moves without a better packing after which the search goes back to the best one.
constexpr std::int64_t RESTART = 20'000;

/// Of the linear congruential generator in 64 bits (Knuth, "The Art of Computer Programming", 2,
/// section 3.3.4); its high bits are the random ones.
constexpr std::uint64_t MULTIPLIER = 6364136223846793005, INCREMENT = 1442695040888963407;
constexpr int HIGH_BITS = 33;

/// Compute the priced violation after the move of each item, in the order of the rows.
NATIVE_HOT void find_violations(const double *__restrict weight, const double *__restrict sign,
                                const double *__restrict left, const double *__restrict price,
                                double *__restrict violation, std::int64_t rows,
                                std::int64_t items) {
    std::fill_n(violation, items, 0.0);
    for (std::int64_t i = 0; i < rows; ++i) {
        const double *row = weight + i * items;
        const double room = left[i], rate = price[i];
        for (std::int64_t f = 0; f < items; ++f) {
            const double excess = sign[f] * row[f] - room;
            violation[f] += rate * (excess > 0.0 ? excess : 0.0);
        }
    }
}

/// Compute what the move of each item gains.
NATIVE_HOT void find_gains(const double *__restrict sign, const double *__restrict worth,
                           const double *__restrict violation, double multiple,
                           double *__restrict gain, std::int64_t items) {
    for (std::int64_t f = 0; f < items; ++f)
        gain[f] = sign[f] * worth[f] - multiple * violation[f];
}

/// A problem, with items that move.
struct Problem {
    Grid<const double> weight;
    Span<const double> price, worth, value;

    std::int64_t rows() const { return weight.shape(0); }
    std::int64_t items() const { return weight.shape(1); }
};

/// One search.
class Search {
  public:
    Search(const Problem &problem, Span<const double> capacity, Span<std::int8_t> packing,
           double profit, std::int64_t seed)
        : problem_(problem), packing_(packing), until_(problem.items()), sign_(problem.items()),
          violation_(problem.items()), gain_(problem.items()),
          left_(capacity.begin(), capacity.begin() + problem.rows()), current_(profit),
          best_(profit), state_(static_cast<std::uint64_t>(seed) * INCREMENT + 1) {
        for (std::int64_t f = 0; f < problem.items(); ++f) {
            sign_[f] = packing[f] == 1 ? -1.0 : 1.0;
            if (packing[f] == 1)
                take_up(f, 1.0);
        }
    }

    double best() const { return best_; }

    void move(std::int64_t number) {
        find_violations(problem_.weight.data(), sign_.data(), left_.data(), problem_.price.data(),
                        violation_.data(), problem_.rows(), problem_.items());
        find_gains(sign_.data(), problem_.worth.data(), violation_.data(), multiple_, gain_.data(),
                   problem_.items());
        const std::int64_t chosen = best_move(number);
        if (chosen < 0)
            return;
        const bool fits = change(chosen);
        state_ = state_ * MULTIPLIER + INCREMENT;
        const std::int64_t draw = static_cast<std::int64_t>(state_ >> HIGH_BITS) % TENURES;
        until_[chosen] = number + SHORTEST_TENURE + draw;
        change_prices(fits);
        if (fits && current_ > best_)
            keep(number);
        else if (number - last_ >= RESTART)
            go_back(number);
    }

  private:
    /// Use capacity up for an item, or with a sign of -1 free it.
    void take_up(std::int64_t f, double sign) {
        for (std::int64_t i = 0; i < problem_.rows(); ++i)
            left_[i] -= sign * problem_.weight(i, f);
    }

    /// Return the item whose move gains most of those that may move, or -1.
    std::int64_t best_move(std::int64_t number) const {
        const double *sign = sign_.data(), *violation = violation_.data();
        const double *gain = gain_.data(), *value = problem_.value.data();
        std::int64_t chosen = -1;
        double top = -native::INF;
        for (std::int64_t f = 0; f < problem_.items(); ++f) {
            if (gain[f] <= top)
                continue;
            const bool is_best = violation[f] == 0.0 && current_ + sign[f] * value[f] > best_;
            if (number > until_[f] || is_best) {
                top = gain[f];
                chosen = f;
            }
        }
        return chosen;
    }

    /// Put an item in or take it out; return whether everything fits then.
    bool change(std::int64_t chosen) {
        const double step = sign_[chosen];
        sign_[chosen] = -step;
        current_ += step * problem_.value[chosen];
        take_up(chosen, step);
        return std::all_of(left_.begin(), left_.end(), [](double room) { return room >= 0.0; });
    }

    /// Make violation dearer or cheaper after some moves on one side of the border.
    void change_prices(bool fits) {
        streak_ = fits == fitted_ ? streak_ + 1 : 1;
        fitted_ = fits;
        if (streak_ < PATIENCE)
            return;
        streak_ = 0;
        multiple_ = fits ? multiple_ / FACTOR : multiple_ * FACTOR;
        multiple_ = std::min(std::max(multiple_, LIGHTEST), HEAVIEST);
    }

    void keep(std::int64_t number) {
        best_ = current_;
        last_ = number;
        for (std::int64_t f = 0; f < problem_.items(); ++f)
            packing_[f] = sign_[f] < 0.0 ? 1 : 0;
    }

    void go_back(std::int64_t number) {
        last_ = number;
        current_ = best_;
        for (std::int64_t f = 0; f < problem_.items(); ++f) {
            const double wanted = packing_[f] == 1 ? -1.0 : 1.0;
            if (sign_[f] != wanted)
                take_up(f, sign_[f]);
            sign_[f] = wanted;
        }
    }

    const Problem &problem_;
    Span<std::int8_t> packing_;
    std::vector<std::int64_t> until_;             // until which move an item stays
    std::vector<double> sign_, violation_, gain_; // of each item's move
    std::vector<double> left_;                    // of each capacity
    double current_, best_, multiple_ = FIRST;
    std::int64_t last_ = 0, streak_ = 0;
    bool fitted_ = true;
    std::uint64_t state_;
};

/// Improve a packing that fits, in place; return its profit.
///
/// ``weight`` (m, k), ``capacity`` (m,) and profits ``value`` (k,) are whole numbers, ``price``
/// (m,) is that of a unit of violation of each capacity, positive, and ``worth`` (k,) what each
/// item counts for. ``packing`` (k,) is the packing at the beginning, and the best found at the
/// end; ``profit`` that of the one given, items that do not take part included. The search ends
/// where ``stop[0]`` is set.
double tabu_search(Grid<const double> weight, Span<const double> capacity, Span<const double> price,
                   Span<const double> worth, Span<const double> value, Span<std::int8_t> packing,
                   double profit, std::int64_t moves, std::int64_t seed,
                   Span<const std::int8_t> stop) {
    const Problem problem{weight, price, worth, value};
    native::check_length("capacity", capacity.size(), problem.rows());
    native::check_length("price", price.size(), problem.rows());
    native::check_length("worth", worth.size(), problem.items());
    native::check_length("value", value.size(), problem.items());
    native::check_length("packing", packing.size(), problem.items());
    native::check_length("stop", stop.size(), 1);
    Search search(problem, capacity, packing, profit, seed);
    for (std::int64_t move = 1; move <= moves && !native::is_set(stop); ++move) {
        native::poll();
        search.move(move);
    }
    return search.best();
}

} // namespace
} // namespace knapsack::rows

NATIVE_MODULE(knapsack_multidimensional_tabu) {
    native::expose(module, "tabu_search", &knapsack::rows::tabu_search, "weight", "capacity",
                   "price", "worth", "value", "packing", "profit", "moves", "seed", "stop");
}
