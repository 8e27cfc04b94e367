// Products, diagonals and diagonal blocks on the CPU; iteration.py states the contracts.
//
// The steps of a conjugate gradient iteration on the CPU; iteration.py states the contracts. A slot
// holds an even share of the rows or of B's blocks.
#include "rows.h"

using namespace linalg;

namespace {

/// Multiply the matrix, or its magnitudes, by a vector.
template <class Index>
void multiply(std::int64_t rows, Span<const Index> starts, Span<const Index> indices,
              Span<const double> values, Index, Span<const Index>, Index, int,
              Span<const double> vector, int magnitudes, Span<double> product, int threads) {
    const Rows<Index> matrix(rows, starts, indices, values);
    check_length("product", product.size(), rows);
    const auto magnitude = [&](double value, Index column) {
        return std::abs(value) * vector[column];
    };
    parallel_for(threads, rows, [&](std::int64_t i) {
        product[i] = magnitudes ? matrix.sum(i, magnitude) : matrix.product(i, vector);
    });
}

/// Subtract the product from a right-hand side.
template <class Index>
void residual(std::int64_t rows, Span<const Index> starts, Span<const Index> indices,
              Span<const double> values, Index, Span<const Index>, Index, int,
              Span<const double> vector, Span<const double> side, Span<double> r, int threads) {
    const Rows<Index> matrix(rows, starts, indices, values);
    check_length("side", side.size(), rows);
    check_length("r", r.size(), rows);
    parallel_for(threads, rows,
                 [&](std::int64_t i) { r[i] = side[i] - matrix.product(i, vector); });
}

/// Find the diagonal of M.
template <class Index>
void diagonal(std::int64_t rows, Span<const Index> starts, Span<const Index> indices,
              Span<const double> values, Index, Span<const Index>, Index, int,
              Span<const double> weight, int normal, Span<double> product, int threads) {
    const Rows<Index> matrix(rows, starts, indices, values);
    check_length("product", product.size(), rows);
    const auto weighted = [&](double value, Index column) {
        return value * value * weight[column];
    };
    parallel_for(threads, rows, [&](std::int64_t i) {
        const auto own = [i](double value, Index column) { return column == i ? value : 0.0; };
        product[i] = normal ? matrix.sum(i, weighted) : matrix.sum(i, own);
    });
}

/// The product of two rows with weights; their indices ascend.
template <class Index>
double merged(const Rows<Index> &matrix, std::int64_t i, std::int64_t other,
              Span<const double> weight) {
    const auto &[rows, starts, indices, values] = matrix;
    std::int64_t k = starts[i], m = starts[other];
    const std::int64_t end = starts[i + 1], other_end = starts[other + 1];
    double total = 0.0;
    while (k < end && m < other_end) {
        if (indices[k] == indices[m]) {
            total += values[k] * values[m] * weight[indices[k]];
            ++k;
            ++m;
        } else if (indices[k] < indices[m]) {
            ++k;
        } else {
            ++m;
        }
    }
    return total;
}

/// Find the diagonal blocks of M, merging the rows of A where M is A D A'.
template <class Index>
void diagonal_blocks(std::int64_t rows, Span<const Index> starts, Span<const Index> indices,
                     Span<const double> values, Index, Span<const Index>, Index, int,
                     Span<const double> weight, int normal, int block_size, Span<double> blocks,
                     int threads) {
    const Rows<Index> matrix(rows, starts, indices, values);
    check_length("blocks", blocks.size(), rows * block_size);
    parallel_for(threads, rows, [&](std::int64_t i) {
        const std::int64_t first = i / block_size * block_size;
        const std::int64_t end = std::min(first + block_size, rows);
        for (std::int64_t other = first; other < end; ++other) {
            const auto own = [other](double value, Index column) {
                return column == other ? value : 0.0;
            };
            blocks[i * block_size + other - first] =
                normal ? merged(matrix, i, other, weight) : matrix.sum(i, own);
        }
    });
}

} // namespace

