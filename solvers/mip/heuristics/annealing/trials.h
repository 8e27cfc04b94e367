// Trials: a group goes to another of its columns, and another group may give way.
#pragma once

#include <algorithm>
#include <cmath>

#include "native/bindings.h"
#include "state.h"

namespace mip::annealing {

/// Steps between 0 and 1 of what decides whether a rise is taken.
constexpr std::int64_t FINE = 1 << 30;

/// Trials between two looks at whether to end.
constexpr std::int64_t POLLED_TRIALS = 1024;

/// Group ``group`` goes to column ``to``, group ``other``, if it is not -1, to column ``back``.
struct Trial {
    std::int64_t group;
    std::int32_t to;
    std::int64_t other = -1;
    std::int32_t back = -1;
};

/// A whole number from 0 to ``bound`` - 1, by Marsaglia's xorshift generator.
inline std::int64_t below(const State &state, std::int64_t bound) {
    std::uint64_t word = state.random[0];
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    state.random[0] = word;
    return static_cast<std::int64_t>(((word >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
}

/// Any group and any of its columns.
inline Trial draw_trial(const State &state) {
    const std::int64_t g = below(state, state.current.size());
    const std::int64_t first = state.start[g];
    return {g, state.column[first + below(state, state.start[g + 1] - first)]};
}

/// Add a column's entries to the trial's changes; returns how many rows it touches now.
inline std::int64_t add(const State &state, std::int64_t j, double sign, std::int64_t number,
                        std::int64_t count) {
    const std::int64_t first = state.by_column.indptr[j], last = state.by_column.indptr[j + 1];
    for (std::int64_t k = first; k < last; ++k) {
        const std::int32_t i = state.by_column.indices[k];
        if (state.stamp[i] != number) {
            state.stamp[i] = number;
            state.delta[i] = 0.0;
            state.touched[count] = i;
            ++count;
        }
        state.delta[i] += sign * state.by_column.data[k];
    }
    state.numbers[WORK] += static_cast<double>(last - first);
    return count;
}

/// Sum up what a trial changes; returns how many rows it touches.
inline std::int64_t add_all(const State &state, const Trial &trial, std::int64_t number) {
    std::int64_t count = add(state, state.current[trial.group], -1.0, number, 0);
    count = add(state, trial.to, 1.0, number, count);
    if (trial.other >= 0) {
        count = add(state, state.current[trial.other], -1.0, number, count);
        count = add(state, trial.back, 1.0, number, count);
    }
    return count;
}

/// Whether a change is taken: by chance, if it is a rise.
inline bool is_taken(const State &state, double change, double temperature) {
    return !(change > 0.0 && static_cast<double>(below(state, FINE)) >=
                                 static_cast<double>(FINE) * std::exp(-change / temperature));
}

/// Make the trial, which touches ``count`` rows.
inline void make(const State &state, const Trial &trial, std::int64_t count) {
    for (std::int64_t place = 0; place < count; ++place) {
        const std::int64_t i = state.touched[place];
        state.activity[i] += state.delta[i];
    }
    const std::int64_t v = state.value[state.current[trial.group]], w = state.value[trial.to];
    if (v >= 0 && state.holder[v] == trial.group)
        state.holder[v] = static_cast<std::int32_t>(trial.other);
    if (w >= 0)
        state.holder[w] = static_cast<std::int32_t>(trial.group);
    state.current[trial.group] = trial.to;
    if (trial.other >= 0)
        state.current[trial.other] = trial.back;
    state.numbers[MOVES] += 1.0;
}

/// Write down which column is 1 in each group.
inline void keep(const State &state) {
    std::copy(state.current.begin(), state.current.end(), state.best.begin());
}

/// Sum activities anew, and see who holds which value.
inline void sum_activities(const State &state) {
    std::fill(state.activity.begin(), state.activity.end(), 0.0);
    std::fill(state.holder.begin(), state.holder.end(), -1);
    for (std::int64_t g = 0; g < state.current.size(); ++g) {
        const std::int64_t j = state.current[g];
        if (state.value[j] >= 0)
            state.holder[state.value[j]] = static_cast<std::int32_t>(g);
        for (std::int64_t k = state.by_column.indptr[j]; k < state.by_column.indptr[j + 1]; ++k)
            state.activity[state.by_column.indices[k]] += state.by_column.data[k];
    }
}

/// By what the temperature is multiplied at each trial, to fall from ``hot`` to ``cold``.
inline double cooling_of(double hot, double cold, std::int64_t trials) {
    return std::pow(cold / hot, 1.0 / static_cast<double>(std::max<std::int64_t>(1, trials)));
}

inline void check(const State &state, std::int64_t numbers) {
    const std::int64_t m = state.activity.size(), groups = state.current.size();
    native::check_length("lower", state.lower.size(), m);
    native::check_length("upper", state.upper.size(), m);
    native::check_length("weight", state.weight.size(), m);
    native::check_length("delta", state.delta.size(), m);
    native::check_length("stamp", state.stamp.size(), m);
    native::check_length("start", state.start.size(), groups + 1);
    native::check_length("best", state.best.size(), groups);
    native::check_rows("by_column", state.by_column, state.by_column.indptr.size() - 1);
    native::check_length("numbers", state.numbers.size(), numbers);
    native::check_length("random", state.random.size(), 1);
}

} // namespace mip::annealing
