#include "reports/function_table.h"

#include <re2/re2.h>

#include <algorithm>
#include <unordered_set>

#include "base/parallel.h"
#include "reports/tree_names.h"
#include "store/stack_tree.h"

namespace vesta {
namespace {

struct Sums {
  int64_t flat = 0;
  int64_t cum = 0;
};

// By frame that stands for its name in the tree by name; a name may have several.
std::vector<Sums> sums_by_frame(const StackTree& tree, std::span<const int64_t> weights) {
  std::vector<int64_t> totals(tree.name_node_count());
  std::vector<Sums> sums(tree.frame_count());
  const auto add = [](int64_t& sum, int64_t weight) { sum = saturating_add(sum, weight); };
  const size_t stacks = std::min(weights.size(), tree.stack_count());
  for (const StackNumber stack : Ids<StackNumber>(0, stacks)) {
    if (weights[stack.index()] == 0) continue;
    const TreeNode leaf = tree.leaf(stack);
    if (!leaf) continue;
    const NameNode node = tree.name_node(leaf);
    add(totals[node.index()], weights[stack.index()]);
    add(sums[tree.name_frame(node).index()].flat, weights[stack.index()]);
  }
  for (size_t i = totals.size(); i-- > 1;) {
    const int64_t total = totals[i];
    if (total == 0) continue;
    const auto node = NameNode(i);
    add(totals[tree.name_parent(node).index()], total);
    if (tree.is_outermost(node)) add(sums[tree.name_frame(node).index()].cum, total);
  }
  return sums;
}

void erase_empty(std::vector<FunctionRow>& rows) {
  std::erase_if(rows, [](const FunctionRow& row) {
    return row.flat == 0 && row.cum == 0 && row.baseline_flat == 0 && row.baseline_cum == 0;
  });
}

// A row for each name, at the place of its number.
std::vector<FunctionRow> rows_for(const FrameNames& names) {
  std::vector<FunctionRow> rows(names.size());
  for (uint32_t i = 0; i < rows.size(); ++i) rows[i].name = i;
  return rows;
}

// Where a name has its row.
class RowPlaces {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit RowPlaces(const FunctionTable& table) : places_(table.names->size(), kNone) {
    for (uint32_t i = 0; i < table.rows.size(); ++i) places_[table.rows[i].name] = i;
  }
  uint32_t of(uint32_t name) const { return places_[name]; }

