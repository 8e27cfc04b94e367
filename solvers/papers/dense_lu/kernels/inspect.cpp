// What surrounds the library's calls, on the CPU; inspect.py states the contracts.
#include <cmath>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// Rows that are added up together (inspect.py).
constexpr std::int64_t PART = 128;

/// 2^27 + 1, which halves a double's 53 digits (Dekker 1971).
constexpr double SPLIT = 134217729.0;

void check_shape(const char *name, Grid<const double> found, std::int64_t rows, std::int64_t n) {
    check_length(name, found.shape(0), rows);
    check_length(name, found.shape(1), n);
}

/// Transpose a matrix and add up its columns, part by part.
void take_in(std::int64_t n, Grid<const double> matrix, Grid<double> columns, Grid<double> sums,
             int threads) {
    check_shape("matrix", matrix, n, n);
    check_shape("columns", columns, n, n);
    check_shape("sums", sums, 0, n);
    parallel_for(threads, sums.shape(0), [&](std::int64_t part) {
        const std::int64_t end = std::min((part + 1) * PART, n);
        for (std::int64_t j = 0; j < n; ++j) {
            double total = 0.0;
            for (std::int64_t i = part * PART; i < end; ++i) {
                const double value = matrix(i, j);
                columns(j, i) = value;
                total += std::abs(value);
            }
            sums(part, j) = total;
        }
    });
}

/// Add up what rounding may have left of each pivot, part by part.
void weigh(std::int64_t n, Grid<const double> columns, Grid<double> sums, int threads) {
    check_shape("columns", columns, n, n);
    check_shape("sums", sums, 0, n);
    parallel_for(threads, sums.shape(0), [&](std::int64_t part) {
        for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t end = std::min((part + 1) * PART, k);
            double total = 0.0;
            for (std::int64_t i = part * PART; i < end; ++i)
                total += std::abs(columns(i, k) * columns(k, i));
            sums(part, k) = total;
        }
    });
}

/// Add up the parts.
void conclude(std::int64_t n, std::int64_t parts, double epsilon, Grid<const double> columns,
              Grid<const double> sums, Grid<const double> weights, Grid<double> report,
              int threads) {
    check_shape("columns", columns, n, n);
    check_shape("sums", sums, parts, n);
    check_shape("weights", weights, parts, n);
    check_shape("report", report, 3, n);
    parallel_for(threads, n, [&](std::int64_t k) {
        double total = 0.0, weight = 0.0;
        for (std::int64_t part = 0; part < parts; ++part) {
            total += sums(part, k);
            weight += weights(part, k);
        }
        report(0, k) = total;
        report(1, k) = static_cast<double>(k) * epsilon * weight;
        report(2, k) = columns(k, k);
    });
}

/// a b - product, exactly, where product is a b rounded.
double lost_by_product(double a, double b, double product) {
    double wide = SPLIT * a;
    const double a_high = wide - (wide - a);
    const double a_low = a - a_high;
    wide = SPLIT * b;
    const double b_high = wide - (wide - b);
    const double b_low = b - b_high;
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
}

/// Find b - A x in twice the precision, and |b| + |A| |x|.
void residual(std::int64_t n, std::int64_t sides, Grid<const double> matrix, Grid<const double> x,
              Grid<const double> b, Grid<double> r, Grid<double> scale, int threads) {
    check_shape("matrix", matrix, n, n);
    check_shape("x", x, sides, n);
    check_shape("b", b, sides, n);
    check_shape("r", r, sides, n);
    check_shape("scale", scale, sides, n);
    parallel_for(threads, n * sides, [&](std::int64_t owner) {
        const std::int64_t side = owner / n, i = owner % n;
        const Span<const double> row = matrix[i], solution = x[side];
        double high = b(side, i), low = 0.0, total = std::abs(high);
        for (std::int64_t j = 0; j < n; ++j) {
            const double product = row[j] * solution[j];
            const double lost = lost_by_product(row[j], solution[j], product);
            const double before = high;
            high = before - product;
            const double part = high - before;
            low += ((before - (high - part)) - (product + part)) - lost;
            total += std::abs(product);
        }
        r(side, i) = high + low;
        scale(side, i) = total;
    });
}

} // namespace

NATIVE_MODULE(papers_dense_lu_inspect) {
    NATIVE_CONSTANTS(module, "solvers.papers.dense_lu.kernels.inspect", PART);
    NATIVE_KERNELS(module, take_in, weigh, conclude, residual);
}
