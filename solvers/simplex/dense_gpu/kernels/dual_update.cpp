// What a dual pivot changes; dual_update.py states it.
#include "structures.h"

namespace simplex::dense_gpu {
namespace {

/// The pivot: position r, variables, steps, and what becomes of weights.
struct Exchange {
    Index position, leaving, entering, made;
    double pivot, primal_step, dual_step, entering_value, norm, bound;
    bool below, steepest, reset;
};

/// What a pivot changes by variable.
struct Changed {
    Reals lower, upper;
    RealsOut x, cost, reduced_cost;
    IntsOut status, reference;
};

/// What a pivot changes by position, and what it reads for that.
struct Positions {
    const Changed &of;
    const Solutions &solved;
    const BasicsOut &basics;
    Table<double> etas;
    RealsOut weights;
};

double next_weight(std::int64_t p, double share, const Exchange &made, const Positions &all) {
    if (p == made.position)
        return std::max(made.norm / (made.pivot * made.pivot), made.steepest ? LEAST_WEIGHT : 1.0);
    if (made.steepest)
        return std::max(all.weights[p] + share * (share * made.norm - 2.0 * all.solved.tau[p]),
                        LEAST_WEIGHT);
    return std::max(all.weights[p], share * share * made.norm);
}

/// Make the pivot at a position; what then speaks for it to leave.
double update_position(std::int64_t p, const Exchange &made, double tolerance,
                       const Positions &all) {
    const auto &[basic, value, low, high] = all.basics;
    const double share = all.solved.alpha[p] / made.pivot;
    const double weight = next_weight(p, share, made, all);
    if (p == made.position) {
        value[p] = made.entering_value + made.primal_step;
        low[p] = all.of.lower[made.entering];
        high[p] = all.of.upper[made.entering];
        basic[p] = made.entering;
        all.etas(p, made.made) = 1.0 / made.pivot - 1.0;
    } else {
        value[p] = value[p] - all.solved.beta[p] - made.primal_step * all.solved.alpha[p];
        all.etas(p, made.made) = -share;
    }
    all.weights[p] = made.reset ? 1.0 : weight;
    const double over = excess_of(value[p], low[p], high[p], tolerance);
    return over * over / all.weights[p];
}

/// Make the pivot at a variable, of which the pivot row has a share.
void update_variable(std::int64_t j, double share, const Exchange &made, const Changed &all) {
    if (j == made.entering) {
        all.reduced_cost[j] = 0.0;
        all.status[j] = BASIC;
    } else if (j == made.leaving) {
        all.reduced_cost[j] = -made.dual_step;
        all.status[j] = made.below || all.lower[j] == all.upper[j] ? LOWER : UPPER;
        all.x[j] = made.bound;
    } else if (all.status[j] != BASIC) {
        all.reduced_cost[j] -= made.dual_step * share;
    }
    if (made.reset)
        all.reference[j] = all.status[j] == BASIC ? 1 : 0;
}

/// Note the pivot, and make the flips before it.
void count_pivot(const Exchange &made, const Flipped &flipped, const Changed &all,
                 Table<Index> pivot_log, IntsOut control, double shift) {
    pivot_log(made.made, 0) = made.position;
    pivot_log(made.made, 1) = made.leaving;
    pivot_log(made.made, 2) = made.entering;
    control[PIVOTS] = made.made + 1;
    control[ITERATIONS] += 1;
    control[ALL_FLIPS] += control[FLIPS];
    all.cost[made.entering] -= shift;
    for (Index f = 0; f < control[FLIPS]; ++f) {
        const Index j = flipped.flips[f];
        const bool up = flipped.flip_steps[f] > 0.0;
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
void update_dual(std::int64_t rows, std::int64_t structurals, std::int64_t most, int steepest,
                 Table<const double> alpha_rows, const Changed &of, const Solutions &solved,
                 const Flipped &flipped, const BasicsOut &basics, Table<double> etas,
                 RealsOut weights, Table<Index> pivot_log, const PartialsOut &partials,
                 IntsOut control, RealsOut scalars, int threads) {
    const std::int64_t variables = rows + structurals, groups = groups_of(rows);
    check_lengths(CONTROL_WORDS, {{"control", control}, {"scalars", scalars}});
    check_lengths(variables, {{"lower", of.lower},
                              {"upper", of.upper},
                              {"x", of.x},
                              {"cost", of.cost},
                              {"reduced_cost", of.reduced_cost},
                              {"status", of.status},
                              {"reference", of.reference}});
    check(solved, rows);
    check(basics, rows);
    check(partials, groups);
    check_lengths(rows, {{"weights", weights}});
    check_lengths(most * variables, {{"alpha_rows", alpha_rows}});
    check_lengths(rows * most, {{"etas", etas}});
    check_lengths(3 * most, {{"pivot_log", pivot_log}});
    check_lengths(control[FLIPS], {{"flips", flipped.flips}, {"flip_steps", flipped.flip_steps}});
    if (control[STATUS] != RUNNING)
        return;
    const Index made = control[MADE], r = control[POSITION];
    const double pivot = solved.alpha[r];
    if (!is_accurate(pivot, scalars)) {
        control[STATUS] = INACCURATE;
        return;
    }
    const double step = (scalars[VALUE] - solved.beta[r] - scalars[BOUND]) / pivot;
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
    count_pivot(exchange, flipped, of, pivot_log, control, scalars[COST_SHIFT]);
    const Positions positions = {of, solved, basics, etas, weights};
    const double tolerance = scalars[PRIMAL_TOLERANCE];
    leave_best(threads, rows, groups, partials.partial_value, partials.partial_index,
               [&](std::int64_t p) { return update_position(p, exchange, tolerance, positions); });
    const Reals row = alpha_rows[made];
    native::parallel_for(threads, variables,
                         [&](std::int64_t j) { update_variable(j, row[j], exchange, of); });
}

} // namespace
} // namespace simplex::dense_gpu

NATIVE_STRUCT(simplex::dense_gpu::Changed, lower, upper, x, cost, reduced_cost, status, reference)

NATIVE_MODULE(simplex_dense_gpu_dual_update) {
    using namespace simplex::dense_gpu;
    NATIVE_KERNELS(module, update_dual);
}
