// Activities and reduced costs of the LPs of a batch; check.py says when they are asked for.
#include "simplex/batch/kernels/lps.h"

using namespace native;

namespace {

/// Fill in the activities of rows and the reduced costs of columns of the LPs that are wanted.
void price(const std::tuple<std::int64_t, std::int64_t, std::int64_t, Ints, Ints, int> &given,
           int varying, Numbers values, Numbers cost, Span<const bool> wanted, Numbers x,
           Numbers row_dual, NumbersOut row_activity, NumbersOut reduced_cost, int threads) {
    const Pattern pattern = std::apply(pattern_of, given);
    const std::int64_t count = pattern.count, rows = pattern.rows, columns = pattern.columns;
    const OfEach<double> all_values("values", values, pattern.nonzeros(), varying, 0, count);
    const OfEach<double> costs("cost", cost, columns, varying, 1, count);
    check_length("wanted", wanted.size(), count);
    check_length("x", x.size(), count * columns);
    check_length("row_dual", row_dual.size(), count * rows);
    check_length("row_activity", row_activity.size(), count * rows);
    check_length("reduced_cost", reduced_cost.size(), count * columns);
    parallel_for(threads, count, [&](std::int64_t k) {
        poll();
        if (!wanted[k])
            return;
        const Numbers own = costs.of(k), point = x.part(k * columns, (k + 1) * columns);
        const NumbersOut reduced = reduced_cost.part(k * columns, (k + 1) * columns);
        std::copy(own.begin(), own.end(), reduced.begin());
        for (std::int64_t i = k * rows; i < (k + 1) * rows; ++i)
            row_activity[i] =
                price_row(pattern, all_values.of(k), i - k * rows, row_dual[i], point, reduced);
    });
}

} // namespace

NATIVE_MODULE(batch_check) {
    expose(module, "price", &price, "pattern", "varying", "values", "cost", "wanted", "x",
           "row_dual", "row_activity", "reduced_cost", "threads");
}
