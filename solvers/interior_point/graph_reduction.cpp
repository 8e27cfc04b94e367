// Vertices of a sparse symmetric matrix that can be eliminated before it is dissected.
//
// Data reduction as Ost, Schulz and Strash do it ("Engineering data reduction for nested
// dissection", ALENEX 2021): a vertex whose neighbours touch each other already (simplicial) brings
// no fill, and one with few neighbours no more edges than go with it. The graph that is left has
// the same separators and may be a seventh of the whole.
#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "native/bindings.h"

using namespace native;

namespace {

/// With so many neighbours a vertex goes whatever they are: three bring three edges at the most.
constexpr std::int32_t FEW = 3;

/// With so many it goes if they all touch each other.
constexpr std::int32_t MOST = 8;

/// What is eliminated, in its order, each with its neighbours then, and the graph that is left.
///
/// The neighbours of the k-th stand in ``neighbours[starts[k]:starts[k + 1]]``. ``left`` are the
/// vertices that stay, ``row`` and ``column`` the lower triangle of their graph by columns, with
/// its diagonal, numbered in the order of ``left``.
struct Reduced {
    Span<std::int32_t> eliminated;
    Span<std::int64_t> starts;
    Span<std::int32_t> neighbours;
    Span<std::int32_t> left;
    Span<std::int32_t> row;
    Span<std::int32_t> column;
};

/// A graph whose vertices have their neighbours in any order, in one array with room to grow.
class Graph {
  public:
    Graph(Span<const std::int32_t> row, Span<const std::int32_t> column, std::int64_t size)
        : begin(size + 1, 0), count(size, 0), room(size, 0), touched(size, -1) {
        for (std::int64_t at = 0; at < row.size(); ++at) {
            if (row[at] < 0 || column[at] < 0 || row[at] >= size || column[at] >= size)
                throw std::invalid_argument("a row or a column is outside the matrix");
            if (row[at] == column[at])
                continue;
            ++room[row[at]];
            ++room[column[at]];
        }
        for (std::int64_t vertex = 0; vertex < size; ++vertex)
            begin[vertex + 1] = begin[vertex] + room[vertex];
        near.resize(begin[size]);
        for (std::int64_t at = 0; at < row.size(); ++at) {
            if (row[at] == column[at])
                continue;
            add(row[at], column[at]);
            add(column[at], row[at]);
        }
    }

    std::int32_t degree(std::int32_t vertex) const { return count[vertex]; }

    std::int32_t neighbour(std::int32_t vertex, std::int32_t at) const {
        return near[begin[vertex] + at];
    }

    /// Mark a vertex' neighbours; of what follows this is one round.
    void mark(std::int32_t vertex) {
        ++round;
        for (std::int32_t at = 0; at < count[vertex]; ++at)
            touched[neighbour(vertex, at)] = round;
    }

    /// Return how many neighbours of a vertex are marked.
    std::int32_t marked(std::int32_t vertex) const {
        std::int32_t found = 0;
        for (std::int32_t at = 0; at < count[vertex]; ++at)
            found += touched[neighbour(vertex, at)] == round;
        return found;
    }

    void add(std::int32_t vertex, std::int32_t other) {
        if (count[vertex] == room[vertex])
            grow(vertex);
        near[begin[vertex] + count[vertex]++] = other;
    }

    bool touches(std::int32_t vertex, std::int32_t other) const {
        for (std::int32_t at = 0; at < count[vertex]; ++at)
            if (neighbour(vertex, at) == other)
                return true;
        return false;
    }

    void remove(std::int32_t vertex, std::int32_t other) {
        const std::int64_t first = begin[vertex];
        std::int64_t at = first;
        while (near[at] != other)
            ++at;
        near[at] = near[first + --count[vertex]];
    }

  private:
    void grow(std::int32_t vertex) {
        const std::int64_t from = begin[vertex], to = static_cast<std::int64_t>(near.size());
        near.resize(to + 2 * room[vertex]);
        for (std::int32_t at = 0; at < count[vertex]; ++at)
            near[to + at] = near[from + at];
        begin[vertex] = to;
        room[vertex] *= 2;
    }

