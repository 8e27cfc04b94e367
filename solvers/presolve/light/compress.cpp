// What is left of a matrix.
#include "workspace.h"

namespace presolve::light {
namespace {

/// Copy the owners' living entries, of owner k from ``starts[k]`` on; the others move to ``place``.
template <class Index>
void gather(const SparseRows<Index> &entries, Span<const std::int64_t> owners,
            Span<const std::int64_t> other_removed, Span<const Index> place,
            Span<const Index> starts, Span<Index> new_index, Span<double> new_value, int threads) {
    native::check_rows("entries", entries, entries.indptr.size() - 1);
    check_length("place", place.size(), other_removed.size());
    check_length("starts", starts.size(), owners.size() + 1);
    check_length("new_index", new_index.size(), starts[owners.size()]);
    check_length("new_value", new_value.size(), starts[owners.size()]);
    native::parallel_for(threads, owners.size(), [&](std::int64_t k) {
        std::int64_t count = starts[k];
        const std::int64_t end = entries.indptr[owners[k] + 1];
        for (std::int64_t entry = entries.indptr[owners[k]]; entry < end; ++entry) {
            const Index other = entries.indices[entry];
            if (other_removed[other] == ALIVE) {
                new_index[count] = place[other];
                new_value[count] = entries.data[entry];
                ++count;
            }
        }
    });
}

template <class Index> void declare(nanobind::module_ &module) {
    native::expose(module, "gather", &gather<Index>, "entries", "owners", "other_removed", "place",
                   "starts", "new_index", "new_value", "threads");
}

} // namespace
} // namespace presolve::light

NATIVE_MODULE(presolve_light_compress) {
    using namespace presolve::light;
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
