// Lattice reduction: a basis of short and nearly orthogonal integer vectors.
//
// Lenstra, Lenstra and Lovász, "Factoring polynomials with rational coefficients" (1982), in the
// floating-point form of Schnorr and Euchner, "Lattice basis reduction: improved practical
// algorithms and solving subset sum problems" (1994): the vectors and their products stay whole
// numbers, only the orthogonalisation is rounded. Whoever uses the basis checks what comes of it,
// so that a rounding error may cost a point and never makes a wrong one.
#include "native/bindings.h"

namespace mip::lattice {
namespace {

using native::check_length;
using native::Grid;
using native::Span;

/// Part of a vector's orthogonal length that the next one has to keep (delta of the paper; the
/// nearer to 1, the shorter the vectors).
constexpr double LOVASZ = 0.99;

/// Coefficient above which a vector is reduced by an earlier one; a half in exact arithmetic, a
/// little more here so that rounding does not send the loop round and round.
constexpr double HALF = 0.501;

/// Passes of size reduction over one vector at most; more than three are rare.
constexpr int PASSES = 8;

/// The vectors (n, d), their scalar products (n, n), and their orthogonalisation: coefficients
/// (n, n) and squared lengths (n,).
struct Basis {
    Grid<double> vector;
    Grid<double> product;
    Grid<double> factor;
    Span<double> length;

