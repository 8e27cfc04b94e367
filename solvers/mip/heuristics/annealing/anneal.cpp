// Annealing by swap moves: a group goes to another of its columns, and another group may give way.
#include "state.h"

#include <algorithm>
#include <cmath>

namespace mip::annealing {
namespace {

/// The number of no trial.
constexpr std::int64_t NO_TRIAL = -1;

/// Steps between 0 and 1 of what decides whether a rise is taken.
constexpr std::int64_t FINE = 1 << 30;

/// Group ``group`` goes to column ``to``, group ``other``, if it is not -1, to column ``back``.
struct Trial {
    std::int64_t group;
    std::int32_t to;
    std::int64_t other = -1;
    std::int32_t back = -1;
};

/// A whole number from 0 to ``bound`` - 1, by Marsaglia's xorshift generator.
std::int64_t below(const State &state, std::int64_t bound) {
    std::uint64_t word = state.random[0];
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    state.random[0] = word;
    return static_cast<std::int64_t>(((word >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
}

/// Any group and any of its columns.
Trial draw_trial(const State &state) {
    const std::int64_t g = below(state, state.current.size());
    const std::int64_t first = state.choices.start[g];
    return {g, state.choices.column[first + below(state, state.choices.start[g + 1] - first)]};
}

/// Add a column's entries to the trial's changes; returns how many rows it touches now.
std::int64_t add(const State &state, std::int64_t j, double sign, std::int64_t number,
                 std::int64_t count) {
    const std::int64_t first = state.by_column.indptr[j], last = state.by_column.indptr[j + 1];
    for (std::int64_t k = first; k < last; ++k) {
        const std::int32_t i = state.by_column.indices[k];
        if (state.trial.stamp[i] != number) {
            state.trial.stamp[i] = number;
            state.trial.delta[i] = 0.0;
            state.trial.touched[count] = i;
            ++count;
        }
        state.trial.delta[i] += sign * state.by_column.data[k];
    }
    state.numbers[WORK] += static_cast<double>(last - first);
    return count;
}

/// Sum up what a trial changes; returns how many rows it touches.
std::int64_t add_all(const State &state, const Trial &trial, std::int64_t number) {
    std::int64_t count = add(state, state.current[trial.group], -1.0, number, 0);
    count = add(state, trial.to, 1.0, number, count);
    if (trial.other >= 0) {
        count = add(state, state.current[trial.other], -1.0, number, count);
        count = add(state, trial.back, 1.0, number, count);
    }
    return count;
}

/// Whether a change is taken: by chance, if it is a rise.
bool is_taken(const State &state, double change, double temperature) {
    return !(change > 0.0 && static_cast<double>(below(state, FINE)) >=
                                 static_cast<double>(FINE) * std::exp(-change / temperature));
}

/// Make the trial, which touches ``count`` rows.
void make(const State &state, const Trial &trial, std::int64_t count) {
    for (std::int64_t place = 0; place < count; ++place) {
        const std::int64_t i = state.trial.touched[place];
        state.rows.activity[i] += state.trial.delta[i];
    }
    const std::int64_t v = state.choices.value[state.current[trial.group]],
                       w = state.choices.value[trial.to];
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
void keep(const State &state) {
    std::copy(state.current.begin(), state.current.end(), state.best.begin());
}

/// Sum activities anew, and see who holds which value.
void sum_activities(const State &state) {
    std::fill(state.rows.activity.begin(), state.rows.activity.end(), 0.0);
    std::fill(state.holder.begin(), state.holder.end(), -1);
    for (std::int64_t g = 0; g < state.current.size(); ++g) {
        const std::int64_t j = state.current[g];
        if (state.choices.value[j] >= 0)
            state.holder[state.choices.value[j]] = static_cast<std::int32_t>(g);
        for (std::int64_t k = state.by_column.indptr[j]; k < state.by_column.indptr[j + 1]; ++k)
            state.rows.activity[state.by_column.indices[k]] += state.by_column.data[k];
    }
}

/// By what the temperature is multiplied at each trial, to fall from ``hot`` to ``cold``.
double cooling_of(double hot, double cold, std::int64_t trials) {
    return std::pow(cold / hot, 1.0 / static_cast<double>(std::max<std::int64_t>(1, trials)));
}

/// By how much weighted violation, objective and number of violated sides would rise.
struct Rise {
    double hard = 0.0, cost = 0.0;
    std::int64_t violated = 0;
};

/// How much a side of a row is violated; negative where there is room.
double short_of(const State &state, std::int64_t i, std::int64_t side, double activity) {
    return side == 0 ? state.rows.lower[i] - activity : activity - state.rows.upper[i];
}

/// What the rows ask of a slack, with the changes of a trial, or as things are for NO_TRIAL.
double units(const State &state, std::int64_t s, std::int64_t number) {
    double asked = state.slacks.least[s];
    for (std::int64_t k = state.slacks.start[s]; k < state.slacks.start[s + 1]; ++k) {
        const std::int64_t i = state.slacks.row[k];
        double activity = state.rows.activity[i];
        if (state.trial.stamp[i] == number)
            activity += state.trial.delta[i];
        asked = std::max(asked, short_of(state, i, state.slacks.side[k], activity) /
                                    state.slacks.scale[k]);
    }
    return state.slacks.is_whole[s] ? std::ceil(asked - SLOP) : asked;
}

/// What a slack costs within its bounds.
double price(const State &state, std::int64_t s, double asked) {
    return state.slacks.cost[s] * std::min(asked, state.slacks.most[s]);
}

/// What a slack is beyond its bounds, weighted.
double too_much(const State &state, std::int64_t s, double asked) {
    return state.excess[s] * std::max(0.0, asked - state.slacks.most[s]);
}

/// 1 for a violation that counts, else 0.
std::int64_t is_out(double by) { return by > SLOP ? 1 : 0; }

/// The column of a group with a label, -1 where there is none.
std::int32_t of_label(const State &state, std::int64_t g, std::int64_t label) {
    return label >= 0 ? state.by_label(g, label) : -1;
}

/// Let another choice with a column in a row of ``j`` or of the trial's column change, too: to that
/// column where it is not chosen, else to none. Without one the trial stays as it is.
void ask_across(const State &state, Trial &trial, std::int64_t j) {
    const std::int64_t k = state.by_column.indptr[j] < state.by_column.indptr[j + 1] ? j : trial.to;
    const std::int64_t first = state.by_column.indptr[k],
                       size = state.by_column.indptr[k + 1] - first;
    if (size == 0)
        return;
    const std::int64_t i = state.by_column.indices[first + below(state, size)];
    const std::int64_t begin = state.by_row.indptr[i];
    std::int32_t back =
        state.by_row.indices[begin + below(state, state.by_row.indptr[i + 1] - begin)];
    const std::int64_t other = state.choices.group[back];
    if (other >= 0 && state.current[other] == back)
        back = state.choices.none[other];
    if (back >= 0 && other != trial.group) {
        trial.other = other;
        trial.back = back;
    }
}

/// Add what a slack's costs and violations change by to the rise, once for each trial.
void add_slack(const State &state, std::int64_t s, std::int64_t number, Rise &rise) {
    if (state.trial.mark[s] == number)
        return;
    state.trial.mark[s] = number;
    const double before = units(state, s, NO_TRIAL), after = units(state, s, number);
    const double most = state.slacks.most[s];
    rise.cost += price(state, s, after) - price(state, s, before);
    rise.hard += too_much(state, s, after) - too_much(state, s, before);
    rise.violated += is_out(after - most) - is_out(before - most);
    state.numbers[WORK] +=
        static_cast<double>(2 * (std::int64_t{state.slacks.start[s + 1]} - state.slacks.start[s]));
}

/// What a trial that touches ``count`` rows changes; the columns' own costs are left out.
Rise rise_of(const State &state, std::int64_t count, std::int64_t number) {
    Rise rise;
    for (std::int64_t place = 0; place < count; ++place) {
        const std::int64_t i = state.trial.touched[place];
        if (state.trial.delta[i] == 0.0)
            continue;
        const double before = state.rows.activity[i], after = before + state.trial.delta[i];
        for (std::int64_t side = 0; side < 2; ++side) {
            const std::int64_t s = state.slacks.of_side(i, side);
            if (s >= 0) {
                add_slack(state, s, number, rise);
                continue;
            }
            const double now = short_of(state, i, side, before);
            const double then = short_of(state, i, side, after);
            rise.hard += state.rows.weight[i] * (std::max(0.0, then) - std::max(0.0, now));
            rise.violated += is_out(then) - is_out(now);
        }
    }
    return rise;
}

/// Sum activities, violation and objective anew, and see who holds which value.
void sum_up(const State &state) {
    check(state);
    sum_activities(state);
    double hard = 0.0, cost = 0.0;
    std::int64_t violated = 0;
    for (const std::int32_t j : state.current)
        cost += state.cost[j];
    for (std::int64_t i = 0; i < state.rows.activity.size(); ++i)
        for (std::int64_t side = 0; side < 2; ++side)
            if (state.slacks.of_side(i, side) < 0) {
                const double out = short_of(state, i, side, state.rows.activity[i]);
                hard += state.rows.weight[i] * std::max(0.0, out);
                violated += is_out(out);
            }
    for (std::int64_t s = 0; s < state.slacks.cost.size(); ++s) {
        const double asked = units(state, s, NO_TRIAL);
        cost += price(state, s, asked);
        hard += too_much(state, s, asked);
        violated += is_out(asked - state.slacks.most[s]);
    }
    state.numbers[HARD] = hard;
    state.numbers[COST] = cost;
    state.numbers[VIOLATED] = static_cast<double>(violated);
}

/// Choose who else changes: a choice with another label, who has the value, or one across a row.
///
/// Returns whether the trial can be made.
bool complete(const State &state, Trial &trial, std::int64_t j) {
    const std::int64_t v = state.choices.value[j], w = state.choices.value[trial.to];
    if (state.label[j] >= 0 && below(state, 2) == 0) {
        trial.other = below(state, state.current.size());
        trial.to = of_label(state, trial.group, state.label[state.current[trial.other]]);
        trial.back = of_label(state, trial.other, state.label[j]);
    } else if (v >= 0 && w >= 0 && v != w) {
        trial.other = state.holder[w];
        if (trial.other >= 0)
            trial.back = state.choices.table(trial.other, v);
    } else if (below(state, 2) == 0) {
        ask_across(state, trial, j);
    }
    return trial.to >= 0 && trial.to != j && (trial.other < 0 || trial.back >= 0);
}

/// By how much the costs of the trial's columns would rise.
double own_rise(const State &state, const Trial &trial) {
    double own = state.cost[trial.to] - state.cost[state.current[trial.group]];
    if (trial.other >= 0)
        own += state.cost[trial.back] - state.cost[state.current[trial.other]];
    return own;
}

/// Make ``trials`` trials while the temperature falls from ``hot`` to ``cold``.
///
/// Returns the least objective of a point that violates nothing, whose choices are in ``best``;
/// ``least`` is that of ``best`` so far.
double anneal(const State &state, std::int64_t trials, double hot, double cold, double least) {
    check(state);
    const double cooling = cooling_of(hot, cold, trials);
    double temperature = hot;
    auto number = static_cast<std::int64_t>(state.numbers[STAMP]);
    double hard = state.numbers[HARD], cost = state.numbers[COST];
    auto violated = static_cast<std::int64_t>(state.numbers[VIOLATED]);
    for (std::int64_t made = 0; made < trials; ++made) {
        native::poll();
        temperature *= cooling;
        Trial trial = draw_trial(state);
        if (!complete(state, trial, state.current[trial.group]))
            continue;
        ++number;
        const double own = own_rise(state, trial);
        const std::int64_t count = add_all(state, trial, number);
        const Rise rise = rise_of(state, count, number);
        const double dearer = rise.cost + own;
        if (!is_taken(state, rise.hard + dearer, temperature))
            continue;
        make(state, trial, count);
        state.numbers[SUM] += std::abs(dearer);
        hard += rise.hard;
        cost += dearer;
        violated += rise.violated;
        if (violated == 0 && cost < least - SAME * std::max(1.0, std::abs(least))) {
            least = cost;
            keep(state);
        }
    }
    state.numbers[STAMP] = static_cast<double>(number);
    state.numbers[VIOLATED] = static_cast<double>(violated);
    state.numbers[HARD] = hard;
    state.numbers[COST] = cost;
    return least;
}

} // namespace
} // namespace mip::annealing

NATIVE_MODULE(mip_heuristics_annealing) {
    using namespace mip::annealing;
    native::expose(module, "sum_up", &sum_up, "state");
    native::expose(module, "anneal", &anneal, "state", "trials", "hot", "cold", "least");
    native::constants(module, "solvers.mip.heuristics.annealing.structure",
                      {{"Number.HARD", HARD},
                       {"Number.WORK", WORK},
                       {"Number.MOVES", MOVES},
                       {"Number.STAMP", STAMP},
                       {"Number.COST", COST},
                       {"Number.SUM", SUM},
                       {"Number.VIOLATED", VIOLATED}});
    native::constants(module, "solvers.mip.model",
                      {{"FEASIBILITY_TOLERANCE", mip::FEASIBILITY_TOLERANCE},
                       {"SLOP", mip::SLOP},
                       {"SAME", mip::SAME},
                       {"ROUNDING", mip::ROUNDING}});
}
