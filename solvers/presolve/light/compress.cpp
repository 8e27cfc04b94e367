// What is left of a matrix.
#include "workspace.h"

namespace presolve::light {
namespace {

/// Copy the owners' living entries, the others of which move to ``place``.
template <class Index>
void gather(Span<const Index> start, Span<const Index> index, Span<const double> value,
            Span<const std::int64_t> owners, Span<const std::int64_t> other_removed,
            Span<const Index> place, Span<Index> new_index, Span<double> new_value) {
    check_length("index", index.size(), start[start.size() - 1]);
    check_length("value", value.size(), index.size());
    check_length("place", place.size(), other_removed.size());
    check_length("new_value", new_value.size(), new_index.size());
    std::int64_t count = 0;
    for (const std::int64_t owner : owners) {
        const std::int64_t end = start[owner + 1];
        for (std::int64_t entry = start[owner]; entry < end; ++entry) {
            const Index other = index[entry];
            if (other_removed[other] == ALIVE) {
                new_index[count] = place[other];
                new_value[count] = value[entry];
                ++count;
            }
        }
    }
}

template <class Index> void declare(nanobind::module_ &module) {
    native::expose(module, "gather", &gather<Index>, "start", "index", "value", "owners",
                   "other_removed", "place", "new_index", "new_value");
}

} // namespace
} // namespace presolve::light

NATIVE_MODULE(presolve_light_compress) {
    using namespace presolve::light;
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
