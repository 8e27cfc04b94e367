// Products and the steps of a conjugate gradient iteration on the CPU; iteration.py states the
// contracts. A slot holds an even share of the rows.
#include <cmath>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

enum Control { ALPHA, BETA, RZ, RR, ITERATIONS, STOP, TARGET, LIMIT, CONTROL_SIZE };

enum Reason { RUNNING, CONVERGED, BREAKDOWN, OUT_OF_ITERATIONS };

/// Rows of a compressed matrix; the device's arguments about long rows say nothing here.
template <class Index> struct Rows {
    std::int64_t rows;
    Span<const Index> starts, indices;
    Span<const double> values;

    Rows(std::int64_t rows, Span<const Index> starts, Span<const Index> indices,
         Span<const double> values)
        : rows(rows), starts(starts), indices(indices), values(values) {
        check_length("starts", starts.size(), rows + 1);
        check_length("indices", indices.size(), starts[rows]);
        check_length("values", values.size(), starts[rows]);
    }

    /// The sum of term(value, column) over the entries of row i.
    template <class Term> double sum(std::int64_t i, const Term &term) const {
        const std::int64_t end = starts[i + 1];
        double total = 0.0;
        for (std::int64_t k = starts[i]; k < end; ++k)
            total += term(values[k], indices[k]);
        return total;
    }

    /// Row i times a vector.
    double product(std::int64_t i, Span<const double> vector) const {
        return sum(i, [&](double value, Index column) { return value * vector[column]; });
    }
};

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

/// The first of ``count`` owners that a slot holds.
std::int64_t first_of(std::int64_t slot, std::int64_t slots, std::int64_t count) {
    return slot * count / slots;
}

/// Combine the rows of A with the new direction's multipliers.
template <class Index>
void columns_step(std::int64_t rows, Span<const Index> starts, Span<const Index> indices,
                  Span<const double> values, Index, Span<const Index>, Index, int,
                  Span<const double> weight, Span<const double> u, Span<const double> p,
                  Span<const double> control, Span<double> q, int threads) {
    const Rows<Index> matrix(rows, starts, indices, values);
    check_length("weight", weight.size(), rows);
    check_length("p", p.size(), u.size());
    check_length("control", control.size(), CONTROL_SIZE);
    check_length("q", q.size(), rows);
    if (control[STOP] != 0.0)
        return;
    const double beta = control[BETA];
    const auto moved = [&](double value, Index i) { return value * (u[i] + beta * p[i]); };
    parallel_for(threads, rows, [&](std::int64_t j) { q[j] = weight[j] * matrix.sum(j, moved); });
}

/// Make the new direction and its product, and find the step size.
template <class Index>
void product(std::int64_t rows, Span<const Index> starts, Span<const Index> indices,
             Span<const double> values, Index, Span<const Index>, Index, int,
             Span<const double> gathered, int direct, Span<const double> u, Span<const double> p,
             Span<double> p_next, Span<double> s, int slots, Span<double> partial, Span<Index>,
             Span<double> control, int threads) {
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
void update(std::int64_t rows, Span<const double> inverse, Span<const double> p,
            Span<const double> s, Span<double> x, Span<double> r, Span<double> u, int slots,
            Span<double> partial, Span<Index>, Span<double> control, int threads) {
    for (const auto &vector : {inverse, p, s})
        check_length("inverse, p or s", vector.size(), rows);
    for (const auto &vector : {x, r, u})
        check_length("x, r or u", vector.size(), rows);
    check_length("partial", partial.size(), 2 * std::int64_t{slots});
    check_length("control", control.size(), CONTROL_SIZE);
    if (control[STOP] != 0.0)
        return;
    const double alpha = control[ALPHA];
    parallel_for(threads, slots, [&](std::int64_t slot) {
        double ru = 0.0, rr = 0.0;
        const std::int64_t end = first_of(slot + 1, slots, rows);
        for (std::int64_t i = first_of(slot, slots, rows); i < end; ++i) {
            x[i] += alpha * p[i];
            r[i] -= alpha * s[i];
            u[i] = inverse[i] * r[i];
            ru += r[i] * u[i];
            rr += r[i] * r[i];
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

} // namespace

NATIVE_MODULE(linalg_iteration) {
    NATIVE_CONSTANTS(module, "solvers.linalg.kernels.iteration", ALPHA, BETA, RZ, RR, ITERATIONS,
                     STOP, TARGET, LIMIT, CONTROL_SIZE, RUNNING, CONVERGED, BREAKDOWN,
                     OUT_OF_ITERATIONS);
    NATIVE_KERNELS_BY_INDEX(module, multiply, residual, diagonal, columns_step, product, update);
}