namespace {

/// What the new residual means.
Reason judge(Span<const double> control, double gamma, double rr) {
    if (!std::isfinite(rr) || !std::isfinite(gamma))
        return BREAKDOWN;
    if (rr <= control[TARGET])
        return CONVERGED;
    if (control[ITERATIONS] >= control[LIMIT])
        return OUT_OF_ITERATIONS;
    return gamma > 0.0 ? RUNNING : BREAKDOWN;
}

/// Element i of B's diagonal blocks times r.
double block_product(std::int64_t i, std::int64_t rows, std::int64_t block_size,
                     Span<const double> inverse, Span<const double> r) {
    const std::int64_t first = i / block_size * block_size;
    const std::int64_t size = std::min(block_size, rows - first);
    double total = 0.0;
    for (std::int64_t k = 0; k < size; ++k)
        total += inverse[(first + k) * block_size + i - first] * r[first + k];
    return total;
}

/// The first of ``count`` owners that a slot holds.
std::int64_t first_of(std::int64_t slot, std::int64_t slots, std::int64_t count) {
    return slot * count / slots;
}

/// Combine the rows of A with the new direction's multipliers.
template <class Index>
void columns_step(std::int64_t rows, Span<const Index> starts, Span<const Index> indices,
                  Span<const double> values, Index, Span<const Index>, Index, int,
                  Span<const double> weight, Span<const double> u, Span<const double> p, int with_p,
                  Span<const double> control, Span<double> q, int threads) {
    const Rows<Index> matrix(rows, starts, indices, values);
    check_length("weight", weight.size(), rows);
    check_length("p", p.size(), with_p ? u.size() : 0);
    check_length("control", control.size(), CONTROL_SIZE);
    check_length("q", q.size(), rows);
    if (control[STOP] != 0.0)
        return;
    const double beta = control[BETA];
    const auto moved = [&](double value, Index i) { return value * (u[i] + beta * p[i]); };
    parallel_for(threads, rows, [&](std::int64_t j) {
        q[j] = weight[j] * (with_p ? matrix.sum(j, moved) : matrix.product(j, u));
    });
}

/// Find the step sizes of the single-reduction form, or why it ends.
Reason step_sizes(Span<double> control, double gamma, double delta, double squared) {
    const Reason stop = judge(control, gamma, squared);
    control[RR] = squared;
    if (stop != RUNNING)
        return stop;
    const bool fresh = control[FRESH] != 0.0;
    const double beta = fresh ? 0.0 : gamma / control[RZ];
    const double curvature = fresh ? delta : delta - beta * gamma / control[ALPHA];
    if (!(curvature > 0.0) || !std::isfinite(curvature))
        return BREAKDOWN;
    control[BETA] = beta;
    control[ALPHA] = gamma / curvature;
    control[RZ] = gamma;
    control[ITERATIONS] += 1.0;
    control[FRESH] = 0.0;
    return RUNNING;
}

/// Multiply, and find the step sizes.
template <class Index>
void product_single(std::int64_t rows, Span<const Index> starts, Span<const Index> indices,
                    Span<const double> values, Index, Span<const Index>, Index, int,
                    Span<const double> gathered, Span<const double> u, Span<const double> r,
                    Span<double> w, int slots, Span<double> partial, Span<Index>,
                    Span<double> control, int threads) {
    const Rows<Index> matrix(rows, starts, indices, values);
    check_length("u", u.size(), rows);
    check_length("r", r.size(), rows);
    check_length("w", w.size(), rows);
    check_length("partial", partial.size(), 3 * std::int64_t{slots});
    check_length("control", control.size(), CONTROL_SIZE);
    if (control[STOP] != 0.0)
        return;
    parallel_for(threads, slots, [&](std::int64_t slot) {
        double ru = 0.0, uw = 0.0, rr = 0.0;
        const std::int64_t end = first_of(slot + 1, slots, rows);
        for (std::int64_t i = first_of(slot, slots, rows); i < end; ++i) {
            const double total = matrix.product(i, gathered);
            w[i] = total;
            ru += r[i] * u[i];
            uw += u[i] * total;
            rr += r[i] * r[i];
        }
        partial[slot * 3] = ru;
        partial[slot * 3 + 1] = uw;
        partial[slot * 3 + 2] = rr;
    });
    double gamma = 0.0, delta = 0.0, squared = 0.0;
    for (std::int64_t slot = 0; slot < slots; ++slot) {
        gamma += partial[slot * 3];
        delta += partial[slot * 3 + 1];
        squared += partial[slot * 3 + 2];
    }
    control[STOP] = step_sizes(control, gamma, delta, squared);
}

/// Take the step and precondition the new residual.
void update_single(std::int64_t rows, int block_size, Span<const double> inverse,
                   Span<const double> w, Span<double> p, Span<double> s, Span<double> x,
                   Span<double> r, Span<double> u, Span<const double> control, int threads) {
    const std::int64_t blocks = (rows + block_size - 1) / block_size;
    check_length("inverse", inverse.size(), blocks * block_size * block_size);
    check_length("w", w.size(), rows);
    for (const auto &vector : {p, s, x, r, u})
        check_length("p, s, x, r or u", vector.size(), rows);
    check_length("control", control.size(), CONTROL_SIZE);
    if (control[STOP] != 0.0)
        return;
    const double alpha = control[ALPHA], beta = control[BETA];
    parallel_for(threads, blocks, [&](std::int64_t block) {
        const std::int64_t first = block * block_size;
        const std::int64_t end = std::min(first + block_size, rows);
        for (std::int64_t i = first; i < end; ++i) {
            p[i] = u[i] + beta * p[i];
            s[i] = w[i] + beta * s[i];
            x[i] += alpha * p[i];
            r[i] -= alpha * s[i];
        }
        for (std::int64_t i = first; i < end; ++i)
            u[i] = block_product(i, rows, block_size, inverse, r);
    });
}

/// Make the new direction and its product, and find the step size.
template <class Index>
void product_classic(std::int64_t rows, Span<const Index> starts, Span<const Index> indices,
                     Span<const double> values, Index, Span<const Index>, Index, int,
                     Span<const double> gathered, int direct, Span<const double> u,
                     Span<const double> p, Span<double> p_next, Span<double> s, int slots,
                     Span<double> partial, Span<Index>, Span<double> control, int threads) {
    const Rows<Index> matrix(rows, starts, indices, values);
    check_length("u", u.size(), rows);
    check_length("p", p.size(), rows);
    check_length("p_next", p_next.size(), rows);
    check_length("s", s.size(), rows);
    check_length("partial", partial.size(), slots);
    check_length("control", control.size(), CONTROL_SIZE);
    if (control[STOP] != 0.0)
        return;
    const double beta = control[BETA];
    const auto moved = [&](double value, Index j) { return value * (u[j] + beta * p[j]); };
    parallel_for(threads, slots, [&](std::int64_t slot) {
        double ps = 0.0;
        const std::int64_t end = first_of(slot + 1, slots, rows);
        for (std::int64_t i = first_of(slot, slots, rows); i < end; ++i) {
            const double total = direct ? matrix.sum(i, moved) : matrix.product(i, gathered);
            p_next[i] = u[i] + beta * p[i];
            s[i] = total;
            ps += p_next[i] * total;
        }
        partial[slot] = ps;
    });
    double curvature = 0.0;
    for (std::int64_t slot = 0; slot < slots; ++slot)
        curvature += partial[slot];
    if (curvature > 0.0 && std::isfinite(curvature)) {
        control[ALPHA] = control[RZ] / curvature;
        control[ITERATIONS] += 1.0;
    } else {
        control[STOP] = BREAKDOWN;
    }
}

/// Take the step, precondition the new residual and find the next direction's share.
template <class Index>
void update_classic(std::int64_t rows, int block_size, Span<const double> inverse,
                    Span<const double> p, Span<const double> s, Span<double> x, Span<double> r,
                    Span<double> u, int slots, Span<double> partial, Span<Index>,
                    Span<double> control, int threads) {
    const std::int64_t blocks = (rows + block_size - 1) / block_size;
    check_length("inverse", inverse.size(), blocks * block_size * block_size);
    check_length("p", p.size(), rows);
    check_length("s", s.size(), rows);
    for (const auto &vector : {x, r, u})
        check_length("x, r or u", vector.size(), rows);
    check_length("partial", partial.size(), 2 * std::int64_t{slots});
    check_length("control", control.size(), CONTROL_SIZE);
    if (control[STOP] != 0.0)
        return;
    const double alpha = control[ALPHA];
    parallel_for(threads, slots, [&](std::int64_t slot) {
        double ru = 0.0, rr = 0.0;
        const std::int64_t last = first_of(slot + 1, slots, blocks);
        for (std::int64_t block = first_of(slot, slots, blocks); block < last; ++block) {
            const std::int64_t first = block * block_size;
            const std::int64_t end = std::min(first + block_size, rows);
            for (std::int64_t i = first; i < end; ++i) {
                x[i] += alpha * p[i];
                r[i] -= alpha * s[i];
            }
            for (std::int64_t i = first; i < end; ++i) {
                u[i] = block_product(i, rows, block_size, inverse, r);
                ru += r[i] * u[i];
                rr += r[i] * r[i];
            }
        }
        partial[slot * 2] = ru;
        partial[slot * 2 + 1] = rr;
    });
    double gamma = 0.0, squared = 0.0;
    for (std::int64_t slot = 0; slot < slots; ++slot) {
        gamma += partial[slot * 2];
        squared += partial[slot * 2 + 1];
    }
    control[RR] = squared;
    control[BETA] = gamma / control[RZ];
    control[RZ] = gamma;
    control[STOP] = judge(control, gamma, squared);
}

/// Multiply by B's diagonal blocks.
void precondition(std::int64_t rows, int block_size, Span<const double> inverse,
                  Span<const double> r, Span<double> u, int threads) {
    const std::int64_t blocks = (rows + block_size - 1) / block_size;
    check_length("inverse", inverse.size(), blocks * block_size * block_size);
    check_length("r", r.size(), rows);
    check_length("u", u.size(), rows);
    parallel_for(threads, rows,
                 [&](std::int64_t i) { u[i] = block_product(i, rows, block_size, inverse, r); });
}

/// Take one step towards M u = r.
template <class Index>
void polynomial_step(std::int64_t rows, Span<const Index> starts, Span<const Index> indices,
                     Span<const double> values, Index, Span<const Index>, Index, int,
                     Span<const double> gathered, Span<const double> inverse, Span<const double> r,
                     Span<const double> u, Span<const double> direction, double a, double b,
                     Span<double> direction_next, Span<double> u_next, Span<const double> control,
                     int threads) {
    const Rows<Index> matrix(rows, starts, indices, values);
    for (const auto &vector : {inverse, r, u, direction})
        check_length("inverse, r, u or direction", vector.size(), rows);
    check_length("direction_next", direction_next.size(), rows);
    check_length("u_next", u_next.size(), rows);
    check_length("control", control.size(), CONTROL_SIZE);
    if (control[STOP] != 0.0)
        return;
    parallel_for(threads, rows, [&](std::int64_t i) {
        const double left = r[i] - matrix.product(i, gathered);
        const double moved = a * direction[i] + b * inverse[i] * left;
        direction_next[i] = moved;
        u_next[i] = u[i] + moved;
    });
}

} // namespace

NATIVE_MODULE(linalg_iteration) {
    NATIVE_CONSTANTS(module, "solvers.linalg.kernels.iteration", ALPHA, BETA, RZ, RR, ITERATIONS,
                     STOP, TARGET, LIMIT, FRESH, CONTROL_SIZE, RUNNING, CONVERGED, BREAKDOWN,
                     OUT_OF_ITERATIONS);
    NATIVE_KERNELS_BY_INDEX(module, multiply, residual, diagonal, diagonal_blocks, columns_step,
                            product_single, product_classic, update_classic, polynomial_step);
    NATIVE_KERNELS(module, update_single, precondition);
}
