// Loops over the entries of a matrix and over long vectors.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// The smallest and the largest magnitude in each row; zero where it has no entry.
template <class Index>
void row_sizes(const SparseRows<Index> &rows, Span<double> smallest, Span<double> largest,
               int threads) {
    const std::int64_t m = smallest.size();
    check_rows("rows", rows, m);
    check_length("largest", largest.size(), m);
    parallel_for(threads, m, [&](std::int64_t i) {
        double least = rows.length(i) > 0 ? INF : 0.0, most = 0.0;
        const std::int64_t end = rows.indptr[i + 1];
        for (std::int64_t entry = rows.indptr[i]; entry < end; ++entry) {
            const double size = std::abs(rows.data[entry]);
            least = std::min(least, size);
            most = std::max(most, size);
        }
        smallest[i] = least;
        largest[i] = most;
    });
}

/// Rows between two looks at the flag that ends a loop.
constexpr std::int64_t ROWS_PER_POLL = 1 << 14;

/// Call work(i, entry, column) for the entries in columns from ``first`` on, before ``last``.
template <class Index, class Work>
void each_entry_between(const SparseRows<Index> &rows, std::int64_t first, std::int64_t last,
                        const Work &work) {
    const Index *indices = rows.indices.data();
    for (std::int64_t i = 0; i + 1 < rows.indptr.size(); ++i) {
        if (i % ROWS_PER_POLL == 0)
            poll();
        const Index *end = indices + rows.indptr[i + 1];
        const Index *at = std::lower_bound(indices + rows.indptr[i], end, first);
        for (; at < end && *at < last; ++at)
            work(i, at - indices, *at);
    }
}

/// Count the entries of each column of rows whose columns ascend.
template <class Index>
void count_columns(const SparseRows<Index> &rows, Span<Index> counts, int threads) {
    check_rows("rows", rows, rows.indptr.size() - 1);
    const std::int64_t n = counts.size();
    parallel_for(threads, threads, [&](std::int64_t part) {
        const std::int64_t first = n * part / threads, last = n * (part + 1) / threads;
        std::fill(counts.begin() + first, counts.begin() + last, Index(0));
        each_entry_between(rows, first, last,
                           [&](std::int64_t, std::int64_t, Index j) { ++counts[j]; });
    });
}

/// Fill the rows of the transpose, of which row j begins at ``starts[j]``.
///
/// Each thread has columns with about the same number of entries and looks at all rows.
template <class Index>
void transpose(const SparseRows<Index> &rows, Span<const Index> starts, Span<Index> indices,
               Span<double> data, int threads) {
    check_rows("rows", rows, rows.indptr.size() - 1);
    const std::int64_t n = starts.size() - 1, nonzeros = rows.data.size();
    check_length("indices", indices.size(), nonzeros);
    check_length("data", data.size(), nonzeros);
    const auto column_at = [&](std::int64_t part) {
        const std::int64_t wanted = nonzeros / threads * part;
        return part == threads
                   ? n
                   : std::lower_bound(starts.begin(), starts.end() - 1, wanted) - starts.begin();
    };
    parallel_for(threads, threads, [&](std::int64_t part) {
        const std::int64_t first = column_at(part), last = column_at(part + 1);
        std::vector<Index> next(starts.begin() + first, starts.begin() + last);
        each_entry_between(rows, first, last, [&](std::int64_t i, std::int64_t entry, Index j) {
            const Index place = next[j - first]++;
            indices[place] = static_cast<Index>(i);
            data[place] = rows.data[entry];
        });
    });
}

/// Sum value(entry) times the vector's element over each row, in the order of its entries.
template <class Index, class Value>
void sum_rows(const SparseRows<Index> &rows, Span<const double> vector, Span<double> product,
              int threads, const Value &value) {
    check_rows("rows", rows, product.size());
    parallel_for(threads, product.size(), [&](std::int64_t i) {
        double sum = 0.0;
        const std::int64_t end = rows.indptr[i + 1];
        for (std::int64_t entry = rows.indptr[i]; entry < end; ++entry)
            sum += value(rows.data[entry]) * vector[rows.indices[entry]];
        product[i] = sum;
    });
}

/// Multiply by a vector.
template <class Index>
void multiply(const SparseRows<Index> &rows, Span<const double> vector, Span<double> product,
              int threads) {
    sum_rows(rows, vector, product, threads, [](double value) { return value; });
}

/// Multiply the magnitudes by a vector.
template <class Index>
void multiply_magnitudes(const SparseRows<Index> &rows, Span<const double> vector,
                         Span<double> product, int threads) {
    sum_rows(rows, vector, product, threads, [](double value) { return std::abs(value); });
}

/// Count the entries of some rows in columns that have a place, which is not negative.
template <class Index>
void count_kept(const SparseRows<Index> &rows, Span<const std::int64_t> chosen,
                Span<const Index> place, Span<Index> counts, int threads) {
    check_rows("rows", rows, rows.indptr.size() - 1);
    check_length("counts", counts.size(), chosen.size());
    parallel_for(threads, chosen.size(), [&](std::int64_t k) {
        const std::int64_t end = rows.indptr[chosen[k] + 1];
        Index count = 0;
        for (std::int64_t entry = rows.indptr[chosen[k]]; entry < end; ++entry)
            count += place[rows.indices[entry]] >= 0 ? 1 : 0;
        counts[k] = count;
    });
}

