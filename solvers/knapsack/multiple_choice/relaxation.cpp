// Steps along the hulls of classes in order of steepness, and a selection to begin with.
//
// The items of each class that none of it dominates.
//
// The order in which classes enter the core.
//
// Pruning a list that waited, and pairing it with what the classes to come can do.
#include "knapsack/efficiency.h"
#include "lists.h"
#include "native/bindings.h"

#include <vector>

namespace knapsack::choice {
namespace {

using native::Span;
using Integers = Span<const std::int64_t>;

/// The items of a class that are on the hull of its profits over its weights.
class Hull {
  public:
    Hull(Integers profit, Integers weight) : profit_(profit), weight_(weight) {}

    /// Keep the vertices of the items from ``first`` up to ``last``, which are sorted by weight.
    void wrap(std::int64_t first, std::int64_t last) {
        vertex_.clear();
        for (std::int64_t item = first; item < last; ++item) {
            while (vertex_.size() > 1 && !bends_at_end(item))
                vertex_.pop_back();
            vertex_.push_back(item);
        }
    }
    const std::vector<std::int64_t> &vertices() const { return vertex_; }

  private:
    /// Whether the step to an item behind the last vertex is less steep than the step to that.
    bool bends_at_end(std::int64_t item) const {
        const std::int64_t last = vertex_.back(), before = vertex_[vertex_.size() - 2];
        return exceeds(profit_[last] - profit_[before], weight_[item] - weight_[last],
                       profit_[item] - profit_[last], weight_[last] - weight_[before]);
    }

