// Classes that enter the core one by one, and what each of them makes of a list.
#include <vector>

#include "knapsack/efficiency.h"
#include "lists.h"

namespace knapsack::choice {
namespace {

/// States that a class may make of a list at most, before any is dropped: some tenths of a second,
/// and seldom more than half a second to merge. A list that is too long for that is cut.
constexpr std::int64_t LONGEST = 50'000'000;

/// Shifted lists that are merged without a look at whether to stop: two passes over the list.
constexpr std::int64_t FEW_RUNS = 4;

/// Length of the list, and how often the arrays changed roles.
using Expanded = std::tuple<std::int64_t, std::int64_t>;

/// A copy of the first states of a list, to be put back.
class Saved {
  public:
    Saved(const States &states, std::int64_t count)
        : states_(states), profit_(states.profit.begin(), states.profit.begin() + count),
          weight_(states.weight.begin(), states.weight.begin() + count),
          history_(states.history.begin(), states.history.begin() + count),
          ancestor_(states.ancestor.begin(), states.ancestor.begin() + count) {}

    void put_back() const {
        std::copy(profit_.begin(), profit_.end(), states_.profit.begin());
        std::copy(weight_.begin(), weight_.end(), states_.weight.begin());
        std::copy(history_.begin(), history_.end(), states_.history.begin());
        std::copy(ancestor_.begin(), ancestor_.end(), states_.ancestor.begin());
    }

