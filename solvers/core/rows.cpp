// Loops over the entries of a matrix: what is told of its rows, and parts of it.
#include <algorithm>
#include <cmath>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// The smallest and the largest magnitude in each row; zero where it has no entry.
template <class Index>
void row_sizes(const SparseRows<Index> &rows, Span<double> smallest, Span<double> largest) {
    const std::int64_t m = smallest.size();
    check_rows("rows", rows, m);
    check_length("largest", largest.size(), m);
    for (std::int64_t i = 0; i < m; ++i) {
        double least = rows.length(i) > 0 ? INF : 0.0, most = 0.0;
        const std::int64_t end = rows.indptr[i + 1];
        for (std::int64_t entry = rows.indptr[i]; entry < end; ++entry) {
            const double size = std::abs(rows.data[entry]);
            least = std::min(least, size);
            most = std::max(most, size);
        }
        smallest[i] = least;
        largest[i] = most;
    }
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

template <class Index> void declare(native::Module &module) {
    expose(module, "row_sizes", &row_sizes<Index>, "rows", "smallest", "largest");
    expose(module, "average", &average<Index>, "rows", "values", "mean", "threads");
    expose(module, "count_kept", &count_kept<Index>, "rows", "chosen", "place", "counts",
           "threads");
    expose(module, "copy_kept", &copy_kept<Index>, "rows", "chosen", "place", "starts", "indices",
           "data", "threads");
}

} // namespace

NATIVE_MODULE(core_rows) {
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
