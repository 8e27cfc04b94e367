// The cliques that single rows imply.
#include "mip/model.h"

#include <vector>

namespace mip::cliques {
namespace {

using native::Span;

/// Share of the size of a row's terms that their sum may be off by (100,000 terms in doubles).
constexpr double ROUNDING = 1e-11;

/// The binary terms of a row as weights of literals, and scratch for sorting them.
struct Terms {
    std::vector<double> weight;
    std::vector<std::int32_t> literal;
    std::vector<double> falling;
    std::int64_t count = 0;
    double smallest = 0.0; // activity of the row
    /// A sum of sizes for tolerances.
    double size = 0.0;

    explicit Terms(std::size_t longest) : weight(longest), literal(longest), falling(longest) {}
};

/// Whether a column is an integer between 0 and 1 with both values allowed.
bool is_binary(const Model &model, std::int64_t j) {
    return model.is_integer[j] == 1 && model.lower[j] == 0.0 && model.upper[j] == 1.0;
}

/// Read ``sign * row``.
void read_row(const Model &model, std::int64_t i, double sign, Terms &terms) {
    terms.count = 0;
    terms.smallest = terms.size = 0.0;
    for (std::int64_t entry = model.rows.indptr[i]; entry < model.rows.indptr[i + 1]; ++entry) {
        const std::int32_t j = model.rows.indices[entry];
        const double a = sign * model.rows.data[entry];
        if (is_binary(model, j)) {
            terms.weight[terms.count] = std::abs(a);
            terms.literal[terms.count] = 2 * j + (a > 0.0 ? 1 : 0);
            ++terms.count;
            terms.smallest += std::min(a, 0.0);
            terms.size += std::abs(a);
        } else if (a != 0.0) {
            const double low = a > 0.0 ? a * model.lower[j] : a * model.upper[j];
            if (std::isinf(low)) {
                terms.count = 0;
                return;
            }
            terms.smallest += low;
            terms.size += std::abs(low);
        }
    }
}

/// Move the literals of the ``length`` largest weights to the front, in their order.
///
/// Of equal weights the first ones belong to them.
void to_front(Terms &terms, std::int64_t length) {
    const double least = terms.falling[length - 1];
    std::int64_t ties = length;
    for (std::int64_t k = 0; k < length; ++k)
        ties -= terms.falling[k] > least;
    std::int64_t front = 0;
    for (std::int64_t k = 0; k < terms.count; ++k) {
        const double w = terms.weight[k];
        if (w > least || (w == least && ties > 0)) {
            ties -= w == least;
            std::swap(terms.weight[front], terms.weight[k]);
            std::swap(terms.literal[front], terms.literal[k]);
            ++front;
        }
    }
}

/// Move the literals of the clique to the front, in their order; return how many there are.
std::int64_t clique_length(Terms &terms, double threshold) {
    double largest = 0.0, second = 0.0, least = native::INF, next_least = native::INF;
    for (std::int64_t k = 0; k < terms.count; ++k) {
        const double w = terms.weight[k];
        if (w > largest) {
            second = largest;
            largest = w;
        } else if (w > second) {
            second = w;
        }
        if (w < least) {
            next_least = least;
            least = w;
        } else if (w < next_least) {
            next_least = w;
        }
    }
    if (largest + second <= threshold)
        return 0;
    if (least + next_least > threshold)
        return terms.count;
    const auto begin = terms.falling.begin();
    std::copy_n(terms.weight.begin(), terms.count, begin);
    std::sort(begin, begin + terms.count, [](double a, double b) { return a > b; });
    std::int64_t length = 2;
    while (length < terms.count && terms.falling[length - 1] + terms.falling[length] > threshold)
        ++length;
    to_front(terms, length);
    return length;
}

/// Cliques, one after the other, as long as there is room.
struct Found {
    Span<std::int32_t> start, member;
    std::int64_t cliques = 0, entries = 0;
};

/// Add the clique that ``sign * row`` implies, if any; false where there is no room for it.
bool add_clique(const Model &model, std::int64_t i, double sign, Terms &terms, Found &found) {
    const double side = sign > 0.0 ? model.row_upper[i] : -model.row_lower[i];
    if (std::isinf(side) || model.rows.indptr[i + 1] - model.rows.indptr[i] < 2)
        return true;
    read_row(model, i, sign, terms);
    if (terms.count < 2)
        return true;
    const double slop = FEASIBILITY_TOLERANCE + ROUNDING * (terms.size + std::abs(side));
    const std::int64_t length = clique_length(terms, side - terms.smallest + slop);
    if (length < 2)
        return true;
    if (found.entries + length > found.member.size() || found.cliques + 1 == found.start.size())
        return false;
    for (std::int64_t k = 0; k < length; ++k)
        found.member[found.entries + k] = terms.literal[k];
    found.entries += length;
    ++found.cliques;
    found.start[found.cliques] = static_cast<std::int32_t>(found.entries);
    return true;
}

/// Write the cliques of all rows while there is room in ``member``; return their number.
std::int64_t collect(const Model &model, Span<std::int32_t> start, Span<std::int32_t> member) {
    const std::int64_t m = model.row_lower.size();
    check_shapes(model);
    std::int32_t longest = 0;
    for (std::int64_t i = 0; i < m; ++i)
        longest = std::max(longest, model.rows.length(i));
    Terms terms(longest);
    Found found{start, member};
    for (std::int64_t i = 0; i < m; ++i) {
        if (i % 1024 == 0)
            native::poll();
        if (!add_clique(model, i, 1.0, terms, found) || !add_clique(model, i, -1.0, terms, found))
            break;
    }
    return found.cliques;
}

} // namespace
} // namespace mip::cliques

NATIVE_MODULE(mip_inference_cliques) {
    using namespace mip::cliques;
    native::expose(module, "collect", &collect, "model", "start", "member");
    native::constants(module, "solvers.mip.model",
                      {{"FEASIBILITY_TOLERANCE", mip::FEASIBILITY_TOLERANCE}});
}
