// The lower triangle of a linear system, and which products of two entries of A are summed in which
// of its entries.
//
// The product A A' row by row (Gustavson 1978), with the places of the factors instead of their
// values. Laid out by sorting all pairs, the systems of pilot87 and rail582, with 1.3 and 1.7
// million of them, took 0.14 and 0.19 s of processor time.
#include <algorithm>
#include <utility>
#include <vector>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// A by columns and by rows: what is in row i at k of the latter is in A by columns at places[k].
struct Places {
    Span<const std::int64_t> starts;
    Span<const std::int32_t> rows;
    Span<const std::int64_t> row_starts;
    Span<const std::int32_t> columns;
    Span<const std::int64_t> places;
};

/// Entries by columns, where the products are that are summed in each, and what stands alone.
struct Laid {
    Span<std::int32_t> row;
    Span<std::int32_t> column;
    Span<std::int64_t> starts;
    Span<std::int32_t> columns;
    Span<std::int32_t> first;
    Span<std::int32_t> second;
    Span<std::int64_t> alone;
    Span<std::int64_t> alone_at;
    Span<std::int64_t> on_diagonal;
};

/// What has been laid out so far.
struct Reached {
    std::int64_t entries = 0, products = 0, alone = 0;
};

/// Lay out the column of a kept column of A: its diagonal, and its entries as they are.
void lay_out_kept(const Places &matrix, std::int64_t j, std::int32_t number, std::int32_t num_kept,
                  const Laid &to, Reached &at) {
    auto add = [&](std::int32_t row) {
        to.row[at.entries] = row;
        to.column[at.entries] = number;
        to.starts[at.entries] = at.products;
        return at.entries++;
    };
    to.on_diagonal[number] = add(number);
    for (std::int64_t place = matrix.starts[j]; place < matrix.starts[j + 1]; ++place) {
        to.alone[at.alone] = place;
        to.alone_at[at.alone++] = add(num_kept + matrix.rows[place]);
    }
}

/// Lay out a row of A, as a column of A_E A_E' from its diagonal on.
class Row {
  public:
    Row(const Places &matrix, Span<const std::int32_t> kept, std::int32_t num_kept,
        std::int64_t num_rows)
        : matrix(matrix), kept(kept), num_kept(num_kept), next(num_rows, 0) {}

    void lay_out(std::int32_t i, const Laid &to, Reached &at) {
        touched.assign(1, i);
        next[i] = 1; // the diagonal is there without a product, too
        for_each_pair(i, [&](std::int64_t, std::int64_t, std::int64_t second) {
            if (next[matrix.rows[second]]++ == 0)
                touched.push_back(matrix.rows[second]);
        });
        next[i] -= 1;
        std::sort(touched.begin(), touched.end());
        to.on_diagonal[num_kept + i] = at.entries;
        for (const std::int32_t k : touched) {
            to.row[at.entries] = num_kept + k;
            to.column[at.entries] = num_kept + i;
            to.starts[at.entries++] = at.products;
            at.products += std::exchange(next[k], at.products);
        }
        for_each_pair(i, [&](std::int64_t j, std::int64_t first, std::int64_t second) {
            const std::int64_t place = next[matrix.rows[second]]++;
            to.columns[place] = static_cast<std::int32_t>(j);
            to.first[place] = static_cast<std::int32_t>(first);
            to.second[place] = static_cast<std::int32_t>(second);
        });
        for (const std::int32_t k : touched)
            next[k] = 0;
    }

  private:
    /// Call pair(column, place in row i, place in row i or a later one) for those eliminated.
    template <class Pair> void for_each_pair(std::int32_t i, const Pair &pair) const {
        for (std::int64_t at = matrix.row_starts[i]; at < matrix.row_starts[i + 1]; ++at) {
            const std::int64_t j = matrix.columns[at];
            if (kept[j] >= 0)
                continue;
            const std::int64_t first = matrix.places[at];
            for (std::int64_t second = first; second < matrix.starts[j + 1]; ++second)
                pair(j, first, second);
        }
    }

    const Places &matrix;
    Span<const std::int32_t> kept;
    std::int32_t num_kept;
    std::vector<std::int64_t> next; // of a row: how many products, then where the next one goes
    std::vector<std::int32_t> touched;
};

/// Lay out the lower triangle of the system; return how many entries it has.
///
/// Rows of each column are in order, and ``kept`` is the number of a kept column, -1 of others.
/// The arrays of ``to`` have room for every product and entry.
std::int64_t lay_out(Places matrix, Span<const std::int32_t> kept, std::int32_t num_kept, Laid to) {
    const std::int64_t num_columns = matrix.starts.size() - 1;
    const std::int64_t num_rows = matrix.row_starts.size() - 1;
    check_length("kept", kept.size(), num_columns);
    check_length("on_diagonal", to.on_diagonal.size(), num_kept + num_rows);
    Reached at;
    for (std::int64_t j = 0; j < num_columns; ++j)
        if (kept[j] >= 0)
            lay_out_kept(matrix, j, kept[j], num_kept, to, at);
    Row row(matrix, kept, num_kept, num_rows);
    for (std::int64_t i = 0; i < num_rows; ++i) {
        if (i % 256 == 0)
            poll();
        row.lay_out(static_cast<std::int32_t>(i), to, at);
    }
    to.starts[at.entries] = at.products;
    return at.entries;
}

} // namespace

NATIVE_STRUCT(Places, starts, rows, row_starts, columns, places)
NATIVE_STRUCT(Laid, row, column, starts, columns, first, second, alone, alone_at, on_diagonal)

NATIVE_MODULE(interior_point_products) {
    native::expose(module, "lay_out", &lay_out, "matrix", "kept", "num_kept", "to");
}