  private:
    States states_;
    std::vector<std::int64_t> profit_, weight_;
    std::vector<std::uint64_t> history_;
    std::vector<std::int32_t> ancestor_;
};

/// How many bits tell so many things apart.
std::int64_t bits_for(std::int64_t count) {
    std::int64_t bits = 0;
    while ((std::int64_t{1} << bits) < count)
        ++bits;
    return bits;
}

/// List a class's items with which the relaxation reaches ``needed``; return their number.
///
/// The bound is that of all classes' steps at the capacity that the item leaves to them.
std::int64_t remaining_items(const Core &core, std::int64_t group, std::int64_t capacity,
                             std::int64_t needed, Span<std::int64_t> item, std::int64_t begin) {
    const std::int64_t stays = core.break_item[group];
    const std::int64_t total = core.weight_before[core.weight_before.size() - 1];
    const Sorted steps{core.step_profit, core.step_weight, core.profit_before, core.weight_before};
    std::int64_t count = 0;
    for (std::int64_t j = core.first[group]; j < core.first[group + 1]; ++j) {
        const std::int64_t left = capacity - (core.weight[j] - core.weight[stays]);
        const std::int64_t bound = core.profit[j] - core.profit[stays] + relaxed(steps, left) +
                                   core.spare_gain * std::max<std::int64_t>(left - total, 0);
        if (bound >= needed)
            item[begin + count++] = j;
    }
    return count;
}

/// Whether the stages of this history have room for one more, of any items of a class.
bool has_room(const Core &core, std::int64_t group, const Stages &stages,
              Span<const std::int64_t> control) {
    const std::int64_t most = control[ITEMS] + core.first[group + 1] - core.first[group];
    return control[STAGE] < HISTORY_BITS && most <= stages.item.size();
}

/// A class that comes into the core, with those of its items that were listed.
struct Entering {
    std::int64_t group;
    std::int64_t kept;
    bool pruned;
    std::int64_t capacity;
    Step up;
    Step down;
};

/// Append the list to ``then`` once for each item; return how many runs there are, or why not.
std::int64_t shift(const Core &core, const States &now, std::int64_t count, const States &then,
                   const Stages &stages, const Entering &entering, Span<std::int64_t> control) {
    const std::int64_t stays = core.break_item[entering.group];
    std::int64_t runs = 0, length = 0;
    for (std::int64_t k = 0; k < entering.kept; ++k) {
        if (is_stopped(control))
            return STOPPED;
        const std::int64_t item = stages.item[control[ITEMS] + k];
        stages.run[runs] = length;
        // where all bits are in use a stage has the code 0 only, which needs no shift
        const std::uint64_t code = k == 0 ? 0 : static_cast<std::uint64_t>(k) << control[SHIFT];
        const Choice choice{item, core.profit[item] - core.profit[stays],
                            core.weight[item] - core.weight[stays], code};
        length = entering.pruned
                     ? shift_promising(now, count, then, length, choice, entering.capacity,
                                       entering.up, entering.down, control)
                     : shift_all(now, count, then, length, choice);
        if (length < 0)
            return NO_ROOM;
        if (length > stages.run[runs])
            ++runs;
    }
    stages.run[runs] = length;
    return runs;
}

/// Let a class in with those of its items that were listed, and count the stage.
///
/// Returns the new list's length, and how often the arrays changed roles: an odd number leaves the
/// list in ``then``. Where there is no room for it the length is NO_ROOM, and where STOP is set
/// STOPPED; then nothing has changed, and the list is in ``now``.
Expanded expand(const Core &core, const States &now, std::int64_t count, const States &then,
                const Stages &stages, const Entering &entering, Span<std::int64_t> control) {
    std::int64_t runs = shift(core, now, count, then, stages, entering, control);
    if (runs < 0)
        return {runs, 0};
    std::int64_t length = stages.run[runs], swaps = 1;
    const Saved before(now, runs > FEW_RUNS ? count : 0);
    for (; runs > 1; runs = (runs + 1) / 2, ++swaps) {
        if (runs > FEW_RUNS && is_stopped(control)) {
            before.put_back();
            return {STOPPED, 0};
        }
        const bool back = swaps % 2 == 1;
        length = merge_pairs(back ? then : now, back ? now : then, stages.run, runs);
    }
    const std::int64_t stage = control[STAGE]++;
    control[SHIFT] += bits_for(entering.kept);
    control[ITEMS] += entering.kept;
    stages.begin[stage + 1] = control[ITEMS];
    stages.shift[stage + 1] = control[SHIFT];
    return {length, swaps};
}

/// Let the next class in, or pass it where only the break solution's item can be chosen.
///
/// Returns why not, or -1.
int let_in(const Core &core, std::int64_t capacity, const States &one, const States &other,
           const Stages &stages, Span<std::int64_t> control) {
    const std::int64_t place = control[PLACE];
    if (place == core.num_classes())
        control[COUNT] = 0; // every class is in the core, and the best profit is known
    if (control[COUNT] == 0 || control[PROFIT] >= control[TARGET])
        return EMPTY;
    const std::int64_t group = core.sequence[place];
    const std::int64_t needed = least_better(control[PROFIT], control);
    if (!has_room(core, group, stages, control))
        return CHECKPOINT;
    const std::int64_t begin = control[ITEMS];
    const std::int64_t kept = remaining_items(core, group, capacity, needed, stages.item, begin);
    control[VISITED] += kept;
    control[KEPT] = kept;
    if (kept == 1 && stages.item[begin] == core.break_item[group]) {
        ++control[PLACE];
        return -1;
    }
    if (control[SHIFT] + bits_for(kept) > HISTORY_BITS)
        return CHECKPOINT;
    if (kept * control[COUNT] > LONGEST && control[COUNT] > 1)
        return FULL;
    const Entering entering{group,
                            kept,
                            true,
                            capacity,
                            {core.up_profit[place + 1], core.up_weight[place + 1]},
                            {core.down_profit[place + 1], core.down_weight[place + 1]}};
    const bool swapped = control[SWAPPED] != 0;
    const auto [length, swaps] = expand(core, swapped ? other : one, control[COUNT],
                                        swapped ? one : other, stages, entering, control);
    if (length < 0)
        return length == STOPPED ? PAUSE : FULL;
    control[VISITED] += kept * control[COUNT];
    if (swaps % 2)
        control[SWAPPED] = 1 - control[SWAPPED];
    control[COUNT] = length;
    ++control[PLACE];
    return -1;
}

void check_lists(const States &one, std::int64_t count, const States &other) {
    check_states("one", one, count);
    check_states("other", other, count);
}

/// Let classes into the core one by one; return why it stopped.
///
/// The list is in ``one`` before, and after in ``one`` or where SWAPPED is set in ``other``. A
/// class of which only the break solution's item can be chosen needs no stage.
int advance(const Core &core, std::int64_t capacity, const States &one, const States &other,
            const Stages &stages, Span<std::int64_t> control, std::int64_t work) {
    check_core(core);
    check_stages(stages, control);
    check_lists(one, control[COUNT], other);
    control[SWAPPED] = 0;
    const std::int64_t until = control[VISITED] + work;
    while (control[VISITED] < until) {
        native::poll();
        const int reason = let_in(core, capacity, one, other, stages, control);
        if (reason >= 0)
            return reason;
    }
    return PAUSE;
}

void check_group(const Core &core, std::int64_t group) {
    if (group < 0 || group >= core.num_classes())
        native::refuse("there is no such class");
}

std::int64_t items_left(const Core &core, std::int64_t group, std::int64_t capacity,
                        std::int64_t needed, Span<std::int64_t> item, std::int64_t begin) {
    check_core(core);
    check_group(core, group);
    native::check_length("item", item.size(), begin + core.first[group + 1] - core.first[group]);
    return remaining_items(core, group, capacity, needed, item, begin);
}

bool stages_have_room(const Core &core, std::int64_t group, const Stages &stages,
                      Span<const std::int64_t> control) {
    check_core(core);
    check_group(core, group);
    check_stages(stages, control);
    return has_room(core, group, stages, control);
}

Expanded expand_lists(const Core &core, const States &now, std::int64_t count, const States &then,
                      const Stages &stages, std::int64_t group, std::int64_t kept, bool pruned,
                      std::int64_t capacity, const Step &up, const Step &down,
                      Span<std::int64_t> control) {
    check_core(core);
    check_group(core, group);
    check_stages(stages, control);
    check_lists(now, count, then);
    native::check_length("item", stages.item.size(), control[ITEMS] + kept);
    native::check_length("run", stages.run.size(), kept + 1);
    return expand(core, now, count, then, stages, {group, kept, pruned, capacity, up, down},
                  control);
}

} // namespace
} // namespace knapsack::choice

NATIVE_MODULE(knapsack_multiple_choice_stages) {
    using namespace knapsack::choice;
    native::expose(module, "advance", &advance, "core", "capacity", "one", "other", "stages",
                   "control", "work");
    native::expose(module, "remaining_items", &items_left, "core", "group", "capacity", "needed",
                   "item", "begin");
    native::expose(module, "has_room", &stages_have_room, "core", "group", "stages", "control");
    native::expose(module, "expand", &expand_lists, "core", "now", "count", "then", "stages",
                   "group", "kept", "pruned", "capacity", "up", "down", "control");
    native::expose(module, "bits_for", &bits_for, "count");
    NATIVE_CONSTANTS(module, "solvers.knapsack.multiple_choice.stages", HISTORY_BITS, COUNT, PLACE,
                     STAGE, SHIFT, ITEMS, PROFIT, HISTORY, ANCESTOR, BEST_STAGE, BEST_ITEM, VISITED,
                     TARGET, RESIDUE, MODULUS, SWAPPED, KEPT, STOP, CONTROLS, EMPTY, FULL,
                     CHECKPOINT, PAUSE, NO_ROOM, STOPPED);
}