    Integers profit_, weight_;
    std::vector<std::int64_t> vertex_;
};

/// Fill in the steps along each class's hull, class by class; return how many there are.
std::int64_t hull_steps(Integers profit, Integers weight, Integers first,
                        Span<std::int64_t> step_profit, Span<std::int64_t> step_weight,
                        Span<std::int64_t> step_group, Span<std::int64_t> step_item) {
    native::check_length("weight", weight.size(), profit.size());
    for (const Integers &steps :
         std::initializer_list<Integers>{step_profit, step_weight, step_group, step_item})
        native::check_length("steps", steps.size(), profit.size());
    Hull hull(profit, weight);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < first.size() - 1; ++i) {
        hull.wrap(first[i], first[i + 1]);
        const std::vector<std::int64_t> &vertices = hull.vertices();
        for (std::size_t k = 1; k < vertices.size(); ++k, ++count) {
            step_profit[count] = profit[vertices[k]] - profit[vertices[k - 1]];
            step_weight[count] = weight[vertices[k]] - weight[vertices[k - 1]];
            step_group[count] = i;
            step_item[count] = vertices[k];
        }
    }
    return count;
}

/// Take steps in order where they fit, in place; return weight and profit.
///
/// A class goes no farther once a step of it did not fit.
std::tuple<std::int64_t, std::int64_t> fill(Integers step_profit, Integers step_weight,
                                            Integers step_group, Integers step_item,
                                            std::int64_t capacity, Span<std::int64_t> chosen,
                                            std::int64_t weight, std::int64_t profit) {
    native::check_lengths(
        step_profit.size(),
        {{"step_weight", step_weight}, {"step_group", step_group}, {"step_item", step_item}});
    std::vector<char> ended(chosen.size(), 0);
    for (std::int64_t k = 0; k < step_profit.size(); ++k) {
        const std::int64_t group = step_group[k];
        if (ended[group])
            continue;
        if (weight + step_weight[k] > capacity) {
            ended[group] = 1;
            continue;
        }
        chosen[group] = step_item[k];
        weight += step_weight[k];
        profit += step_profit[k];
    }
    return {weight, profit};
}

/// Fill ``kept`` with the undominated items that fit, and ``count`` with how many of a class.
///
/// ``order`` has the items class by class, by rising weight in each.
void undominated(Integers order, Integers first, Integers profit, Integers weight,
                 std::int64_t room, Span<std::int64_t> kept, Span<std::int64_t> count) {
    const std::int64_t items = order.size(), classes = first.size() - 1;
    native::check_lengths(items, {{"profit", profit}, {"weight", weight}, {"kept", kept}});
    native::check_length("count", count.size(), classes);
    std::int64_t length = 0;
    for (std::int64_t i = 0; i < classes; ++i) {
        const std::int64_t begin = length, least = weight[order[first[i]]];
        for (std::int64_t k = first[i]; k < first[i + 1]; ++k) {
            const std::int64_t item = order[k];
            if (weight[item] - least > room)
                break;
            if (length > begin) {
                const std::int64_t last = kept[length - 1];
                if (profit[item] <= profit[last])
                    continue;
                if (weight[item] == weight[last])
                    --length;
            }
            kept[length++] = item;
        }
        count[i] = length - begin;
    }
}

/// Fill the sequence from two orders in turn, and the best steps of classes not in it yet.
void alternate(Integers upward, Integers downward, Integers up, Integers down,
               Span<std::int64_t> sequence, Span<std::int64_t> next_up,
               Span<std::int64_t> next_down) {
    const std::int64_t classes = sequence.size();
    native::check_lengths(classes, {{"upward", upward},
                                    {"downward", downward},
                                    {"up", up},
                                    {"down", down},
                                    {"next_up", next_up},
                                    {"next_down", next_down}});
    std::vector<char> is_in(classes, 0);
    std::int64_t i = 0, j = 0;
    for (std::int64_t t = 0; t < classes; ++t) {
        while (is_in[upward[i]])
            ++i;
        while (is_in[downward[j]])
            ++j;
        next_up[t] = up[upward[i]];
        next_down[t] = down[downward[j]];
        sequence[t] = t % 2 == 0 ? upward[i] : downward[j];
        is_in[sequence[t]] = 1;
    }
}

/// Copy what of a list may still beat the best profit; return how many states that is, or -1.
std::int64_t copy_promising(const States &now, std::int64_t count, const States &then,
                            std::int64_t capacity, const Step &up, const Step &down,
                            Span<std::int64_t> control) {
    check_states("now", now, count);
    check_states("then", then, 0);
    native::check_length("control", control.size(), CONTROLS);
    return shift_promising(now, count, then, 0, {}, capacity, up, down, control);
}

/// The largest sum of profits above ``best`` of a state and a partner, and who they are.
///
/// Their weights together keep the capacity. As profits rise with weights, the best partner of a
/// state is the heaviest that fits, and it is the lighter the heavier the state.
std::tuple<std::int64_t, std::int64_t, std::int64_t>
best_pair(const States &states, std::int64_t count, const States &partners, std::int64_t others,
          std::int64_t capacity, std::int64_t best) {
    check_states("states", states, count);
    check_states("partners", partners, others);
    std::int64_t first = -1, second = -1, j = others - 1;
    for (std::int64_t i = 0; i < count; ++i) {
        poll_at(i);
        while (j >= 0 && states.weight[i] + partners.weight[j] > capacity)
            --j;
        if (j < 0)
            break;
        const std::int64_t profit = states.profit[i] + partners.profit[j];
        if (profit > best) {
            best = profit;
            first = i;
            second = j;
        }
    }
    return {best, first, second};
}

} // namespace
} // namespace knapsack::choice

NATIVE_MODULE(knapsack_multiple_choice_relaxation) {
    using namespace knapsack::choice;
    native::expose(module, "hull_steps", &hull_steps, "profit", "weight", "first", "step_profit",
                   "step_weight", "step_group", "step_item");
    native::expose(module, "fill", &fill, "step_profit", "step_weight", "step_group", "step_item",
                   "capacity", "chosen", "weight", "profit");
    native::expose(module, "undominated", &knapsack::choice::undominated, "order", "first",
                   "profit", "weight", "room", "kept", "count");
    native::expose(module, "alternate", &knapsack::choice::alternate, "upward", "downward", "up",
                   "down", "sequence", "next_up", "next_down");
    native::expose(module, "copy_promising", &copy_promising, "now", "count", "then", "capacity",
                   "up", "down", "control");
    native::expose(module, "best_pair", &best_pair, "states", "count", "partners", "others",
                   "capacity", "best");
}
