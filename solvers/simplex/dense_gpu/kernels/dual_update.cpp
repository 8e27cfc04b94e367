// What a dual pivot changes; dual_update.py states it.
#include "arrays.h"

namespace simplex::dense_gpu {
namespace {

/// The pivot: position r, variables, steps, and what becomes of weights.
struct Exchange {
    Index position, leaving, entering, made;
    double pivot, primal_step, dual_step, entering_value, norm, bound;
    bool below, steepest, reset;
};

/// What a pivot changes by position, and what it reads for that.
struct Positions {
    Reals lower, upper, alpha, beta, tau;
    TableOut etas;
    RealsOut value, low, high, weights;
    IntsOut variable;
};

/// What a pivot changes by variable.
struct Variables {
    Reals lower, upper, alpha;
    RealsOut x, reduced_cost;
    IntsOut status, reference;
};

double next_weight(std::int64_t p, double share, const Exchange &made, const Positions &all) {
    if (p == made.position)
        return std::max(made.norm / (made.pivot * made.pivot), made.steepest ? LEAST_WEIGHT : 1.0);
    if (made.steepest)
        return std::max(all.weights[p] + share * (share * made.norm - 2.0 * all.tau[p]),
                        LEAST_WEIGHT);
    return std::max(all.weights[p], share * share * made.norm);
}

/// Make the pivot at a position.
void update_position(std::int64_t p, const Exchange &made, const Positions &all) {
    const double share = all.alpha[p] / made.pivot;
    const double weight = next_weight(p, share, made, all);
    if (p == made.position) {
        all.value[p] = made.entering_value + made.primal_step;
        all.low[p] = all.lower[made.entering];
        all.high[p] = all.upper[made.entering];
        all.variable[p] = made.entering;
        all.etas(p, made.made) = 1.0 / made.pivot - 1.0;
    } else {
        all.value[p] = all.value[p] - all.beta[p] - made.primal_step * all.alpha[p];
        all.etas(p, made.made) = -share;
    }
    all.weights[p] = made.reset ? 1.0 : weight;
}

/// Make the pivot at a variable.
void update_variable(std::int64_t j, const Exchange &made, const Variables &all) {
    if (j == made.entering) {
        all.reduced_cost[j] = 0.0;
        all.status[j] = BASIC;
    } else if (j == made.leaving) {
        all.reduced_cost[j] = -made.dual_step;
        all.status[j] = made.below || all.lower[j] == all.upper[j] ? LOWER : UPPER;
        all.x[j] = made.bound;
    } else if (all.status[j] != BASIC) {
        all.reduced_cost[j] -= made.dual_step * all.alpha[j];
    }
    if (made.reset)
        all.reference[j] = all.status[j] == BASIC ? 1 : 0;
}

/// Note the pivot, and make the flips before it.
void count_pivot(const Exchange &made, Ints flips, Reals flip_steps, const Variables &all,
                 RealsOut cost, native::Grid<Index> pivot_log, IntsOut control, double shift) {
    pivot_log(made.made, 0) = made.position;
    pivot_log(made.made, 1) = made.leaving;
    pivot_log(made.made, 2) = made.entering;
    control[PIVOTS] = made.made + 1;
    control[ITERATIONS] += 1;
    control[ALL_FLIPS] += control[FLIPS];
    cost[made.entering] -= shift;
    for (Index f = 0; f < control[FLIPS]; ++f) {
        const Index j = flips[f];
        const bool up = flip_steps[f] > 0.0;
        all.x[j] = up ? all.upper[j] : all.lower[j];
        all.status[j] = up ? UPPER : LOWER;
    }
}

/// Whether the pivot element came out the same from row and column; notes the error.
bool is_accurate(double pivot, RealsOut scalars) {
    const double by_row = scalars[PIVOT], error = std::fabs(pivot - by_row);
    scalars[ERROR] = error;
    return error <= scalars[PIVOT_ERROR] * std::min(std::fabs(pivot), std::fabs(by_row));
}

/// Make a dual pivot.
void update_dual(std::int64_t rows, std::int64_t structurals, std::int64_t most,
                 std::int64_t steepest, Reals lower, Reals upper, Table alpha_rows, Reals alpha,
                 Reals beta, Reals tau, Ints flips, Reals flip_steps, TableOut etas,
                 RealsOut x_basic, RealsOut lower_basic, RealsOut upper_basic, RealsOut weights,
                 RealsOut x, RealsOut cost, RealsOut reduced_cost, IntsOut basic, IntsOut status,
                 IntsOut reference, native::Grid<Index> pivot_log, RealsOut partial_value,
                 IntsOut partial_index, IntsOut control, RealsOut scalars, int threads) {
    const std::int64_t variables = rows + structurals, groups = groups_of(rows);
    check_lengths(CONTROL_WORDS, {{"control", control}, {"scalars", scalars}});
    check_lengths(variables, {{"lower", lower},
                              {"upper", upper},
                              {"x", x},
                              {"cost", cost},
                              {"reduced_cost", reduced_cost},
                              {"status", status},
                              {"reference", reference}});
    check_lengths(rows, {{"alpha", alpha},
                         {"beta", beta},
                         {"tau", tau},
                         {"x_basic", x_basic},
                         {"lower_basic", lower_basic},
                         {"upper_basic", upper_basic},
                         {"weights", weights},
                         {"basic", basic}});
    check_lengths(most * variables, {{"alpha_rows", alpha_rows}});
    check_lengths(rows * most, {{"etas", etas}});
    check_lengths(3 * most, {{"pivot_log", pivot_log}});
    check_lengths(control[FLIPS], {{"flips", flips}, {"flip_steps", flip_steps}});
    check_lengths(groups, {{"partial_value", partial_value}, {"partial_index", partial_index}});
    if (control[STATUS] != RUNNING)
        return;
    const Index made = control[MADE], r = control[POSITION];
    const double pivot = alpha[r];
    if (!is_accurate(pivot, scalars)) {
        control[STATUS] = INACCURATE;
        return;
    }
    const double step = (scalars[VALUE] - beta[r] - scalars[BOUND]) / pivot;
    const Exchange exchange = {r,
                               control[LEAVING],
                               control[ENTERING],
                               made,
                               pivot,
                               step,
                               scalars[DUAL_STEP],
                               scalars[ENTERING_VALUE],
                               scalars[NORM],
                               scalars[BOUND],
                               scalars[EXCESS] < 0.0,
                               steepest == 1,
                               control[RESET] == 1};
    const Positions positions = {lower,   upper,       alpha,       beta,    tau,  etas,
                                 x_basic, lower_basic, upper_basic, weights, basic};
    const Variables of = {lower, upper, alpha_rows[made], x, reduced_cost, status, reference};
    count_pivot(exchange, flips, flip_steps, of, cost, pivot_log, control, scalars[COST_SHIFT]);
    const Basics basics = {x_basic, lower_basic, upper_basic, weights};
    const double tolerance = scalars[PRIMAL_TOLERANCE];
    leave_best(threads, rows, groups, partial_value, partial_index, [&](std::int64_t p) {
        update_position(p, exchange, positions);
        return basics.merit(p, tolerance);
    });
    native::parallel_for(threads, variables,
                         [&](std::int64_t j) { update_variable(j, exchange, of); });
}

} // namespace
} // namespace simplex::dense_gpu

NATIVE_MODULE(simplex_dense_gpu_dual_update) {
    using namespace simplex::dense_gpu;
    NATIVE_KERNELS(module, update_dual);
}
