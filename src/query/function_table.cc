#include "query/function_table.h"

#include <algorithm>

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
  const size_t kept = limit == 0 ? keys.size() : std::min(limit, keys.size());
  std::partial_sort(keys.begin(), keys.begin() + static_cast<ptrdiff_t>(kept), keys.end(), larger);
  std::vector<FunctionRow> rows;
  rows.reserve(kept);
  for (size_t i = 0; i < keys.size(); ++i) {
    const FunctionRow& row = table.rows[keys[i].row];
    if (i < kept) {
      rows.push_back(row);
      continue;
    }
    ++table.cut_rows;
    table.cut_flat = saturating_add(table.cut_flat, row.flat);
    table.cut_flat_delta = saturating_add(table.cut_flat_delta, row.flat_delta());
  }
  table.rows = std::move(rows);
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
