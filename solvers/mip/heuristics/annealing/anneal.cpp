// The annealing itself: swaps and shifts that keep every group at one, judged by all rows.
#include "native/bindings.h"

#include <algorithm>

#include "trials.h"

NATIVE_STRUCT(mip::annealing::State, by_column, start, column, value, table, lower, upper, weight,
              activity, delta, stamp, touched, holder, current, best, numbers, random)

namespace mip::annealing {
namespace {

/// Weighted violation below which nothing is violated.
constexpr double NOTHING = 1e-9;

/// The weighted violation of a row.
double outside(const State &state, std::int64_t i, double activity) {
    const double over = std::max(state.lower[i] - activity, activity - state.upper[i]);
    return state.weight[i] * std::max(over, 0.0);
}

/// By how much the weighted violation would rise.
double change_of(const State &state, std::int64_t count) {
    double change = 0.0;
    for (std::int64_t place = 0; place < count; ++place) {
        const std::int64_t i = state.touched[place];
        if (state.delta[i] != 0.0) {
            const double before = state.activity[i];
            change += outside(state, i, before + state.delta[i]) - outside(state, i, before);
        }
    }
    return change;
}

/// Sum activities and the weighted violation anew, and see who holds which value.
void sum_up(const State &state) {
    check(state, STAMP + 1);
    sum_activities(state);
    double energy = 0.0;
    for (std::int64_t i = 0; i < state.activity.size(); ++i)
        energy += outside(state, i, state.activity[i]);
    state.numbers[ENERGY] = energy;
}

/// Let the group that has the value of the trial's new column take ours; false where it may not.
bool ask_holder(const State &state, Trial &trial, std::int64_t j) {
    const std::int64_t v = state.value[j], w = state.value[trial.to];
    if (v >= 0 && w >= 0 && v != w)
        trial.other = state.holder[w];
    if (trial.other >= 0)
        trial.back = state.table(trial.other, v);
    return trial.to != j && (trial.other < 0 || trial.back >= 0);
}

/// Make ``trials`` trials while the temperature falls from ``hot`` to ``cold``.
///
/// Returns the least weighted violation, whose groups are in ``best``; ends where nothing is
/// violated. ``least`` is that of ``best`` so far.
double anneal(const State &state, std::int64_t trials, double hot, double cold, double least) {
    check(state, STAMP + 1);
    const double cooling = cooling_of(hot, cold, trials);
    double temperature = hot, energy = state.numbers[ENERGY];
    auto number = static_cast<std::int64_t>(state.numbers[STAMP]);
    for (std::int64_t made = 0; made < trials; ++made) {
        if (made % POLLED_TRIALS == 0)
            native::poll();
        temperature *= cooling;
        Trial trial = draw_trial(state);
        if (!ask_holder(state, trial, state.current[trial.group]))
            continue;
        ++number;
        const std::int64_t count = add_all(state, trial, number);
        const double change = change_of(state, count);
        if (!is_taken(state, change, temperature))
            continue;
        make(state, trial, count);
        energy += change;
        if (energy < least) {
            least = energy;
            keep(state);
            if (least <= NOTHING)
                break;
        }
    }
    state.numbers[STAMP] = static_cast<double>(number);
    state.numbers[ENERGY] = energy;
    return least;
}

} // namespace
} // namespace mip::annealing

NATIVE_MODULE(mip_heuristics_annealing) {
    using namespace mip::annealing;
    native::expose(module, "sum_up", &sum_up, "state");
    native::expose(module, "anneal", &anneal, "state", "trials", "hot", "cold", "least");
    native::constants(module, "solvers.mip.heuristics.annealing.state",
                      {{"ENERGY", ENERGY}, {"MOVES", MOVES}, {"NOTHING", NOTHING}, {"WORK", WORK}});
}
