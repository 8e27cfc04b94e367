// The batched simplex method on the CPU: one LP after the other, or shared out over the cores.
//
// The methods are in pivots.h, what they act on in dictionary.h; here is how an LP is brought in,
// which phase is whose turn, and what is said at the end.
#include "dictionary.h"
#include "lps.h"
#include "native/threads.h"
#include "pivots.h"

namespace {

/// Write the point, on or within its bounds, and the row duals.
inline void write_point(const Lp &lp, const Data &data, const Given &given, NumbersOut x,
                        NumbersOut y) {
    std::fill(y.begin(), y.end(), 0.0);
    for (std::int64_t j = 0; j < lp.n; ++j) {
        const std::int32_t v = lp.nonbasic[j];
        if (v >= lp.n)
            y[v - lp.n] = lp.reduced[j] * given.row_scale[v - lp.n];
        else if (lp.status[v] == LOWER)
            x[v] = data.lower[v];
        else
            x[v] = lp.status[v] == UPPER ? data.upper[v] : 0.0;
    }
    for (std::int64_t i = 0; i < lp.m; ++i) {
        const std::int32_t v = lp.basic[i];
        if (v < lp.n)
            x[v] = std::min(std::max(lp.value[i] * given.column_scale[v], data.lower[v]),
                            data.upper[v]);
    }
}

/// Write the multipliers of the rows that prove row p of the dictionary infeasible.
///
/// What no ratio test looks at is rounding, here and in a ray.
inline void write_farkas(const Lp &lp, const Given &given, std::int64_t p, double smallest,
                         NumbersOut y) {
    const std::int64_t n = lp.n;
    const std::int32_t leaving = lp.basic[p];
    const double sign = lp.value[p] < lp.low[leaving] ? 1.0 : -1.0;
    std::fill(y.begin(), y.end(), 0.0);
    for (std::int64_t j = 0; j < n; ++j) {
        const std::int32_t v = lp.nonbasic[j];
        if (v >= n && std::fabs(lp.D(p, j)) > smallest)
            y[v - n] = -sign * lp.D(p, j) * given.row_scale[v - n];
    }
    if (leaving >= n)
        y[leaving - n] = sign * given.row_scale[leaving - n];
}

/// Write the direction in which column q of the dictionary improves without end.
inline void write_ray(const Lp &lp, const Given &given, std::int64_t q, double smallest,
                      NumbersOut ray) {
    const double direction = lp.reduced[q] > 0.0 ? -1.0 : 1.0;
    const std::int32_t entering = lp.nonbasic[q];
    std::fill(ray.begin(), ray.end(), 0.0);
    if (entering < lp.n)
        ray[entering] = direction * given.column_scale[entering];
    for (std::int64_t i = 0; i < lp.m; ++i) {
        const std::int32_t v = lp.basic[i];
        if (v < lp.n && std::fabs(lp.D(i, q)) > smallest)
            ray[v] = direction * lp.D(i, q) * given.column_scale[v];
    }
}

} // namespace

using namespace native;