 private:
  std::vector<uint32_t> places_;
};

// The row of the callee in the upper half, the name of the caller in the lower.
using Calls = std::unordered_set<uint64_t>;

// By node of the tree by name: whether a stack of some weight goes through it.
std::vector<uint8_t> used_name_nodes(const StackTree& tree, std::span<const int64_t> weights) {
  std::vector<uint8_t> used(tree.name_node_count());
  const size_t stacks = std::min(weights.size(), tree.stack_count());
  for (const StackNumber stack : Ids<StackNumber>(0, stacks)) {
    const TreeNode leaf = tree.leaf(stack);
    if (weights[stack.index()] != 0 && leaf) used[tree.name_node(leaf).index()] = 1;
  }
  for (size_t node = used.size(); node-- > 1;) {
    if (used[node] != 0) used[tree.name_parent(NameNode(node)).index()] = 1;
  }
  return used;
}

void find_calls(const StackTree& tree, std::span<const int64_t> weights, const FrameNames& names,
                const RowPlaces& places, Calls& calls) {
  constexpr uint32_t kNotAsked = UINT32_MAX;
  std::vector<uint32_t> by_string(tree.string_count(), kNotAsked);
  const auto name_of = [&](TreeString text) {
    uint32_t& known = by_string[text.index()];
    if (known == kNotAsked) known = names.find_function(tree.string(text));
    return known;
  };
  const std::vector<uint8_t> used = used_name_nodes(tree, weights);
  for (const NameNode node : Ids<NameNode>(1, used.size())) {
    const NameNode parent = tree.name_parent(node);
    if (used[node.index()] == 0 || !parent || tree.name(node) == tree.name(parent)) continue;
    const uint32_t row = places.of(name_of(tree.name(node)));
    if (row != RowPlaces::kNone) calls.insert(uint64_t{row} << 32 | name_of(tree.name(parent)));
  }
}

// What filters of labels left.
int64_t left_of(const Selection& selection) {
  int64_t left = 0;
  for (const ServiceStacks& service : selection.services) {
    for (const int64_t weight : service.weights)
      left = saturating_add(left, saturating_abs(weight));
  }
  return left;
}

}  // namespace

FunctionTable function_table(const Selection& selection, const TreeOptions& options) {
  if (!options.by_name()) return function_table(build_flame_tree(selection, options));
  auto names = std::make_shared<FrameNames>(options.group);
  FunctionTable table;
  const size_t count = selection.services.size();
  std::vector<std::vector<Sums>> all_sums(count);
  (void)for_each_in_parallel(count, threads_for(count), [&](size_t, size_t at) {
    const ServiceStacks& service = selection.services[at];
    all_sums[at] = sums_by_frame(service.tree, service.weights);
    return Status();
  });
  for (size_t at = 0; at < count; ++at) {
    const ServiceStacks& service = selection.services[at];
    const std::vector<Sums> sums = std::move(all_sums[at]);
    TreeNames numbers(*names, service.tree);
    for (const TreeFrame frame : Ids<TreeFrame>(1, sums.size())) {
      const Sums& sum = sums[frame.index()];
      if (sum.flat == 0 && sum.cum == 0) continue;
      const uint32_t name = numbers.of(frame);
      if (name >= table.rows.size()) table.rows.resize(name + 1);
      FunctionRow& row = table.rows[name];
      row.name = name;
      row.flat = saturating_add(row.flat, sum.flat);
      row.cum = saturating_add(row.cum, sum.cum);
    }
  }
  erase_empty(table.rows);
  table.names = std::move(names);
  table.whole = options.relative ? left_of(selection) : selection.total;
  return table;
}

FunctionTable function_table(const FlameTree& tree) {
  const std::vector<uint8_t> outermost = outermost_nodes(tree);
  FunctionTable table;
  table.names = tree.names;
  table.whole = tree.whole;
  table.baseline_whole = tree.baseline_whole;
  table.has_baseline = tree.has_baseline();
  table.rows = rows_for(*tree.names);
  const auto add = [&](const FlameWeights& weights, int64_t FunctionRow::*flat,
                       int64_t FunctionRow::*cum) {
    for (uint32_t node = 1; node < weights.self.size(); ++node) {
      FunctionRow& row = table.rows[tree.name[node]];
      row.*flat = saturating_add(row.*flat, weights.self[node]);
      if (outermost[node] != 0) row.*cum = saturating_add(row.*cum, weights.total[node]);
    }
  };
  add(tree.weights, &FunctionRow::flat, &FunctionRow::cum);
  if (tree.has_baseline())
    add(tree.baseline, &FunctionRow::baseline_flat, &FunctionRow::baseline_cum);
  erase_empty(table.rows);
  return table;
}

void sort_rows(FunctionTable& table, TopOrder order, size_t limit) {
  choose_rows(table, {.order = order, .limit = limit});
}

void choose_rows(FunctionTable& table, const RowChoice& choice) {
  if (choice.match != nullptr) {
    std::erase_if(table.rows, [&](const FunctionRow& row) {
      return !RE2::PartialMatch(table.names->text(row.name), *choice.match);
    });
  }
  const auto cut = [&](const FunctionRow& row) {
    ++table.cut_rows;
    table.cut_flat = saturating_add(table.cut_flat, row.flat);
    table.cut_flat_delta = saturating_add(table.cut_flat_delta, row.flat_delta());
  };
  const double least = choice.min_share * static_cast<double>(table.whole);
  if (least > 0 || choice.drop_negative) {
    std::erase_if(table.rows, [&](const FunctionRow& row) {
      const bool is_negative = row.flat < 0 || (row.flat == 0 && row.cum < 0);
      const bool is_out = (choice.drop_negative && is_negative) ||
                          static_cast<double>(saturating_abs(row.cum)) < least;
      if (is_out) cut(row);
      return is_out;
    });
  }
  struct Key {
    int64_t weight;
    uint32_t row;
  };
  const auto weight = [&](const FunctionRow& row, bool by_flat) {
    if (table.has_baseline) return saturating_abs(by_flat ? row.flat_delta() : row.cum_delta());
    return saturating_abs(by_flat ? row.flat : row.cum);
  };
  const bool by_flat = choice.order == TopOrder::kByFlat;
  std::vector<Key> keys(table.rows.size());
  for (uint32_t i = 0; i < keys.size(); ++i) keys[i] = {weight(table.rows[i], by_flat), i};
  const auto larger = [&](const Key& a, const Key& b) {
    if (a.weight != b.weight) return a.weight > b.weight;
    const FunctionRow& left = table.rows[a.row];
    const FunctionRow& right = table.rows[b.row];
    if (const int by_name = table.names->compare(left.name, right.name); by_name != 0)
      return by_name < 0;
    const int64_t left_other = weight(left, !by_flat);
    const int64_t right_other = weight(right, !by_flat);
    return left_other != right_other ? left_other > right_other : left.name < right.name;
  };
  const size_t first = std::min(choice.offset, keys.size());
  const size_t left = keys.size() - first;
  const size_t last = first + (choice.limit == 0 ? left : std::min(choice.limit, left));
  std::partial_sort(keys.begin(), keys.begin() + static_cast<ptrdiff_t>(last), keys.end(), larger);
  std::vector<FunctionRow> rows;
  rows.reserve(last - first);
  for (size_t i = 0; i < keys.size(); ++i) {
    const FunctionRow& row = table.rows[keys[i].row];
    if (i >= first && i < last) {
      rows.push_back(row);
      continue;
    }
    cut(row);
  }
  table.rows = std::move(rows);
}

void count_callers(FunctionTable& table, const FlameTree& tree) {
  const RowPlaces places(table);
  Calls calls;
  for (uint32_t node = 1; node < tree.size(); ++node) {
    const uint32_t row = places.of(tree.name[node]);
    const uint32_t caller = tree.name[tree.parent[node]];
    if (row == RowPlaces::kNone || caller == 0 || caller == tree.name[node]) continue;
    if (tree.weights.total[node] != 0) calls.insert(uint64_t{row} << 32 | caller);
  }
  table.counts_callers = true;
  for (const uint64_t call : calls) ++table.rows[call >> 32].callers;
}

void count_callers(FunctionTable& table, const Selection& selection) {
  const RowPlaces places(table);
  const size_t count = selection.services.size();
  const size_t threads = threads_for(count);
  std::vector<Calls> calls(threads);
  (void)for_each_in_parallel(count, threads, [&](size_t thread, size_t at) {
    const ServiceStacks& service = selection.services[at];
    find_calls(service.tree, service.weights, *table.names, places, calls[thread]);
    return Status();
  });
  for (size_t i = 1; i < threads; ++i) calls[0].merge(calls[i]);
  table.counts_callers = true;
  for (const uint64_t call : calls[0]) ++table.rows[call >> 32].callers;
}

namespace {

// The calls of a tree that are of use to rows: `visit(node, caller, callee)` for each, by numbers
// of names. Nodes have parents before them; 0 is the root.
template <class Tree, class Visit>
void visit_calls(const Tree& tree, const RowPlaces& places, Visit&& visit) {
  for (uint32_t node = 1; node < tree.size(); ++node) {
    const uint32_t parent = tree.parent(node);
    if (parent == 0 || !tree.is_used(node)) continue;
    const uint32_t callee = tree.name(node);
    if (places.of(callee) != RowPlaces::kNone) visit(node, tree.name(parent), callee);
  }
}

template <class Tree>
void find_inlined(const Tree& tree, const RowPlaces& places, InlineUses& uses) {
  visit_calls(tree, places, [&](uint32_t node, uint32_t caller, uint32_t callee) {
    if (tree.is_inlined(node)) uses.add(caller, callee);
  });
}

template <class Tree>
void see_calls(const Tree& tree, const RowPlaces& places, InlineUses& uses) {
  visit_calls(tree, places, [&](uint32_t node, uint32_t caller, uint32_t callee) {
    if (tree.is_inlined(node) || !uses.is_ever_inlined(callee)) return;
    uses.see(caller, callee, [&] {
      for (uint32_t at = tree.parent(node); tree.parent(at) != 0; at = tree.parent(at)) {
        if (tree.name(at) == callee && tree.name(tree.parent(at)) == caller) return false;
      }
      return true;
    });
  });
}

void set_inlined(FunctionTable& table, const InlineUses& uses) {
  for (FunctionRow& row : table.rows) row.inlined = uses.of(row.name);
}

// What the two need to know of a tree.
class CallsOfFlameTree {
 public:
  explicit CallsOfFlameTree(const FlameTree& tree) : tree_(tree) {}
  size_t size() const { return tree_.size(); }
  uint32_t parent(uint32_t node) const { return tree_.parent[node]; }
  uint32_t name(uint32_t node) const { return tree_.name[node]; }
  bool is_used(uint32_t node) const { return tree_.weights.total[node] != 0; }
  bool is_inlined(uint32_t node) const { return tree_.inlined[node] != 0; }