/// Copy these entries, those of the k-th row from ``starts[k]`` on, with the places of columns.
template <class Index>
void copy_kept(const SparseRows<Index> &rows, Span<const std::int64_t> chosen,
               Span<const Index> place, Span<const Index> starts, Span<Index> indices,
               Span<double> data, int threads) {
    check_rows("rows", rows, rows.indptr.size() - 1);
    check_length("starts", starts.size(), chosen.size() + 1);
    check_length("indices", indices.size(), starts[chosen.size()]);
    check_length("data", data.size(), starts[chosen.size()]);
    parallel_for(threads, chosen.size(), [&](std::int64_t k) {
        const std::int64_t end = rows.indptr[chosen[k] + 1];
        std::int64_t at = starts[k];
        for (std::int64_t entry = rows.indptr[chosen[k]]; entry < end; ++entry) {
            const Index column = place[rows.indices[entry]];
            if (column >= 0) {
                indices[at] = column;
                data[at] = rows.data[entry];
                ++at;
            }
        }
    });
}

/// Put the mean of ``values`` over the columns of each row that has entries there.
template <class Index>
void average(const SparseRows<Index> &rows, Span<const double> values, Span<double> mean,
             int threads) {
    check_rows("rows", rows, mean.size());
    parallel_for(threads, mean.size(), [&](std::int64_t i) {
        const std::int64_t begin = rows.indptr[i], end = rows.indptr[i + 1];
        double sum = 0.0;
        for (std::int64_t entry = begin; entry < end; ++entry)
            sum += values[rows.indices[entry]];
        if (end > begin)
            mean[i] = sum / static_cast<double>(end - begin);
    });
}

// Loops over long vectors, the same bits for any number of threads.

/// Bytes that a thread copies at a time.
constexpr std::int64_t COPIED = 1 << 20;

/// Copy memory, on up to ``threads`` threads.
void copy_bytes(Span<const std::uint8_t> source, Span<std::uint8_t> target, int threads) {
    const std::int64_t size = source.size();
    check_length("target", target.size(), size);
    parallel_for(threads, (size + COPIED - 1) / COPIED, [&](std::int64_t piece) {
        const std::int64_t first = piece * COPIED;
        std::memcpy(target.data() + first, source.data() + first, std::min(COPIED, size - first));
    });
}

/// Bring values in an order back: place ``order[i]`` gets the i-th.
void put_back(Span<const double> values, Span<const std::int32_t> order, Span<double> all,
              int threads) {
    check_length("values", values.size(), order.size());
    parallel_for(threads, order.size(), [&](std::int64_t i) { all[order[i]] = values[i]; });
}

/// Values whose smallest and largest size are found together.
constexpr std::int64_t BLOCK = 1 << 16;

/// Find the smallest size of the finite values but zero, INF without any, and the largest, or 0.
void size_range(Span<const double> values, Span<double> range, int threads) {
    check_length("range", range.size(), 2);
    const std::int64_t blocks = (values.size() + BLOCK - 1) / BLOCK;
    std::vector<double> least(blocks, INF), most(blocks, 0.0);
    parallel_for(threads, blocks, [&](std::int64_t block) {
        poll();
        const std::int64_t end = std::min(values.size(), (block + 1) * BLOCK);
        for (std::int64_t k = block * BLOCK; k < end; ++k) {
            const double size = std::abs(values[k]);
            if (size > 0.0 && size < INF) {
                least[block] = std::min(least[block], size);
                most[block] = std::max(most[block], size);
            }
        }
    });
    range[0] = blocks > 0 ? *std::min_element(least.begin(), least.end()) : INF;
    range[1] = blocks > 0 ? *std::max_element(most.begin(), most.end()) : 0.0;
}

/// Products that are added one after the other; blocks are added in pairs.
constexpr std::int64_t ADDED = 256;

/// Put what each block has of a'b into ``sums``.
void inner_of_blocks(Span<const double> a, Span<const double> b, Span<double> sums, int threads) {
    check_length("b", b.size(), a.size());
    check_length("sums", sums.size(), (a.size() + ADDED - 1) / ADDED);
    parallel_for(threads, sums.size(), [&](std::int64_t block) {
        const std::int64_t end = std::min(a.size(), (block + 1) * ADDED);
        double sum = 0.0;
        for (std::int64_t k = block * ADDED; k < end; ++k)
            sum += a[k] * b[k];
        sums[block] = sum;
    });
}

template <class Index> void declare(native::Module &module) {
    expose(module, "row_sizes", &row_sizes<Index>, "rows", "smallest", "largest", "threads");
    expose(module, "count_columns", &count_columns<Index>, "rows", "counts", "threads");
    expose(module, "transpose", &transpose<Index>, "rows", "starts", "indices", "data", "threads");
    expose(module, "multiply", &multiply<Index>, "rows", "vector", "product", "threads");
    expose(module, "multiply_magnitudes", &multiply_magnitudes<Index>, "rows", "vector", "product",
           "threads");
    expose(module, "average", &average<Index>, "rows", "values", "mean", "threads");
    expose(module, "count_kept", &count_kept<Index>, "rows", "chosen", "place", "counts",
           "threads");
    expose(module, "copy_kept", &copy_kept<Index>, "rows", "chosen", "place", "starts", "indices",
           "data", "threads");
}

} // namespace

NATIVE_MODULE(core_linear_algebra) {
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
    expose(module, "size_range", &size_range, "values", "range", "threads");
    NATIVE_CONSTANTS(module, "solvers.core.vectors", ADDED);
    expose(module, "inner_of_blocks", &inner_of_blocks, "a", "b", "sums", "threads");
    expose(module, "put_back", &put_back, "values", "order", "all", "threads");
    expose(module, "copy_bytes", &copy_bytes, "source", "target", "threads");
}