namespace {

constexpr int NOT_REACHED = -1;

/// Whether the caller made the queue negative, which ends the LPs.
bool is_told_to_end(IntsOut queue) {
    return *static_cast<const volatile std::int32_t *>(queue.data()) < 0;
}

/// Give the LP its scaled cost and bounds again, and find what to measure them by.
///
/// Costs are measured by their geometric mean, as a power of two: a few that are meant as penalties
/// must not make all others small. What rounding leaves of the largest is tolerated.
void restore(Lp &lp, const Data &data, const Given &given, double tolerance) {
    double bound_size = 0.0, largest = 0.0, exponents = 0.0, costs = 0.0;
    for (std::int64_t j = 0; j < lp.n; ++j) {
        lp.cost[j] = data.cost[j] * given.column_scale[j];
        lp.low[j] = data.lower[j] / given.column_scale[j];
        lp.high[j] = data.upper[j] / given.column_scale[j];
        const double size = std::fabs(lp.cost[j]);
        largest = std::max(largest, size);
        if (size > 0.0) {
            int exponent = 0;
            std::frexp(size, &exponent);
            exponents += exponent - 1;
            costs += 1.0;
        }
    }
    for (std::int64_t i = 0; i < lp.m; ++i) {
        lp.cost[lp.n + i] = 0.0;
        lp.low[lp.n + i] = data.row_lower[i] * given.row_scale[i];
        lp.high[lp.n + i] = data.row_upper[i] * given.row_scale[i];
    }
    for (std::int64_t v = 0; v < lp.n + lp.m; ++v)
        for (const double bound : {lp.low[v], lp.high[v]})
            if (std::fabs(bound) < INF)
                bound_size = std::max(bound_size, std::fabs(bound));
    const double mean = std::floor(exponents / std::max(costs, 1.0));
    lp.cost_size = std::ldexp(1.0, static_cast<int>(mean));
    lp.dual_tolerance = std::max(tolerance * lp.cost_size, ROUNDING * largest);
    lp.primal_tolerance = tolerance * std::min(std::max(bound_size, 1.0), MOST_SIZE);
}

/// Whether all basic variables are within their bounds.
bool is_primal_feasible(const Lp &lp) {
    for (std::int64_t i = 0; i < lp.m; ++i)
        if (!(lp.outside(i) <= lp.primal_tolerance))
            return false;
    return true;
}

/// Whether no nonbasic variable prices out.
bool is_dual_feasible(const Lp &lp) {
    for (std::int64_t j = 0; j < lp.n; ++j)
        if (lp.is_attractive(j))
            return false;
    return true;
}

/// Flip what has two bounds to the right one, and shift the costs of what has not.
void make_dual_feasible(Lp &lp) {
    for (std::int64_t j = 0; j < lp.n; ++j) {
        if (!lp.is_attractive(j))
            continue;
        const std::int32_t v = lp.nonbasic[j];
        const double price = lp.reduced[j], low = lp.low[v], high = lp.high[v];
        if (low > -INF && high < INF) {
            lp.status[v] = price < 0.0 ? UPPER : LOWER;
            lp.point[j] = price < 0.0 ? high : low;
        } else {
            lp.cost[v] -= price;
            lp.reduced[j] = 0.0;
        }
    }
}

/// Make pivots of one kind, with a look at accuracy and caller from time to time.
Stop pivot_on(Lp &lp, const Given &given, const Settings &settings, bool use_dual, IntsOut queue) {
    std::fill(lp.price.begin(), lp.price.end(), 1.0);
    for (;;) {
        if (use_dual)
            weigh_rows(lp);
        const Stop stop = use_dual ? dual(lp, settings) : primal(lp, settings);
        if (stop.how != PAUSED)
            return stop;
        poll();
        if (is_told_to_end(queue))
            return {AT_LIMIT, stop.at};
        basic_values(lp);
        if (!is_accurate(lp, given, settings)) {
            build(lp, given, settings);
            to_bounds(lp);
            basic_values(lp);
            std::fill(lp.price.begin(), lp.price.end(), 1.0);
        }
        reduced_costs(lp);
    }
}

/// How an LP ended, and at which row or column.
struct Result {
    Ending ending;
    std::int64_t at;
};

/// Take turns of the two methods on true cost and bounds.
Result run(Lp &lp, const Data &data, const Given &given, const Settings &settings, IntsOut queue) {
    for (int round = 0; round < settings.rounds; ++round) {
        restore(lp, data, given, settings.tolerance);
        to_bounds(lp);
        basic_values(lp);
        reduced_costs(lp);
        const bool feasible = is_primal_feasible(lp);
        Stop stop{DONE, -1};
        if (!feasible) {
            make_dual_feasible(lp);
            basic_values(lp);
        }
        if (!(feasible && is_dual_feasible(lp))) {
            stop = pivot_on(lp, given, settings, !feasible, queue);
            if (stop.how == AT_LIMIT)
                return {LIMIT, stop.at};
            if (stop.how == DONE)
                continue;
        }
        basic_values(lp);
        const bool accurate = is_accurate(lp, given, settings) || lp.counts.fresh == 0;
        if (stop.how == DONE && accurate)
            return {OPTIMAL, stop.at};
        if (stop.how == NO_PIVOT && accurate)
            return {feasible ? UNBOUNDED : INFEASIBLE, stop.at};
        build(lp, given, settings);
    }
    return {TROUBLE, -1};
}

/// Start at the dictionary that all share, or at the basis that the statuses name.
void begin(Lp &lp, const Given &given, const Settings &settings, Ints statuses, Numbers dictionary,
           Ints heads, int start) {
    std::copy(statuses.begin(), statuses.end(), lp.status.begin());
    if (start != DICTIONARY) {
        if (start == SLACK)
            std::fill(lp.status.begin() + lp.n, lp.status.end(), BASIC);
        build(lp, given, settings);
        return;
    }
    std::copy(heads.begin(), heads.begin() + lp.m, lp.basic.begin());
    std::copy(heads.begin() + lp.m, heads.begin() + lp.m + lp.n, lp.nonbasic.begin());
    for (std::int64_t i = 0; i < lp.m; ++i)
        for (std::int64_t j = 0; j < lp.n; ++j)
            lp.D(i, j) = dictionary[j * lp.m + i];
}

/// Solve LP after LP.
void simplex(std::int64_t count, std::int64_t rows, std::int64_t columns, const Batch &batch,
             const StartBasis &start, Numbers parameters, int limit, const Room & /*room*/,
             IntsOut queue, const Answers &answers, int threads) {
    const std::int64_t all = rows + columns;
    const int varying = batch.varying;
    const bool shared = start.start == DICTIONARY;
    check_length("starts", batch.starts.size(), rows + 1);
    check_length("indices", batch.indices.size(), batch.starts[rows]);
    check_length("row_scale", start.row_scale.size(), rows);
    check_length("column_scale", start.column_scale.size(), columns);
    check_length("dictionary", start.dictionary.size(), shared ? rows * columns : 0);
    check_length("heads", start.heads.size(), shared ? all : 0);
    check_length("parameters", parameters.size(), ROUNDS + 1);
    check_length("queue", queue.size(), 1);
    check_length("x", answers.x.size(), count * columns);
    check_length("y", answers.y.size(), count * rows);
    check_length("ray", answers.ray.size(), count * columns);
    check_length("basis", answers.basis.size(), count * all);
    check_length("ending", answers.ending.size(), count);
    check_length("iterations", answers.iterations.size(), count);
    const OfEach<double> matrices("values", batch.values, batch.indices.size(), varying, 0, count);
    const OfEach<double> costs("cost", batch.cost, columns, varying, 1, count);
    const OfEach<double> lowers("lower", batch.lower, columns, varying, 2, count);
    const OfEach<double> uppers("upper", batch.upper, columns, varying, 3, count);
    const OfEach<double> row_lowers("row_lower", batch.row_lower, rows, varying, 4, count);
    const OfEach<double> row_uppers("row_upper", batch.row_upper, rows, varying, 5, count);
    const OfEach<std::int32_t> statuses("given", batch.given, all, varying, 6, count);
    const Settings settings(parameters);
    parallel_for(threads, count, [&](std::int64_t k) {
        poll();
        const NumbersOut own_x = answers.x.part(k * columns, (k + 1) * columns);
        const NumbersOut own_y = answers.y.part(k * rows, (k + 1) * rows);
        const IntsOut own_basis = answers.basis.part(k * all, (k + 1) * all);
        if (is_told_to_end(queue)) {
            answers.ending[k] = NOT_REACHED;
            answers.iterations[k] = 0;
            std::fill(own_x.begin(), own_x.end(), 0.0);
            std::fill(own_y.begin(), own_y.end(), 0.0);
            std::fill(own_basis.begin(), own_basis.end(), 0);
            return;
        }
        const Given matrix{batch.starts, batch.indices, matrices.of(k), start.row_scale,
                           start.column_scale};
        const Data data{costs.of(k), lowers.of(k), uppers.of(k), row_lowers.of(k),
                        row_uppers.of(k)};
        Lp lp(rows, columns);
        lp.counts.most = limit;
        begin(lp, matrix, settings, statuses.of(k), start.dictionary, start.heads, start.start);
        const auto [how, at] = run(lp, data, matrix, settings, queue);
        write_point(lp, data, matrix, own_x, own_y);
        if (how == INFEASIBLE)
            write_farkas(lp, matrix, at, settings.smallest_pivot, own_y);
        else if (how == UNBOUNDED)
            write_ray(lp, matrix, at, settings.smallest_pivot,
                      answers.ray.part(k * columns, (k + 1) * columns));
        std::copy(lp.status.begin(), lp.status.end(), own_basis.begin());
        answers.ending[k] = how;
        answers.iterations[k] = static_cast<std::int32_t>(lp.counts.pivots);
    });
}

/// Write the dictionary of a basis by columns, and its basic and then its nonbasic variables;
/// repair its statuses.
void first_dictionary(Ints starts, Ints indices, Numbers values, Numbers row_scale,
                      Numbers column_scale, Numbers parameters, IntsOut status,
                      NumbersOut dictionary, IntsOut heads) {
    Lp lp(row_scale.size(), column_scale.size());
    check_length("starts", starts.size(), lp.m + 1);
    check_length("indices", indices.size(), starts[lp.m]);
    check_length("values", values.size(), starts[lp.m]);
    check_length("parameters", parameters.size(), ROUNDS + 1);
    check_length("status", status.size(), lp.n + lp.m);
    check_length("dictionary", dictionary.size(), lp.m * lp.n);
    check_length("heads", heads.size(), lp.m + lp.n);
    std::copy(status.begin(), status.begin() + lp.n + lp.m, lp.status.begin());
    build(lp, {starts, indices, values, row_scale, column_scale}, Settings(parameters));
    std::copy(lp.status.begin(), lp.status.end(), status.begin());
    std::copy(lp.basic.begin(), lp.basic.end(), heads.begin());
    std::copy(lp.nonbasic.begin(), lp.nonbasic.end(), heads.begin() + lp.m);
    for (std::int64_t i = 0; i < lp.m; ++i)
        for (std::int64_t j = 0; j < lp.n; ++j)
            dictionary[j * lp.m + i] = lp.D(i, j);
}

} // namespace

NATIVE_STRUCT(Batch, starts, indices, varying, values, cost, lower, upper, row_lower, row_upper,
              given)
NATIVE_STRUCT(StartBasis, row_scale, column_scale, dictionary, heads, start)
NATIVE_STRUCT(Room, leading, place, block, blocks, shared, scratch_step, scratch)
NATIVE_STRUCT(Answers, x, y, ray, basis, ending, iterations)

NATIVE_MODULE(simplex_batch_simplex) {
    NATIVE_CONSTANTS(module, "solvers.simplex.batch.data", NOT_REACHED);
    NATIVE_CONSTANTS(module, "solvers.simplex.batch.kernels.simplex", LIMIT, OPTIMAL, INFEASIBLE,
                     UNBOUNDED, TROUBLE, SLACK, DICTIONARY, BASES, ALL_NEAR, MATRIX_FAR, ALL_FAR,
                     MOST_SIZE, ROUNDING);
    expose(module, "first_dictionary", &first_dictionary, "starts", "indices", "values",
           "row_scale", "column_scale", "parameters", "status", "dictionary", "heads");
    NATIVE_KERNELS(module, simplex);
    expose_kernel(module, "simplex_held", &simplex); // where a dictionary is held, on a GPU
}
