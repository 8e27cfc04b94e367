// An iteration of the primal simplex method in five kernels; iterate.py states what they compute.
#include "pivots.h"

namespace simplex::paper {

namespace {

/// The owners of a part of a reduction.
struct Share {
    std::int64_t first, end;

    Share(std::int64_t part, std::int64_t parts, std::int64_t owners) {
        const std::int64_t size = (owners + parts - 1) / parts;
        first = part * size;
        end = std::min(owners, first + size);
    }
};

/// The part that left the best candidate; -1 without one.
std::int64_t best_of_parts(Reals parts, std::int64_t count) {
    std::int64_t place = -1;
    Choice best = NOBODY;
    for (std::int64_t part = 0; part < count; ++part) {
        const Index before = best.index;
        const double index = parts[SLOTS * part + 1];
        best.take(parts[SLOTS * part], static_cast<Index>(index));
        if (best.index != before)
            place = part;
    }
    return place;
}

void leave(RealsOut parts, std::int64_t part, const Choice &best) {
    parts[SLOTS * part] = best.key;
    parts[SLOTS * part + 1] = best.index;
}

/// What pricing reads of columns and leaves of them.
struct Pricing {
    const Matrix &matrix;
    const Costs &costs;
    RealsOut weight, reduced;
    Reals control;

