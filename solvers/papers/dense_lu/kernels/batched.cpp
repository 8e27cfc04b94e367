// Many small matrices on the CPU; batched.py states the contracts.
#include <cmath>
#include <vector>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

using Index = std::int32_t;

/// A matrix that is being eliminated, and what became of its rows.
struct Working {
    std::int64_t n;
    std::vector<double> entries;
    std::vector<std::int64_t> place; // of each row, or -1
    std::vector<std::int64_t> order; // the row that gave each pivot

    explicit Working(Grid<const double> matrix)
        : n(matrix.shape(0)), entries(matrix.data(), matrix.data() + matrix.size()), place(n, -1),
          order(n) {}
    double &operator()(std::int64_t i, std::int64_t j) { return entries[i * n + j]; }
    double *row(std::int64_t i) { return entries.data() + i * n; }
    Grid<const double> view() const { return {entries.data(), {n, n}}; }
};

/// Take the unused row with the largest magnitude in column k, the first of equals, as its pivot.
std::int64_t take_pivot(Working &a, std::int64_t k) {
    double best = 0.0;
    std::int64_t row = -1;
    for (std::int64_t i = 0; i < a.n; ++i) {
        const double size = std::abs(a(i, k));
        if (a.place[i] < 0 && (row < 0 || size > best)) {
            row = i;
            if (size > best)
                best = size;
        }
    }
    a.place[row] = k;
    a.order[k] = row;
    return row;
}

/// The largest sum of magnitudes of a column; a NaN stays.
double norm(Grid<const double> a) {
    const std::int64_t n = a.shape(0);
    std::vector<double> totals(n, 0.0);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
            totals[j] += std::abs(a(i, j));
    double largest = 0.0;
    for (const double total : totals)
        if (largest == largest && !(total <= largest))
            largest = total;
    return largest;
}

NATIVE_HOT void subtract_multiple(double multiplier, const double *pivot, double *row,
                                  std::int64_t size) {
    for (std::int64_t j = 0; j < size; ++j)
        row[j] -= multiplier * pivot[j];
}

void eliminate(Working &a) {
    for (std::int64_t k = 0; k < a.n; ++k) {
        const std::int64_t p = take_pivot(a, k);
        const double pivot = a(p, k);
        for (std::int64_t i = 0; i < a.n; ++i) {
            if (a.place[i] >= 0)
                continue;
            const double multiplier = pivot == 0.0 ? 0.0 : a(i, k) / pivot;
            a(i, k) = multiplier;
            subtract_multiple(multiplier, a.row(p) + k + 1, a.row(i) + k + 1, a.n - k - 1);
        }
    }
}

/// Write the factors and say which pivot is the first that may be nothing but rounding.
void write_factors(Working &a, double epsilon, Grid<double> factors, Span<Index> order,
                   Index &singular, Span<double> verdict) {
    verdict[1] = -1.0;
    verdict[2] = verdict[3] = 0.0;
    singular = -1;
    for (std::int64_t k = 0; k < a.n; ++k) {
        const std::int64_t own = a.order[k];
        order[k] = static_cast<Index>(own);
        double total = 0.0;
        for (std::int64_t i = 0; i < k; ++i)
            total += std::abs(a(own, i) * a(a.order[i], k));
        const double rounding = static_cast<double>(k) * epsilon * total;
        if (singular < 0 && !(std::abs(a(own, k)) > rounding)) {
            singular = static_cast<Index>(k);
            verdict[1] = static_cast<double>(k);
            verdict[2] = a(own, k);
            verdict[3] = rounding;
        }
        std::copy(a.row(own), a.row(own) + a.n, factors[k].begin());
    }
}

void check_shape(const char *name, Cube<const double> found, std::int64_t count, std::int64_t rows,
                 std::int64_t n) {
    check_length(name, found.shape(0), count);
    check_length(name, found.shape(1), rows);
    check_length(name, found.shape(2), n);
}

/// Factorise every matrix with partial pivoting.
void factorise(std::int64_t count, std::int64_t n, double epsilon, Cube<const double> matrices,
               Cube<double> factors, Grid<Index> order, Span<Index> singular, Grid<double> verdict,
               int threads) {
    check_shape("matrices", matrices, count, n, n);
    check_shape("factors", factors, count, n, n);
    check_length("order", order.shape(0), count);
    check_length("order", order.shape(1), n);
    check_length("singular", singular.size(), count);
    check_length("verdict", verdict.shape(0), count);
    check_length("verdict", verdict.shape(1), 4);
    parallel_for(threads, count, [&](std::int64_t b) {
        Working a(matrices[b]);
        eliminate(a);
        verdict(b, 0) = norm(matrices[b]);
        write_factors(a, epsilon, factors[b], order[b], singular[b], verdict[b]);
        poll();
    });
}