 private:
  const FlameTree& tree_;
};

class CallsOfService {
 public:
  CallsOfService(const ServiceStacks& service, const FrameNames& names)
      : tree_(service.tree),
        used_(used_nodes(service.tree, service.weights)),
        names_(service.tree.frame_count()) {
    std::vector<uint32_t> by_string(tree_.string_count());
    std::vector<uint8_t> is_known(tree_.string_count());
    for (const TreeFrame frame : Ids<TreeFrame>(1, names_.size())) {
      const TreeString shown = tree_.stored_frame(frame).shown;
      if (is_known[shown.index()] == 0)
        by_string[shown.index()] = names.find_function(tree_.string(shown));
      is_known[shown.index()] = 1;
      names_[frame.index()] = by_string[shown.index()];
    }
  }
  size_t size() const { return tree_.node_count(); }
  uint32_t parent(uint32_t node) const { return tree_.parent(TreeNode(node)).value; }
  uint32_t name(uint32_t node) const { return names_[frame(node).index()]; }
  bool is_used(uint32_t node) const { return used_[node] != 0; }
  bool is_inlined(uint32_t node) const { return tree_.stored_frame(frame(node)).inlined; }

 private:
  TreeFrame frame(uint32_t node) const { return tree_.frame(TreeNode(node)); }