    /// Price a share of the columns; the largest reduced cost of a basic one.
    double price(const Share &share, Choice &best) const {
        double error = 0.0;
        for (std::int64_t j = share.first; j < share.end; ++j) {
            double with_y = 0.0, with_row = 0.0;
            const Index end = matrix.starts[j + 1];
            for (Index k = matrix.starts[j]; k < end; ++k) {
                with_y += matrix.values[k] * costs.y[matrix.rows[k]];
                with_row += matrix.values[k] * costs.pivot_row[matrix.rows[k]];
            }
            const Index place = costs.position[j];
            const double nonbasic_cost = control[PHASE] == 2.0 ? costs.cost[j] : 0.0;
            const double s = (place >= 0 ? costs.basic_cost[place] : nonbasic_cost) - with_y;
            reduced[j] = s;
            if (place >= 0) {
                weight[j] = 1.0;
                error = std::max(error, std::fabs(s));
                continue;
            }
            weight[j] = std::max(weight[j], with_row * with_row * control[ENTERING_WEIGHT]);
            if (s < -control[DUAL_TOLERANCE])
                best.take(control[BLAND] != 0.0 ? 1.0 : s * s / weight[j], at(j));
        }
        return error;
    }
};

/// Reduced costs, Devex weights, and the best candidate of each part.
void price(std::int64_t columns, std::int64_t, std::int64_t parts, const Matrix &matrix,
           const Costs &costs, RealsOut weight, RealsOut reduced, RealsOut offers, RealsOut control,
           int threads) {
    check(matrix, columns);
    check_lengths(CONTROL_SIZE, {{"control", control}});
    check_lengths(columns, {{"cost", costs.cost},
                            {"position", costs.position},
                            {"weight", weight},
                            {"reduced", reduced}});
    check_lengths(SLOTS * parts, {{"offers", offers}});
    if (control[STOP] == RUNNING && control[ITERATION] >= control[LIMIT])
        control[STOP] = BATCH_DONE;
    if (control[STOP] != RUNNING)
        return;
    control[COSTS_MOVED] = 0.0;
    const Pricing pricing = {matrix, costs, weight, reduced, control};
    native::parallel_for(threads, parts, [&](std::int64_t part) {
        Choice best = NOBODY;
        const double error = pricing.price(Share(part, parts, columns), best);
        leave(offers, part, best);
        offers[SLOTS * part + 2] = error;
    });
}

/// Take the best of the offers, or say why there is none to be trusted.
Index take_offer(const Offers &found, RealsOut control) {
    const std::int64_t place = best_of_parts(found.offers, found.offered);
    double error = 0.0;
    for (std::int64_t part = 0; part < found.offered; ++part)
        error = std::max(error, found.offers[SLOTS * part + 2]);
    const Index q = place >= 0 ? static_cast<Index>(found.offers[SLOTS * place + 1]) : -1;
    control[DUAL_ERROR] = error;
    control[ENTERING] = q;
    if (q >= 0) {
        control[ENTERING_COST] = found.reduced[q];
        control[ENTERING_WEIGHT] = found.weight[q];
    }
    if (error > control[ERROR_ALLOWED] && control[SINCE_INVERSE] > 0.0)
        control[STOP] = INACCURATE;
    else if (q < 0)
        control[STOP] = NO_CANDIDATE;
    return q;
}

/// Compute d = B^-1 a_q, and the smallest relaxed ratio of each part.
void direction(const Shape &shape, const Matrix &matrix, const Offers &found, Reals inverse,
               Reals x, Ints basic, RealsOut d, RealsOut nearest, RealsOut control, int threads) {
    const std::int64_t size = shape.size, stride = shape.stride, parts = shape.parts;
    check(matrix, shape.columns);
    check_lengths(CONTROL_SIZE, {{"control", control}});
    check_lengths(size * stride, {{"inverse", inverse}});
    check_lengths(size, {{"x", x}, {"basic", basic}, {"d", d}});
    check_lengths(shape.columns, {{"reduced", found.reduced}, {"weight", found.weight}});
    check_lengths(SLOTS * found.offered, {{"offers", found.offers}});
    check_lengths(SLOTS * parts, {{"nearest", nearest}});
    if (control[STOP] != RUNNING)
        return;
    const Index q = take_offer(found, control);
    if (control[STOP] != RUNNING)
        return;
    const Basic basics = {shape.columns, x, basic, d, control};
    native::parallel_for(threads, parts, [&](std::int64_t part) {
        const Share share(part, parts, size);
        double *const sums = d.data();
        for (std::int64_t i = share.first; i < share.end; ++i)
            sums[i] = 0.0;
        for (Index k = matrix.starts[q]; k < matrix.starts[q + 1]; ++k)
            add_multiple(sums + share.first, matrix.values[k],
                         inverse.data() + matrix.rows[k] * stride + share.first,
                         share.end - share.first);
        Choice best = NOBODY;
        for (std::int64_t i = share.first; i < share.end; ++i) {
            const Ratio<double> ratio = basics.ratio(i);
            if (ratio.blocks)
                best.take(-ratio.relaxed, at(i));
        }
        leave(nearest, part, best);
    });
}

/// Choose the leaving position of each part.
void choose(std::int64_t size, std::int64_t columns, std::int64_t parts, Reals x, Ints basic,
            Reals d, Reals nearest, RealsOut chosen, RealsOut control, int threads) {
    check_lengths(CONTROL_SIZE, {{"control", control}});
    check_lengths(size, {{"x", x}, {"basic", basic}, {"d", d}});
    check_lengths(SLOTS * parts, {{"nearest", nearest}, {"chosen", chosen}});
    if (control[STOP] != RUNNING)
        return;
    const std::int64_t place = best_of_parts(nearest, parts);
    if (place < 0) {
        control[STOP] = NO_RATIO;
        return;
    }
    const double farthest = -nearest[SLOTS * place];
    const Basic basics = {columns, x, basic, d, control};
    native::parallel_for(threads, parts, [&](std::int64_t part) {
        const Share share(part, parts, size);
        Choice best = NOBODY;
        double step = 0.0;
        for (std::int64_t i = share.first; i < share.end; ++i) {
            const Ratio<double> ratio = basics.ratio(i);
            if (!ratio.blocks || !(ratio.exact <= farthest))
                continue;
            best.take(basics.key(i), at(i));
            if (best.index == i)
                step = ratio.exact;
        }
        leave(chosen, part, best);
        chosen[SLOTS * part + 2] = step;
    });
}

/// What a pivot changes by position.
struct Positions {
    std::int64_t stride, columns;
    Reals inverse, d, cost;
    RealsOut x;
    Ints basic;
    RealsOut basic_cost, pivot_row, control;
    Index r, q;
    double step, pivot;

