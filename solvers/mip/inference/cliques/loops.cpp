// The long loops of the clique table.
#include "mip/model.h"

#include <vector>

namespace mip::cliques {
namespace {

using native::check_length;
using native::Span;

/// Share of the size of a row's terms that their sum may be off by (100,000 terms in doubles).
constexpr double ROUNDING = 1e-11;

/// Pairs of cliques compared for each literal in the table before the search for dominated ones
/// ends: it is to cost about as much as building the table.
constexpr std::int64_t PAIRS_PER_MEMBER = 20;

/// The binary terms of a row as weights of literals, and scratch for sorting them.
struct Terms {
    std::vector<double> weight;
    std::vector<std::int32_t> literal;
    std::vector<double> falling;
    std::int64_t count = 0;
    /// The smallest activity and the largest range of the other columns; infinite where there is
    /// no finite one.
    double smallest = 0.0, others = 0.0;
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
    terms.smallest = terms.others = terms.size = 0.0;
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
            const double high = a > 0.0 ? a * model.upper[j] : a * model.lower[j];
            if (std::isinf(low)) {
                terms.count = 0;
                return;
            }
            terms.smallest += low;
            terms.others += high - low;
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
    Span<std::int32_t> start;
    Span<std::int32_t> member;
    Span<std::uint8_t> is_equality;
    Span<std::int32_t> row;
    std::int64_t cliques = 0, entries = 0;
};

/// Add the clique that ``sign * row`` implies, if any; false where there is no room for it.
bool add_clique(const Model &model, std::int64_t i, double sign, Terms &terms, Found &found) {
    const double side = sign > 0.0 ? model.row_upper[i] : -model.row_lower[i];
    const double other = sign > 0.0 ? model.row_lower[i] : -model.row_upper[i];
    if (std::isinf(side) || model.rows.indptr[i + 1] - model.rows.indptr[i] < 2)
        return true;
    read_row(model, i, sign, terms);
    if (terms.count < 2)
        return true;
    const double slop = FEASIBILITY_TOLERANCE + ROUNDING * (terms.size + std::abs(side));
    const std::int64_t length = clique_length(terms, side - terms.smallest + slop);
    if (length < 2)
        return true;
    if (found.entries + length > found.member.size() || found.cliques == found.is_equality.size())
        return false;
    double rest = terms.others;
    for (std::int64_t k = length; k < terms.count; ++k)
        rest += terms.weight[k];
    found.is_equality[found.cliques] = terms.smallest + rest < other - slop;
    for (std::int64_t k = 0; k < length; ++k)
        found.member[found.entries + k] = terms.literal[k];
    found.entries += length;
    found.row[found.cliques] = static_cast<std::int32_t>(i);
    ++found.cliques;
    found.start[found.cliques] = static_cast<std::int32_t>(found.entries);
    return true;
}

/// Write the cliques of all rows while there is room in ``member``; return their number.
std::int64_t collect(const Model &model, Span<std::int32_t> start, Span<std::int32_t> member,
                     Span<std::uint8_t> is_equality, Span<std::int32_t> row) {
    const std::int64_t m = model.row_lower.size();
    check_shapes(model);
    check_length("start", start.size(), is_equality.size() + 1);
    check_length("row", row.size(), is_equality.size());
    std::int32_t longest = 0;
    for (std::int64_t i = 0; i < m; ++i)
        longest = std::max(longest, model.rows.length(i));
    Terms terms(longest);
    Found found{start, member, is_equality, row};
    for (std::int64_t i = 0; i < m; ++i) {
        if (i % 1024 == 0)
            native::poll();
        if (!add_clique(model, i, 1.0, terms, found) || !add_clique(model, i, -1.0, terms, found))
            break;
    }
    return found.cliques;
}

/// Write the index of cliques by literal: starts (2n+1,) and numbers of cliques.
void by_literal(Span<const std::int32_t> start, Span<const std::int32_t> member,
                Span<std::int32_t> literal_start, Span<std::int32_t> literal_clique) {
    check_length("literal_clique", literal_clique.size(), member.size());
    const std::int64_t literals = literal_start.size() - 1;
    std::fill(literal_start.begin(), literal_start.end(), 0);
    for (const std::int32_t literal : member)
        literal_start[literal + 1] += 1;
    for (std::int64_t literal = 0; literal < literals; ++literal)
        literal_start[literal + 1] += literal_start[literal];
    std::vector<std::int32_t> place(literal_start.begin(), literal_start.end());
    for (std::int64_t clique = 0; clique < start.size() - 1; ++clique) {
        for (std::int64_t entry = start[clique]; entry < start[clique + 1]; ++entry) {
            const std::int32_t literal = member[entry];
            literal_clique[place[literal]] = static_cast<std::int32_t>(clique);
            place[literal] += 1;
        }
    }
}

/// Cliques by number and by literal.
struct Table {
    Span<const std::int32_t> start;
    Span<const std::int32_t> member;
    Span<const std::int32_t> literal_start;
    Span<const std::int32_t> literal_clique;

