// Adding a multiple of one sparse row to another.
#include "mip/model.h"

namespace mip::aggregation {
namespace {

using native::check_length;
using native::Span;

/// Write ``row + factor * other``, columns rising, without what cancels; return its length.
std::int64_t add(Span<const std::int32_t> columns, Span<const double> values,
                 Span<const std::int32_t> other_columns, Span<const double> other_values,
                 double factor, Span<std::int32_t> to_columns, Span<double> to_values) {
    const std::int64_t size = columns.size(), other_size = other_columns.size();
    check_length("values", values.size(), size);
    check_length("other_values", other_values.size(), other_size);
    check_length("to_columns", to_columns.size(), size + other_size);
    check_length("to_values", to_values.size(), size + other_size);
    std::int64_t count = 0, left = 0, right = 0;
    while (left < size || right < other_size) {
        if (right == other_size || (left < size && columns[left] < other_columns[right])) {
            to_columns[count] = columns[left];
            to_values[count] = values[left];
            ++left;
        } else if (left == size || other_columns[right] < columns[left]) {
            to_columns[count] = other_columns[right];
            to_values[count] = factor * other_values[right];
            ++right;
        } else {
            const double term = factor * other_values[right];
            const double total = values[left] + term;
            to_columns[count] = columns[left];
            to_values[count] = total;
            ++left;
            ++right;
            if (std::abs(total) <= ROUNDING * std::abs(term))
                continue;
        }
        ++count;
    }
    return count;
}

} // namespace
} // namespace mip::aggregation

NATIVE_MODULE(mip_inference_aggregation) {
    native::expose(module, "add", &mip::aggregation::add, "columns", "values", "other_columns",
                   "other_values", "factor", "to_columns", "to_values");
}