    void move(std::int64_t i) const {
        pivot_row[i] = inverse[i * stride + r] / pivot;
        if (i == r) {
            x[i] = step;
            basic_cost[i] = control[PHASE] == 2.0 ? cost[q] : 0.0;
            return;
        }
        x[i] -= step * d[i];
        if (control[PHASE] == 2.0)
            return;
        const double c = infeasibility_cost(x[i], basic[i] >= columns, control[PRIMAL_TOLERANCE]);
        if (c != basic_cost[i]) {
            control[COSTS_MOVED] = 1.0;
            basic_cost[i] = c;
        }
    }
};

/// Make the pivot, except for the inverse.
void make_pivot(const Shape &shape, Reals inverse, Reals d, Reals cost, Reals chosen, RealsOut x,
                IntsOut basic, IntsOut position, RealsOut basic_cost, RealsOut pivot_row,
                RealsOut control, int) {
    const std::int64_t size = shape.size, stride = shape.stride, columns = shape.columns;
    const std::int64_t parts = shape.parts;
    check_lengths(CONTROL_SIZE, {{"control", control}});
    check_lengths(size * stride, {{"inverse", inverse}});
    check_lengths(size, {{"d", d},
                         {"x", x},
                         {"basic", basic},
                         {"basic_cost", basic_cost},
                         {"pivot_row", pivot_row}});
    check_lengths(columns, {{"cost", cost}});
    check_lengths(columns + size, {{"position", position}});
    check_lengths(SLOTS * parts, {{"chosen", chosen}});
    if (control[STOP] != RUNNING)
        return;
    const std::int64_t place = best_of_parts(chosen, parts);
    const Index r = static_cast<Index>(chosen[SLOTS * place + 1]);
    const double step = chosen[SLOTS * place + 2], pivot = d[r];
    if (!exchange_at(r, step, pivot, basic, position, control))
        return;
    const Index q = static_cast<Index>(control[ENTERING]);
    const Positions positions = {stride,     columns,   inverse, d, cost, x,    basic,
                                 basic_cost, pivot_row, control, r, q,    step, pivot};
    for (std::int64_t i = 0; i < size; ++i)
        positions.move(i);
}

/// Update a stretch of a column of the inverse, and add its products with the costs to a sum.
NATIVE_HOT double update_stretch(double *__restrict column, double rho, const double *__restrict d,
                                 const double *__restrict cost, std::int64_t size, double sum) {
    for (std::int64_t i = 0; i < size; ++i) {
        column[i] -= rho * d[i];
        sum += cost[i] * column[i];
    }
    return sum;
}

/// Stream over the inverse, and take y along.
void update(std::int64_t size, std::int64_t stride, std::int64_t, Reals d, Reals pivot_row,
            Reals basic_cost, RealsOut inverse, RealsOut y, RealsOut control, int threads) {
    check_lengths(CONTROL_SIZE, {{"control", control}});
    check_lengths(size, {{"d", d}, {"pivot_row", pivot_row}, {"basic_cost", basic_cost}, {"y", y}});
    check_lengths(size * stride, {{"inverse", inverse}});
    if (control[STOP] != RUNNING)
        return;
    const Index r = static_cast<Index>(control[LEAVING]);
    const bool moved = control[COSTS_MOVED] != 0.0;
    native::parallel_for(threads, size, [&](std::int64_t k) {
        const double rho = pivot_row[k];
        if (rho == 0.0 && !moved)
            return;
        double *const column = inverse.data() + k * stride;
        const std::int64_t after = r + 1;
        double sum = update_stretch(column, rho, d.data(), basic_cost.data(), r, 0.0);
        column[r] = rho;
        sum += basic_cost[r] * rho;
        sum = update_stretch(column + after, rho, d.data() + after, basic_cost.data() + after,
                             size - after, sum);
        y[k] = sum;
    });
}

} // namespace
} // namespace simplex::paper

NATIVE_MODULE(papers_simplex_variants_iterate) {
    using namespace simplex::paper;
    NATIVE_CONSTANTS(module, "solvers.papers.simplex_variants.kernels.layout", STOP, PHASE,
                     ITERATION, LIMIT, SINCE_INVERSE, ENTERING, ENTERING_COST, ENTERING_WEIGHT,
                     LEAVING, STEP, PIVOT, COSTS_MOVED, DUAL_ERROR, BLAND, DUAL_TOLERANCE,
                     PRIMAL_TOLERANCE, ZERO_PIVOT, SAFE_PIVOT, ERROR_ALLOWED, DEGENERATE, RUNNING,
                     NO_CANDIDATE, NO_RATIO, INACCURATE, SMALL_PIVOT, BATCH_DONE, BLOCK, SLOTS,
                     CONTROL_SIZE);
    NATIVE_KERNELS(module, price, direction, choose, make_pivot, update);
}