    std::int64_t count() const { return vector.shape(0); }
    std::int64_t dimension() const { return vector.shape(1); }
};

/// Compute row k of the Gram-Schmidt coefficients from the scalar products.
///
/// Until division by the lengths the row holds the products with the orthogonal parts; at the end
/// the coefficients.
void orthogonalise(const Basis &basis, std::int64_t k) {
    const auto row = basis.factor[k];
    for (std::int64_t j = 0; j < k; ++j) {
        const auto other = basis.factor[j];
        double total = basis.product(k, j);
        for (std::int64_t i = 0; i < j; ++i)
            total -= other[i] * row[i];
        row[j] = total;
    }
    double rest = basis.product(k, k);
    for (std::int64_t j = 0; j < k; ++j) {
        const double inner = row[j];
        row[j] = basis.length[j] > 0.0 ? inner / basis.length[j] : 0.0;
        rest -= inner * row[j];
    }
    basis.length[k] = std::max(rest, 0.0);
}

/// Take ``times`` the entries of one vector from those of another.
NATIVE_HOT void subtract_row(Span<double> row, Span<const double> other, double times) {
    for (std::int64_t i = 0; i < row.size(); ++i)
        row[i] -= times * other[i];
}

/// Take ``times`` vector j from vector k, and keep the scalar products up to date.
void subtract(const Basis &basis, std::int64_t k, std::int64_t j, double times) {
    const auto product = basis.product;
    subtract_row(basis.vector[k], basis.vector[j], times);
    const double own = product(k, k) - 2.0 * times * product(k, j) + times * times * product(j, j);
    subtract_row(product[k], product[j], times);
    product(k, k) = own;
    for (std::int64_t i = 0; i < basis.count(); ++i)
        product(i, k) = product(k, i);
}

/// Make vector k as short as whole multiples of the earlier ones can; return entries visited.
std::int64_t size_reduce(const Basis &basis, std::int64_t k) {
    std::int64_t work = 0;
    for (int pass = 0; pass < PASSES; ++pass) {
        orthogonalise(basis, k);
        work += k * k / 2;
        bool changed = false;
        for (std::int64_t j = k - 1; j >= 0; --j) {
            if (!(std::abs(basis.factor(k, j)) > HALF))
                continue;
            const double times = native::round_even(basis.factor(k, j));
            subtract(basis, k, j, times);
            subtract_row(basis.factor[k].part(0, j), basis.factor[j].part(0, j), times);
            basis.factor(k, j) -= times;
            work += basis.dimension() + 2 * basis.count();
            changed = true;
        }
        if (!changed)
            break;
    }
    return work;
}

/// Move vector k to an earlier place, and those from there on by one; return entries visited.
std::int64_t insert(const Basis &basis, std::int64_t k, std::int64_t place) {
    const std::int64_t n = basis.count();
    const auto product = basis.product;
    for (std::int64_t i = k; i > place; --i) {
        const auto before = basis.vector[i - 1], vector = basis.vector[i];
        std::swap_ranges(before.begin(), before.end(), vector.begin());
        std::swap_ranges(product[i - 1].begin(), product[i - 1].end(), product[i].begin());
        for (std::int64_t at = 0; at < n; ++at)
            std::swap(product(at, i - 1), product(at, i));
    }
    return (k - place) * (2 * basis.dimension() + 4 * n);
}

/// Return the first place at which vector k is shorter than what stands there; k if none.
///
/// Shorter as far as both are orthogonal to the vectors before. Looked at are the last ``depth``
/// places and, but for the last, as many at the beginning of the basis (Schnorr and Euchner's deep
/// insertions; with a depth of one it is plain reduction).
std::int64_t place_of(const Basis &basis, std::int64_t k, std::int64_t depth) {
    double rest = basis.product(k, k);
    for (std::int64_t i = 0; i < k; ++i) {
        if ((i < depth - 1 || k - i <= depth) && rest < LOVASZ * basis.length[i])
            return i;
        rest -= basis.factor(k, i) * basis.factor(k, i) * basis.length[i];
    }
    return k;
}

void check_shapes(const Basis &basis) {
    const std::int64_t n = basis.count();
    check_length("factor", basis.factor.shape(0), n);
    check_length("factor", basis.factor.shape(1), n);
    check_length("length", basis.length.size(), n);
}

/// Reduce the rows of ``basis`` from ``place`` (1,) on until all are done or work is ``limit``.
///
/// ``basis`` (n, d) holds whole numbers, ``product`` (n, n) the scalar products of its rows,
/// ``factor`` (n, n) and ``length`` (n,) the orthogonalisation; ``depth`` is that of place_of.
/// Returns the entries visited; ``place`` is n when the basis is reduced.
std::int64_t reduce_basis(Grid<double> vectors, Grid<double> product, Grid<double> factor,
                          Span<double> length, Span<std::int64_t> place, std::int64_t depth,
                          std::int64_t limit) {
    const Basis basis{vectors, product, factor, length};
    check_shapes(basis);
    check_length("product", product.shape(0), basis.count());
    check_length("product", product.shape(1), basis.count());
    check_length("place", place.size(), 1);
    std::int64_t work = 0;
    while (place[0] < basis.count() && work < limit) {
        native::poll();
        const std::int64_t k = place[0];
        work += size_reduce(basis, k);
        const std::int64_t to = place_of(basis, k, depth);
        if (to < k)
            work += insert(basis, k, to);
        place[0] = to < k ? to : k + 1;
    }
    return work;
}

/// Take whole multiples of the vectors from ``rest`` (d,) until it is short.
///
/// ``product_with`` (n,) holds the scalar products of ``rest`` with the vectors and is overwritten.
void nearest_plane(Grid<const double> vectors, Span<double> product_with, Grid<const double> factor,
                   Span<const double> length, Span<double> rest) {
    const std::int64_t n = vectors.shape(0);
    check_length("product_with", product_with.size(), n);
    check_length("factor", factor.shape(0), n);
    check_length("factor", factor.shape(1), n);
    check_length("length", length.size(), n);
    check_length("rest", rest.size(), vectors.shape(1));
    for (std::int64_t i = 0; i < n; ++i) { // coefficients in the orthogonal vectors
        double total = product_with[i];
        for (std::int64_t j = 0; j < i; ++j)
            total -= factor(i, j) * length[j] * product_with[j];
        product_with[i] = length[i] > 0.0 ? total / length[i] : 0.0;
    }
    for (std::int64_t i = n - 1; i >= 0; --i) {
        const double times = native::round_even(product_with[i]);
        if (times == 0.0)
            continue;
        subtract_row(rest.part(0, vectors.shape(1)), vectors[i], times);
        subtract_row(product_with.part(0, i), factor[i].part(0, i), times);
    }
}

} // namespace
} // namespace mip::lattice

NATIVE_MODULE(mip_heuristics_lattice) {
    using namespace mip::lattice;
    native::expose(module, "reduce_basis", &reduce_basis, "basis", "product", "factor", "length",
                   "place", "depth", "limit");
    native::expose(module, "nearest_plane", &nearest_plane, "basis", "product_with", "factor",
                   "length", "rest");
}
