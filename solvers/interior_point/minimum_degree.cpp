// An order of elimination of low fill: approximate minimum degree.
//
// Amestoy, Davis and Duff ("An approximate minimum degree ordering algorithm", SIAM Journal on
// Matrix Analysis and Applications 17, 1996), with their names: variables wait to be eliminated,
// an element is what a pivot leaves behind, a clique of those that it touched. SuperLU's own
// order, by multiple minimum degree, is found under the interpreter's lock.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "native/bindings.h"

using namespace native;

namespace {

using Index = std::int32_t;

constexpr Index NONE = -1;

constexpr Index PIVOTS_PER_POLL = 1024;

/// The quotient graph of what is left of a matrix.
///
/// A variable or an element i is alive while ``weight[i]`` is not zero: as many rows as are
/// eliminated with it, those of equal lists being one. The list of a variable has ``elements[i]``
/// elements first and then variables, ``lengths[i]`` in all, from ``begin[i]`` on; it never grows.
/// The variables of an element are in ``members``.
class QuotientGraph {
  public:
    QuotientGraph(Span<const Index> row, Span<const Index> column, Index size)
        : size(size), begin(size + 1, 0), lengths(size, 0), elements(size, 0), weight(size, 1),
          degree(size, 0), is_element(size, 0), members(size), mark(size, 0), head(size, NONE),
          next(size, NONE), last(size, NONE), bucket(size, NONE), chain(size, NONE),
          chain_end(size) {
        for (std::int64_t at = 0; at < row.size(); ++at) {
            if (row[at] < 0 || column[at] < 0 || row[at] >= size || column[at] >= size)
                throw std::invalid_argument("a row or a column is outside the matrix");
            if (row[at] != column[at]) {
                ++begin[row[at] + 1];
                ++begin[column[at] + 1];
            }
        }
        for (Index i = 0; i < size; ++i)
            begin[i + 1] += begin[i];
        list.resize(begin[size]);
        for (std::int64_t at = 0; at < row.size(); ++at)
            if (row[at] != column[at]) {
                list[begin[row[at]] + lengths[row[at]]++] = column[at];
                list[begin[column[at]] + lengths[column[at]]++] = row[at];
            }
        for (Index i = size; i-- > 0;) { // of equal ones the first is the first
            if (lengths[i] >= size)
                throw std::invalid_argument("an entry is given twice");
            chain_end[i] = i;
            degree[i] = lengths[i];
            put(i);
        }
    }

    /// Write the rows in their order.
    void eliminate_all(Span<Index> order) {
        Index done = 0, pivots = 0;
        for (Index least = 0; done < size; ++pivots) {
            if (pivots % PIVOTS_PER_POLL == 0)
                poll();
            while (head[least] == NONE)
                ++least;
            const Index pivot = head[least];
            take(pivot);
            make_element(pivot);
            measure_elements(pivot);
            left = size - done - weight[pivot];
            update_variables(pivot);
            merge_equal_variables(pivot);
            least = std::min(least, finish(pivot));
            for (Index i = pivot; i != NONE; i = chain[i])
                order[done++] = i;
        }
    }

  private:
    Index size, left = 0;
    std::vector<std::int64_t> begin;
    std::vector<Index> list, lengths, elements, weight, degree;
    std::vector<char> is_element;
    std::vector<std::vector<Index>> members;
    std::vector<std::int64_t> mark; // of an element: its size outside the pivot's, above ``now``
    std::int64_t now = 1;
    std::vector<Index> head, next, last;        // variables by their degree
    std::vector<Index> bucket;                  // the first variable with a hash
    std::vector<Index> chain, chain_end, found; // what is eliminated together; hashes in use

    void put(Index i) {
        const Index first = head[degree[i]];
        next[i] = first;
        last[i] = NONE;
        if (first != NONE)
            last[first] = i;
        head[degree[i]] = i;
    }

    void take(Index i) {
        if (last[i] != NONE)
            next[last[i]] = next[i];
        else
            head[degree[i]] = next[i];
        if (next[i] != NONE)
            last[next[i]] = last[i];
    }

    void drop_element(Index e) {
        weight[e] = 0;
        std::vector<Index>().swap(members[e]);
    }

    /// Let ``i`` be eliminated right after what goes with ``with``.
    void join(Index with, Index i) {
        chain[chain_end[with]] = i;
        chain_end[with] = chain_end[i];
        weight[i] = 0;
    }

    /// Gather what the pivot touches; weights of variables in there are negative until the end.
    void make_element(Index pivot) {
        std::vector<Index> &touched = members[pivot];
        Index size_of_element = 0;
        const Index pivot_weight = weight[pivot];
        weight[pivot] = 0;
        const auto add = [&](Index i) {
            if (weight[i] <= 0)
                return;
            size_of_element += weight[i];
            weight[i] = -weight[i];
            take(i);
            touched.push_back(i);
        };
        for (Index at = 0; at < lengths[pivot]; ++at) {
            const Index i = list[begin[pivot] + at];
            if (at >= elements[pivot]) {
                add(i);
            } else if (weight[i] != 0) {
                for (const Index variable : members[i])
                    add(variable);
                drop_element(i);
            }
        }
        is_element[pivot] = 1;
        weight[pivot] = pivot_weight;
        degree[pivot] = size_of_element;
    }