/// Put the inverse in the place of a matrix but for the order of rows and columns; return the first
/// column whose pivot is zero or no number, or -1.
Index gauss_jordan(Working &a) {
    std::vector<double> row(a.n);
    Index singular = -1;
    for (std::int64_t k = 0; k < a.n; ++k) {
        const std::int64_t p = take_pivot(a, k);
        const double pivot = a(p, k);
        if (singular < 0 && !(std::abs(pivot) > 0.0))
            singular = static_cast<Index>(k);
        const double reciprocal = 1.0 / pivot;
        for (std::int64_t j = 0; j < a.n; ++j)
            row[j] = a(p, j) = j == k ? reciprocal : a(p, j) * reciprocal;
        for (std::int64_t i = 0; i < a.n; ++i) {
            if (i == p)
                continue;
            const double multiplier = a(i, k);
            a(i, k) = 0.0;
            subtract_multiple(multiplier, row.data(), a.row(i), a.n);
        }
    }
    return singular;
}

/// Invert every matrix in place, by Gauss-Jordan elimination with partial pivoting.
void invert(std::int64_t count, std::int64_t n, Cube<const double> matrices, Cube<double> inverses,
            Grid<double> norms, Span<Index> singular, int threads) {
    check_shape("matrices", matrices, count, n, n);
    check_shape("inverses", inverses, count, n, n);
    check_length("norms", norms.shape(0), 2);
    check_length("norms", norms.shape(1), count);
    check_length("singular", singular.size(), count);
    parallel_for(threads, count, [&](std::int64_t b) {
        Working a(matrices[b]);
        norms(0, b) = norm(a.view());
        singular[b] = gauss_jordan(a);
        norms(1, b) = norm(a.view());
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j)
                inverses(b, i, j) = a(a.order[i], a.place[j]);
        poll();
    });
}

/// Put the solution of L U x = y in place of y.
void solve_direct(Grid<const double> lu, std::vector<double> &y) {
    const auto n = static_cast<std::int64_t>(y.size());
    for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t i = 0; i < k; ++i)
            y[k] -= lu(k, i) * y[i];
    for (std::int64_t k = n - 1; k >= 0; --k) {
        for (std::int64_t i = k + 1; i < n; ++i)
            y[k] -= lu(k, i) * y[i];
        y[k] /= lu(k, k);
    }
}

/// Put the solution of U' L' x = y in place of y.
void solve_transposed(Grid<const double> lu, std::vector<double> &y) {
    const auto n = static_cast<std::int64_t>(y.size());
    for (std::int64_t k = 0; k < n; ++k) {
        y[k] /= lu(k, k);
        subtract_multiple(y[k], lu[k].data() + k + 1, y.data() + k + 1, n - k - 1);
    }
    for (std::int64_t k = n - 1; k >= 0; --k)
        subtract_multiple(y[k], lu[k].data(), y.data(), k);
}

/// Solve with the factors of every matrix, or of its transpose.
void solve(std::int64_t count, std::int64_t n, std::int64_t sides, int transposed,
           Cube<const double> factors, Grid<const Index> order, Cube<const double> b,
           Cube<double> x, int threads) {
    check_shape("factors", factors, count, n, n);
    check_length("order", order.shape(0), count);
    check_length("order", order.shape(1), n);
    check_shape("b", b, count, sides, n);
    check_shape("x", x, count, sides, n);
    parallel_for(threads, count * sides, [&](std::int64_t owner) {
        const std::int64_t which = owner / sides, side = owner % sides;
        const Span<const Index> rows = order[which];
        std::vector<double> y(n);
        for (std::int64_t k = 0; k < n; ++k)
            y[k] = b(which, side, transposed ? k : rows[k]);
        if (transposed)
            solve_transposed(factors[which], y);
        else
            solve_direct(factors[which], y);
        for (std::int64_t k = 0; k < n; ++k)
            x(which, side, transposed ? rows[k] : k) = y[k];
    });
}

} // namespace

NATIVE_MODULE(papers_dense_lu_batched) { NATIVE_KERNELS(module, factorise, invert, solve); }
