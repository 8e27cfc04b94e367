// How large the factor of a sparse symmetric matrix gets, without computing it.
#include <vector>

#include "native/bindings.h"

using namespace native;

namespace {

/// Return the entries of L with its diagonal, for the pivots in their order, and how many each
/// column has in ``counts``; stop above ``limit``.
///
/// Column j of the upper triangle has its rows above j in ``indices[starts[j]:starts[j + 1]]``, in
/// any order. Row j of L has an entry at every column on the way up the elimination tree from
/// these to j (Liu 1990, section 5), and each is walked once.
double count_entries(Span<const std::int64_t> starts, Span<const std::int32_t> indices,
                     double limit, Span<std::int64_t> counts) {
    const std::int64_t size = starts.size() - 1;
    check_length("indices", indices.size(), starts[size]);
    check_length("counts", counts.size(), size);
    constexpr std::int64_t NONE = -1;
    std::vector<std::int64_t> parent(size, NONE), seen(size, NONE);
    double entries = 0.0;
    for (std::int64_t j = 0; j < size && entries <= limit; ++j) {
        seen[j] = j;
        counts[j] = 1;
        entries += 1.0;
        for (std::int64_t entry = starts[j]; entry < starts[j + 1]; ++entry)
            for (std::int64_t i = indices[entry]; seen[i] != j; i = parent[i]) {
                if (parent[i] == NONE)
                    parent[i] = j;
                seen[i] = j;
                ++counts[i];
                entries += 1.0;
            }
    }
    return entries;
}

} // namespace

NATIVE_MODULE(interior_point_factor_size) {
    native::expose(module, "count_entries", &count_entries, "starts", "indices", "limit", "counts");
}