    /// For each element beside the pivot's, find how much of it is outside the pivot's.
    void measure_elements(Index pivot) {
        for (const Index i : members[pivot])
            for (Index at = 0; at < elements[i]; ++at) {
                const Index e = list[begin[i] + at];
                if (weight[e] == 0)
                    continue;
                if (mark[e] < now)
                    mark[e] = now + degree[e];
                mark[e] += weight[i]; // which is negative
            }
    }

    /// Take the pivot's element into the lists of its variables, and bound their degrees.
    void update_variables(Index pivot) {
        found.clear();
        std::vector<Index> &touched = members[pivot];
        std::size_t stay = 0;
        for (const Index i : touched) {
            std::uint64_t hash = 0;
            const std::int64_t from = begin[i];
            std::int64_t to = from, outside = 0;
            for (Index at = 0; at < elements[i]; ++at) {
                const Index e = list[from + at];
                if (weight[e] == 0)
                    continue;
                if (mark[e] <= now) { // all of it is in the pivot's
                    drop_element(e);
                    continue;
                }
                outside += mark[e] - now;
                hash += static_cast<std::uint64_t>(e);
                list[to++] = e;
            }
            const std::int64_t variables = to;
            for (std::int64_t at = from + elements[i]; at < from + lengths[i]; ++at) {
                const Index j = list[at];
                if (is_element[j] || weight[j] <= 0)
                    continue;
                outside += weight[j];
                hash += static_cast<std::uint64_t>(j);
                list[to++] = j;
            }
            if (to == from) { // it touches nothing but the pivot's
                degree[pivot] += weight[i];
                left += weight[i];
                weight[pivot] -= weight[i];
                join(pivot, i);
                continue;
            }
            list[to] = list[variables]; // the pivot's element comes first
            list[variables] = list[from];
            list[from] = pivot;
            elements[i] = static_cast<Index>(variables - from) + 1;
            lengths[i] = static_cast<Index>(to - from) + 1;
            degree[i] = static_cast<Index>(std::min<std::int64_t>(degree[i], outside));
            const Index place = static_cast<Index>(hash % static_cast<std::uint64_t>(size));
            if (bucket[place] == NONE)
                found.push_back(place);
            next[i] = bucket[place];
            bucket[place] = i;
            touched[stay++] = i;
        }
        touched.resize(stay);
        now += size + 1; // above all marks
    }

    /// Make one variable of those whose lists are equal.
    void merge_equal_variables(Index pivot) {
        for (const Index place : found) {
            for (Index i = bucket[place]; i != NONE; i = next[i]) {
                if (weight[i] == 0)
                    continue;
                bool is_marked = false;
                for (Index j = next[i]; j != NONE; j = next[j]) {
                    if (weight[j] == 0 || lengths[j] != lengths[i] || elements[j] != elements[i])
                        continue;
                    if (!is_marked) {
                        ++now;
                        for (Index at = 0; at < lengths[i]; ++at)
                            mark[list[begin[i] + at]] = now;
                        is_marked = true;
                    }
                    const auto first = list.begin() + begin[j];
                    if (std::all_of(first, first + lengths[j],
                                    [&](Index k) { return mark[k] == now; })) {
                        weight[i] += weight[j];
                        join(i, j);
                    }
                }
            }
            bucket[place] = NONE;
        }
        std::vector<Index> &touched = members[pivot];
        touched.erase(
            std::remove_if(touched.begin(), touched.end(), [&](Index i) { return weight[i] == 0; }),
            touched.end());
        ++now;
    }

    /// Put the pivot's variables back among those that wait; return the least of their degrees.
    Index finish(Index pivot) {
        Index least = size - 1;
        for (const Index i : members[pivot]) {
            weight[i] = -weight[i];
            const Index others = degree[pivot] - weight[i];
            degree[i] = std::min(degree[i] + others, left - weight[i]);
            put(i);
            least = std::min(least, degree[i]);
        }
        if (members[pivot].empty())
            drop_element(pivot);
        return least;
    }
};

/// Find the ``order`` in which to eliminate the rows of a symmetric matrix.
///
/// Its lower triangle, or any half of it, has entries at ``row`` and ``column``, each once.
void minimum_degree(Span<const Index> row, Span<const Index> column, Span<Index> order) {
    check_length("column", column.size(), row.size());
    QuotientGraph(row, column, static_cast<Index>(order.size())).eliminate_all(order);
}

} // namespace

NATIVE_MODULE(interior_point_minimum_degree) {
    native::expose(module, "minimum_degree", &minimum_degree, "row", "column", "order");
}
