#include "query/function_table.h"

#include <re2/re2.h>

#include <algorithm>
#include <unordered_set>

#include "base/parallel.h"

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
  for (StackNumber stack = 0; stack < stacks; ++stack) {
    if (weights[stack] == 0) continue;
    const TreeNode leaf = tree.leaf(stack);
    if (leaf == 0) continue;
    const NameNode node = tree.name_node(leaf);
    add(totals[node], weights[stack]);
    add(sums[tree.name_frame(node)].flat, weights[stack]);
  }
  for (size_t i = totals.size(); i-- > 1;) {
    const int64_t total = totals[i];
    if (total == 0) continue;
    const auto node = static_cast<NameNode>(i);
    add(totals[tree.name_parent(node)], total);
    if (tree.is_outermost(node)) add(sums[tree.name_frame(node)].cum, total);
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
  for (StackNumber stack = 0; stack < stacks; ++stack) {
    const TreeNode leaf = tree.leaf(stack);
    if (weights[stack] != 0 && leaf != 0) used[tree.name_node(leaf)] = 1;
  }
  for (size_t node = used.size(); node-- > 1;) {
    if (used[node] != 0) used[tree.name_parent(static_cast<NameNode>(node))] = 1;
  }
  return used;
}

void find_calls(const StackTree& tree, std::span<const int64_t> weights, const FrameNames& names,
                const RowPlaces& places, Calls& calls) {
  constexpr uint32_t kNotAsked = UINT32_MAX;
  std::vector<uint32_t> by_string(tree.string_count(), kNotAsked);
  const auto name_of = [&](TreeString text) {
    uint32_t& known = by_string[text];
    if (known == kNotAsked) known = names.find_function(tree.string(text));
    return known;
  };
  const std::vector<uint8_t> used = used_name_nodes(tree, weights);
  for (NameNode node = 1; node < used.size(); ++node) {
    const NameNode parent = tree.name_parent(node);
    if (used[node] == 0 || parent == 0 || tree.name(node) == tree.name(parent)) continue;
    const uint32_t row = places.of(name_of(tree.name(node)));
    if (row != RowPlaces::kNone) calls.insert(uint64_t{row} << 32 | name_of(tree.name(parent)));
  }
}

}  // namespace

FunctionTable function_table(const Selection& selection, const TreeOptions& options) {
  if (options.group != GroupBy::kFunction || !options.filter.empty())
    return function_table(build_flame_tree(selection, options));
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
    auto numbers = names->of_tree(service.tree);
    for (TreeFrame frame = 1; frame < sums.size(); ++frame) {
      const Sums& sum = sums[frame];
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
  table.whole = selection.total;
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
  choose_rows(table, {order, limit, 0, nullptr});
}

void choose_rows(FunctionTable& table, const RowChoice& choice) {
  if (choice.match != nullptr) {
    std::erase_if(table.rows, [&](const FunctionRow& row) {
      return !RE2::PartialMatch(table.names->text(row.name), *choice.match);
    });
  }
  const TopOrder order = choice.order;
  struct Key {
    int64_t weight;
    uint32_t row;
  };
  const auto weight = [&](const FunctionRow& row) {
    if (table.has_baseline) return order == TopOrder::kByFlat ? row.flat_delta() : row.cum_delta();
    return order == TopOrder::kByFlat ? row.flat : row.cum;
  };
  std::vector<Key> keys(table.rows.size());
  for (uint32_t i = 0; i < keys.size(); ++i) keys[i] = {saturating_abs(weight(table.rows[i])), i};
  const auto larger = [&](const Key& a, const Key& b) {
    if (a.weight != b.weight) return a.weight > b.weight;
    return table.names->is_before(table.rows[a.row].name, table.rows[b.row].name);
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
    ++table.cut_rows;
    table.cut_flat = saturating_add(table.cut_flat, row.flat);
    table.cut_flat_delta = saturating_add(table.cut_flat_delta, row.flat_delta());
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
  for (const uint64_t call : calls[0]) ++table.rows[call >> 32].callers;
}

FunctionTable top_functions(const Selection& selection, const TreeOptions& options,
                            const RowChoice& choice) {
  if (options.group == GroupBy::kFunction && options.filter.empty()) {
    FunctionTable table = function_table(selection, options);
    choose_rows(table, choice);
    count_callers(table, selection);
    return table;
  }
  const FlameTree tree = build_flame_tree(selection, options);
  FunctionTable table = function_table(tree);
  choose_rows(table, choice);
  count_callers(table, tree);
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