    std::vector<std::int64_t> begin;
    std::vector<std::int32_t> near, count, room, touched;
    std::int32_t round = -1;
};

/// Whether a vertex may go: not the last one of its component, which dissection is to place.
bool may_go(Graph &graph, std::int32_t vertex) {
    const std::int32_t degree = graph.degree(vertex);
    if (degree == 0 || degree > MOST)
        return false;
    if (degree <= FEW)
        return true;
    graph.mark(vertex);
    for (std::int32_t at = 0; at < degree; ++at)
        if (graph.marked(graph.neighbour(vertex, at)) != degree - 1)
            return false;
    return true;
}

/// Take a vertex out of the graph, and join its neighbours.
void eliminate(Graph &graph, std::int32_t vertex) {
    const std::int32_t degree = graph.degree(vertex);
    for (std::int32_t at = 0; at < degree; ++at)
        graph.remove(graph.neighbour(vertex, at), vertex);
    if (degree > FEW)
        return;
    for (std::int32_t at = 0; at < degree; ++at)
        for (std::int32_t next = at + 1; next < degree; ++next) {
            const std::int32_t one = graph.neighbour(vertex, at);
            const std::int32_t other = graph.neighbour(vertex, next);
            if (!graph.touches(one, other)) {
                graph.add(one, other);
                graph.add(other, one);
            }
        }
}

/// Write what is left of a graph by columns; return how many entries that are.
std::int64_t write_left(const Graph &graph, Span<std::int32_t> left, std::int64_t size,
                        const Reduced &to) {
    std::vector<std::int32_t> number(size, -1);
    for (std::int64_t at = 0; at < left.size(); ++at)
        number[left[at]] = static_cast<std::int32_t>(at);
    std::int64_t entries = 0;
    for (std::int64_t at = 0; at < left.size(); ++at) {
        const std::int32_t vertex = left[at];
        const auto write = [&](std::int32_t row) {
            to.row[entries] = row;
            to.column[entries++] = static_cast<std::int32_t>(at);
        };
        write(static_cast<std::int32_t>(at));
        const std::int64_t first = entries;
        for (std::int32_t next = 0; next < graph.degree(vertex); ++next)
            if (const std::int32_t row = number[graph.neighbour(vertex, next)]; row > at)
                write(row);
        std::sort(to.row.begin() + first, to.row.begin() + entries);
    }
    return entries;
}

/// Reduce the graph of a matrix, given by its lower triangle; ``counts`` tells how many vertices
/// are eliminated and left, and how many entries the lower triangle of the latter has.
///
/// Each vertex is looked at in turn, and again whenever it has lost a neighbour. An edge goes with
/// each that comes, so that what is left has no more entries than the matrix.
void reduce(Span<const std::int32_t> row, Span<const std::int32_t> column, std::int64_t size,
            Reduced to, Span<std::int64_t> counts) {
    check_length("column", column.size(), row.size());
    check_length("eliminated", to.eliminated.size(), size);
    check_length("starts", to.starts.size(), size + 1);
    check_length("neighbours", to.neighbours.size(), FEW * size + row.size());
    check_length("left", to.left.size(), size);
    check_length("row", to.row.size(), size + row.size());
    check_length("column", to.column.size(), size + row.size());
    check_length("counts", counts.size(), 3);
    Graph graph(row, column, size);
    std::vector<std::int32_t> queue(size);
    std::vector<char> waits(size, 1), gone(size, 0);
    for (std::int64_t vertex = 0; vertex < size; ++vertex)
        queue[vertex] = static_cast<std::int32_t>(vertex);
    std::int64_t eliminated = 0, written = 0;
    for (std::size_t head = 0; head < queue.size(); ++head) {
        if (head % 4096 == 0)
            poll();
        const std::int32_t vertex = queue[head];
        waits[vertex] = 0;
        if (gone[vertex] || !may_go(graph, vertex))
            continue;
        gone[vertex] = 1;
        to.starts[eliminated] = written;
        to.eliminated[eliminated++] = vertex;
        eliminate(graph, vertex);
        for (std::int32_t at = 0; at < graph.degree(vertex); ++at) {
            const std::int32_t other = graph.neighbour(vertex, at);
            to.neighbours[written++] = other;
            if (!std::exchange(waits[other], 1))
                queue.push_back(other);
        }
    }
    to.starts[eliminated] = written;
    std::int64_t left = 0;
    for (std::int64_t vertex = 0; vertex < size; ++vertex)
        if (!gone[vertex])
            to.left[left++] = static_cast<std::int32_t>(vertex);
    counts[0] = eliminated;
    counts[1] = left;
    counts[2] = write_left(graph, to.left.part(0, left), size, to);
}

/// Whether two nodes of a heap, in which node k has the children 2k + 1 and 2k + 2, are on one way
/// to its root.
bool on_one_way(std::int32_t one, std::int32_t other) {
    const std::int32_t above = std::min(one, other);
    std::int32_t below = std::max(one, other);
    while (below > above)
        below = (below - 1) / 2;
    return below == above;
}

/// Put each eliminated vertex into the part of that neighbour which is deepest in a tree of parts.
///
/// ``part`` (size,) is the place in a heap of the part of each vertex that is left. Those that
/// touch each other, after elimination too, are in parts on one way to the root; return whether
/// they are.
bool assign_parts(Reduced reduced, Span<std::int32_t> part) {
    const std::int64_t eliminated = reduced.eliminated.size();
    check_length("starts", reduced.starts.size(), eliminated + 1);
    check_length("part", part.size(), eliminated + reduced.left.size());
    check_length("column", reduced.column.size(), reduced.row.size());
    for (std::int64_t at = 0; at < reduced.row.size(); ++at)
        if (!on_one_way(part[reduced.left[reduced.row[at]]],
                        part[reduced.left[reduced.column[at]]]))
            return false;
    for (std::int64_t at = eliminated - 1; at >= 0; --at) {
        std::int32_t deepest = -1;
        for (std::int64_t place = reduced.starts[at]; place < reduced.starts[at + 1]; ++place)
            deepest = std::max(deepest, part[reduced.neighbours[place]]);
        for (std::int64_t place = reduced.starts[at]; place < reduced.starts[at + 1]; ++place)
            if (!on_one_way(deepest, part[reduced.neighbours[place]]))
                return false;
        part[reduced.eliminated[at]] = deepest;
    }
    return true;
}

} // namespace

NATIVE_STRUCT(Reduced, eliminated, starts, neighbours, left, row, column)

NATIVE_MODULE(interior_point_graph_reduction) {
    native::expose(module, "reduce", &reduce, "row", "column", "size", "to", "counts");
    native::expose(module, "assign_parts", &assign_parts, "reduced", "part");
    NATIVE_CONSTANTS(module, "solvers.interior_point.graph_reduction", FEW);
}
