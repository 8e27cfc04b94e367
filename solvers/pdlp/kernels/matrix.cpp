// Products and row sizes on the CPU; matrix.py states the contracts.
#include "slices.h"

using namespace native;

namespace {

// What a row is scaled by.
constexpr int LARGEST = 0, TOTAL = 1;

template <class Index>
void multiply(const Slices<Index> &matrix, Numbers vector, NumbersOut product, int threads) {
    check_owned(matrix, product);
    for_each_row(matrix, threads, [&](std::int64_t i, const auto &row, const auto &rows) {
        product[i] = products_of(rows, row, vector)[0];
    });
}

template <class Index>
void multiply_scaled(const Slices<Index> &matrix, Numbers factor, Numbers vector,
                     NumbersOut product, int threads) {
    check_owned(matrix, product, factor);
    for_each_row(matrix, threads, [&](std::int64_t i, const auto &row, const auto &rows) {
        product[i] = factor[i] * products_of(rows, row, vector)[0];
    });
}

/// Magnitudes of a row's entries, zeros left out.
struct Sizes {
    double most = 0.0, added = 0.0;

    void add(double size) {
        most = std::max(most, size);
        added += size;
    }
    /// What a row with this scale of its own is to be divided by, squared.
    double square(int mode, double own) const { return own * (mode == LARGEST ? most : added); }
};

/// Divide the scale of each row by the root of the row's size.
template <class Index>
void rescale(const Slices<Index> &matrix, int mode, Numbers row_scale, Numbers column_scale,
             NumbersOut rescaled, int threads) {
    check_owned(matrix, rescaled, row_scale);
    for_each_row(matrix, threads, [&](std::int64_t i, const auto &row, const auto &rows) {
        Sizes sizes;
        rows.each_entry(row, [&](double value, std::int64_t column) {
            if (value != 0.0)
                sizes.add(std::fabs(value * column_scale[column]));
        });
        const double own = row_scale[i], square = sizes.square(mode, own);
        rescaled[i] = 0.0 < square && square < INF ? own / std::sqrt(square) : own;
    });
}

/// Find one over the geometric mean of the magnitudes of each row, damped by the ridge.
template <class Index>
void balance(const Slices<Index> &matrix, double ridge, Numbers column_scale, NumbersOut balanced,
             int threads) {
    check_owned(matrix, balanced);
    for_each_row(matrix, threads, [&](std::int64_t i, const auto &row, const auto &rows) {
        double total = 0.0, count = 0.0;
        rows.each_entry(row, [&](double value, std::int64_t column) {
            if (value != 0.0) {
                total += std::log(std::fabs(value * column_scale[column]));
                count += 1.0;
            }
        });
        balanced[i] = count > 0.0 ? std::exp(-total / ((1.0 + ridge) * count)) : 1.0;
    });
}

void square(int count, Numbers values, NumbersOut squared, int threads) {
    check_length("values", values.size(), count);
    check_length("squared", squared.size(), count);
    parallel_for(threads, count, [&](std::int64_t i) { squared[i] = values[i] * values[i]; });
}

void times_root(int count, Numbers squares, NumbersOut values, int threads) {
    check_length("squares", squares.size(), count);
    check_length("values", values.size(), count);
    parallel_for(threads, count, [&](std::int64_t i) { values[i] *= std::sqrt(squares[i]); });
}

void divide(int count, double divisor, NumbersOut values, int threads) {
    check_length("values", values.size(), count);
    parallel_for(threads, count, [&](std::int64_t i) { values[i] /= divisor; });
}

void fill(int count, double value, NumbersOut filled, int threads) {
    check_length("filled", filled.size(), count);
    parallel_for(threads, count, [&](std::int64_t i) { filled[i] = value; });
}

/// Elements that are summed one after the other.
constexpr std::int64_t SUMMED = 256;

void quotient_sums(int count, int blocks, Numbers q, Numbers image, Numbers weight, NumbersOut sums,
                   int threads) {
    check_length("q", q.size(), count);
    check_length("image", image.size(), count);
    check_length("weight", weight.size(), count);
    check_length("blocks", blocks, (count + SUMMED - 1) / SUMMED);
    check_length("sums", sums.size(), 3 * std::int64_t{blocks});
    parallel_for(threads, blocks, [&](std::int64_t block) {
        double own[3] = {};
        const std::int64_t end = std::min<std::int64_t>(count, (block + 1) * SUMMED);
        for (std::int64_t i = block * SUMMED; i < end; ++i) {
            own[0] += q[i] * q[i] / weight[i];
            own[1] += q[i] * image[i] / weight[i];
            own[2] += image[i] * image[i] / weight[i];
        }
        for (int which = 0; which < 3; ++which)
            sums[which * std::int64_t{blocks} + block] = own[which];
    });
}

void size_sums(int count, int blocks, Numbers low, Numbers high, Numbers metric, NumbersOut sums,
               int threads) {
    check_length("low", low.size(), count);
    check_length("high", high.size(), count);
    check_length("metric", metric.size(), count);
    check_length("blocks", blocks, (count + SUMMED - 1) / SUMMED);
    check_length("sums", sums.size(), blocks);
    const auto finite = [](double value) { return std::isfinite(value) ? std::fabs(value) : 0.0; };
    parallel_for(threads, blocks, [&](std::int64_t block) {
        double own = 0.0;
        const std::int64_t end = std::min<std::int64_t>(count, (block + 1) * SUMMED);
        for (std::int64_t i = block * SUMMED; i < end; ++i) {
            const double size = std::max(finite(low[i]), finite(high[i])) * std::sqrt(metric[i]);
            own += size * size;
        }
        sums[block] = own;
    });
}

} // namespace

NATIVE_MODULE(pdlp_matrix) {
    NATIVE_CONSTANTS(module, "solvers.pdlp.kernels.matrix", LARGEST, TOTAL, SUMMED);
    NATIVE_KERNELS(module, square, times_root, divide, fill, quotient_sums, size_sums);
    NATIVE_KERNELS_BY_INDEX(module, multiply, multiply_scaled, rescale, balance);
}