    std::int32_t length(std::int64_t clique) const { return start[clique + 1] - start[clique]; }
    std::int32_t held(std::int64_t literal) const {
        return literal_start[literal + 1] - literal_start[literal];
    }
};

/// Whether the rising literals of ``inner`` are all among those of ``outer``.
bool contains(const Table &table, std::int64_t outer, std::int64_t inner) {
    std::int64_t at = table.start[outer];
    const std::int64_t end = table.start[outer + 1];
    for (std::int64_t entry = table.start[inner]; entry < table.start[inner + 1]; ++entry) {
        const std::int32_t literal = table.member[entry];
        while (at < end && table.member[at] < literal)
            ++at;
        if (at == end || table.member[at] != literal)
            return false;
        ++at;
    }
    return true;
}

/// Return a word for each clique: one bit for each of its literals, which others may share.
std::vector<std::uint64_t> signatures(const Table &table) {
    std::vector<std::uint64_t> found(table.start.size() - 1);
    for (std::size_t clique = 0; clique < found.size(); ++clique) {
        for (std::int64_t entry = table.start[clique]; entry < table.start[clique + 1]; ++entry) {
            const std::uint64_t mixed =
                static_cast<std::uint64_t>(table.member[entry]) * 0x9E3779B97F4A7C15U;
            found[clique] |= std::uint64_t{1} << (mixed >> 58);
        }
    }
    return found;
}

/// Return the literal of a clique that the fewest cliques hold.
std::int32_t rarest_literal(const Table &table, std::int64_t clique) {
    std::int32_t rarest = table.member[table.start[clique]];
    for (std::int64_t entry = table.start[clique]; entry < table.start[clique + 1]; ++entry) {
        if (table.held(table.member[entry]) < table.held(rarest))
            rarest = table.member[entry];
    }
    return rarest;
}

/// Write which cliques (k,) do not lie within another one.
///
/// A clique that equals an earlier one goes, and hands on that exactly one literal is true; one
/// of which exactly one literal is true does not go for a larger one.
void undominated(Span<const std::int32_t> start, Span<const std::int32_t> member,
                 Span<std::uint8_t> is_equality, Span<const std::int32_t> literal_start,
                 Span<const std::int32_t> literal_clique, Span<bool> keep) {
    const std::int64_t total = start.size() - 1;
    check_length("is_equality", is_equality.size(), total);
    check_length("keep", keep.size(), total);
    check_length("member", member.size(), start[total]);
    check_length("literal_clique", literal_clique.size(), member.size());
    const Table table{start, member, literal_start, literal_clique};
    const std::vector<std::uint64_t> signature = signatures(table);
    std::fill(keep.begin(), keep.end(), true);
    std::int64_t work = PAIRS_PER_MEMBER * member.size();
    for (std::int64_t inner = 0; inner < total && work >= 0; ++inner) {
        native::poll();
        const std::int32_t length = table.length(inner), rarest = rarest_literal(table, inner);
        for (std::int64_t place = literal_start[rarest]; place < literal_start[rarest + 1];
             ++place) {
            const std::int64_t outer = literal_clique[place];
            const std::int32_t size = table.length(outer);
            --work;
            if (outer == inner || size < length || (size == length && outer > inner))
                continue;
            if (is_equality[inner] && (size > length || !keep[outer]))
                continue;
            if (signature[inner] & ~signature[outer])
                continue;
            work -= length + size;
            if (contains(table, outer, inner)) {
                is_equality[outer] |= is_equality[inner];
                keep[inner] = false;
                break;
            }
        }
    }
}

} // namespace
} // namespace mip::cliques

NATIVE_MODULE(mip_inference_cliques) {
    using namespace mip::cliques;
    native::expose(module, "collect", &collect, "model", "start", "member", "is_equality", "row");
    native::expose(module, "by_literal", &by_literal, "start", "member", "literal_start",
                   "literal_clique");
    native::expose(module, "undominated", &undominated, "start", "member", "is_equality",
                   "literal_start", "literal_clique", "keep");
    native::constants(module, "solvers.mip.model",
                      {{"FEASIBILITY_TOLERANCE", mip::FEASIBILITY_TOLERANCE}});
}
