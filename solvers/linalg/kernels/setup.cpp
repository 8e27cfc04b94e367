// Products, diagonals and diagonal blocks on the CPU; setup.py states the contracts.
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

template <class Index> void declare(nanobind::module_ &module) {
    using native::expose;
    expose(module, "multiply", &multiply<Index>, "rows", "starts", "indices", "values",
           "long_count", "long_rows", "long_length", "lanes", "vector", "magnitudes", "product",
           "threads");
    expose(module, "residual", &residual<Index>, "rows", "starts", "indices", "values",
           "long_count", "long_rows", "long_length", "lanes", "vector", "side", "r", "threads");
    expose(module, "diagonal", &diagonal<Index>, "rows", "starts", "indices", "values",
           "long_count", "long_rows", "long_length", "lanes", "weight", "normal", "product",
           "threads");
    expose(module, "diagonal_blocks", &diagonal_blocks<Index>, "rows", "starts", "indices",
           "values", "long_count", "long_rows", "long_length", "lanes", "weight", "normal",
           "block_size", "blocks", "threads");
}

} // namespace

NATIVE_MODULE(linalg_setup) {
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