  const StackTree& tree_;
  std::vector<uint8_t> used_;    // by node
  std::vector<uint32_t> names_;  // by frame
};

}  // namespace

void mark_inlined(FunctionTable& table, const FlameTree& tree) {
  const RowPlaces places(table);
  const CallsOfFlameTree calls(tree);
  InlineUses uses(table.names->size());
  find_inlined(calls, places, uses);
  uses.seal();
  see_calls(calls, places, uses);
  set_inlined(table, uses);
}

void mark_inlined(FunctionTable& table, const Selection& selection) {
  const RowPlaces places(table);
  InlineUses uses(table.names->size());
  for (const ServiceStacks& service : selection.services)
    find_inlined(CallsOfService(service, *table.names), places, uses);
  uses.seal();
  if (uses.empty()) return;
  for (const ServiceStacks& service : selection.services)
    see_calls(CallsOfService(service, *table.names), places, uses);
  set_inlined(table, uses);
}

FunctionTable top_functions(const Selection& selection, const TreeOptions& options,
                            const RowChoice& choice) {
  if (options.by_name()) {
    FunctionTable table = function_table(selection, options);
    choose_rows(table, choice);
    count_callers(table, selection);
    if (choice.marks_inlined) mark_inlined(table, selection);
    return table;
  }
  const FlameTree tree = build_flame_tree(selection, options);
  FunctionTable table = function_table(tree);
  choose_rows(table, choice);
  count_callers(table, tree);
  if (choice.marks_inlined) mark_inlined(table, tree);
  return table;
}

std::vector<uint8_t> outermost_nodes(const FlameTree& tree) {
  const Children children(tree.parent);
  std::vector<uint8_t> outermost(tree.size());
  std::vector<uint32_t> on_path(tree.names->size());
  constexpr uint32_t kLeave = uint32_t{1} << 31;
  std::vector<uint32_t> pending{0};
  while (!pending.empty()) {
    const uint32_t node = pending.back();
    pending.pop_back();
    if ((node & kLeave) != 0) {
      --on_path[tree.name[node & ~kLeave]];
      continue;
    }
    outermost[node] = on_path[tree.name[node]]++ == 0 ? 1 : 0;
    pending.push_back(node | kLeave);
    for (const uint32_t child : children.of(node)) pending.push_back(child);
  }
  return outermost;
}

}  // namespace vesta
