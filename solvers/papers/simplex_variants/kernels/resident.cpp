// Kernels of the variant "resident"; resident.py states what they compute.
#include "pivots.h"

namespace simplex::paper {
namespace {

/// Both passes of Harris's ratio test, and the exchange of the variables of the pivot.
void ratio_test(std::int64_t size, std::int64_t columns, Reals x, Reals d, IntsOut basic,
                IntsOut position, RealsOut control, int) {
    check_lengths(CONTROL_SIZE, {{"control", control}});
    check_lengths(size, {{"x", x}, {"basic", basic}, {"d", d}});
    check_lengths(columns + size, {{"position", position}});
    if (control[STOP] != RUNNING)
        return;
    const Basic basics = {columns, x, basic, d, control};
    double farthest = ENDLESS;
    for (std::int64_t i = 0; i < size; ++i) {
        const Ratio<double> ratio = basics.ratio(i);
        if (ratio.blocks)
            farthest = std::min(farthest, ratio.relaxed);
    }
    if (farthest >= ENDLESS) {
        control[STOP] = NO_RATIO;
        return;
    }
    Choice best = NOBODY;
    for (std::int64_t i = 0; i < size; ++i) {
        const Ratio<double> ratio = basics.ratio(i);
        if (ratio.blocks && ratio.exact <= farthest)
            best.take(basics.key(i), at(i));
    }
    const Index r = best.index;
    exchange_at(r, basics.ratio(r).exact, d[r], basic, position, control);
}

/// Rank-one update of the inverse.
void update_in_place(std::int64_t size, std::int64_t stride, std::int64_t, Reals d,
                     RealsOut inverse, RealsOut pivot_row, RealsOut control, int threads) {
    check_lengths(CONTROL_SIZE, {{"control", control}});
    check_lengths(size, {{"d", d}, {"pivot_row", pivot_row}});
    check_lengths(size * stride, {{"inverse", inverse}});
    if (control[STOP] != RUNNING)
        return;
    const Index r = static_cast<Index>(control[LEAVING]);
    const double pivot = control[PIVOT];
    native::parallel_for(threads, size, [&](std::int64_t k) {
        double *const column = inverse.data() + k * stride;
        const double rho = column[r] / pivot;
        pivot_row[k] = rho;
        add_multiple(column, -rho, d.data(), size);
        column[r] = rho;
    });
}

/// Compute x = B^-1 b, and the costs of the basic variables.
void solution(std::int64_t size, std::int64_t stride, std::int64_t columns, Reals inverse,
              Reals rhs, Reals cost, Ints basic, RealsOut x, RealsOut basic_cost, RealsOut control,
              int) {
    check_lengths(CONTROL_SIZE, {{"control", control}});
    check_lengths(size * stride, {{"inverse", inverse}});
    check_lengths(size, {{"rhs", rhs}, {"basic", basic}, {"x", x}, {"basic_cost", basic_cost}});
    check_lengths(columns, {{"cost", cost}});
    if (control[STOP] != RUNNING)
        return;
    double *const sums = x.data();
    std::fill(sums, sums + size, 0.0);
    for (std::int64_t k = 0; k < size; ++k)
        if (rhs[k] != 0.0)
            add_multiple(sums, rhs[k], inverse.data() + k * stride, size);
    for (std::int64_t i = 0; i < size; ++i) {
        const bool artificial = basic[i] >= columns;
        basic_cost[i] = control[PHASE] == 2.0
                            ? (artificial ? 0.0 : cost[basic[i]])
                            : infeasibility_cost(x[i], artificial, control[PRIMAL_TOLERANCE]);
    }
}

/// Write the basis into a dense matrix.
void basis_rows(std::int64_t size, std::int64_t columns, const Matrix &matrix, Ints basic,
                RealsOut transposed, int threads) {
    check(matrix, columns);
    check_lengths(size, {{"basic", basic}});
    check_lengths(size * size, {{"transposed", transposed}});
    native::parallel_for(threads, size, [&](std::int64_t i) {
        const Index j = basic[i];
        if (j >= columns) {
            transposed[i * size + j - columns] = 1.0;
            return;
        }
        for (Index k = matrix.starts[j]; k < matrix.starts[j + 1]; ++k)
            transposed[i * size + matrix.rows[k]] = matrix.values[k];
    });
}

/// Compute y = B^-T c_B.
void dual(std::int64_t size, std::int64_t stride, std::int64_t, Reals inverse, Reals basic_cost,
          RealsOut y, RealsOut control, int threads) {
    check_lengths(CONTROL_SIZE, {{"control", control}});
    check_lengths(size * stride, {{"inverse", inverse}});
    check_lengths(size, {{"basic_cost", basic_cost}, {"y", y}});
    if (control[STOP] != RUNNING)
        return;
    native::parallel_for(threads, size, [&](std::int64_t k) {
        const double *const column = inverse.data() + k * stride;
        double sum = 0.0;
        for (std::int64_t i = 0; i < size; ++i)
            sum += column[i] * basic_cost[i];
        y[k] = sum;
    });
}

} // namespace
} // namespace simplex::paper

NATIVE_MODULE(papers_simplex_variants_resident) {
    using namespace simplex::paper;
    NATIVE_KERNELS(module, ratio_test, update_in_place, solution, basis_rows, dual);
}
