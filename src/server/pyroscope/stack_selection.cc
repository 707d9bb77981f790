#include "server/pyroscope/stack_selection.h"

#include <algorithm>
#include <vector>

#include "profile/merge/merge.h"

namespace vesta::server {
namespace {

// By node of the tree by name: whether the call site leads to it.
std::vector<uint8_t> nodes_below(const StackTree& tree, std::span<const std::string> call_site) {
  constexpr uint32_t kOff = UINT32_MAX;
  const auto whole = static_cast<uint32_t>(call_site.size());
  std::vector<uint32_t> matched(tree.name_node_count(), kOff);
  std::vector<uint8_t> below(tree.name_node_count());
  matched[0] = 0;
  for (const NameNode node : Ids<NameNode>(1, matched.size())) {
    const uint32_t so_far = matched[tree.name_parent(node).index()];
    if (so_far == whole) {
      matched[node.index()] = whole;
    } else if (so_far != kOff && tree.string(tree.name(node)) == call_site[so_far]) {
      matched[node.index()] = so_far + 1;
    }
    below[node.index()] = matched[node.index()] == whole ? 1 : 0;
  }
  return below;
}

}  // namespace

void keep_call_site(Selection& selection, std::span<const std::string> call_site) {
  if (call_site.empty()) return;
  selection.total = 0;
  for (ServiceStacks& service : selection.services) {
    const std::vector<uint8_t> below = nodes_below(service.tree, call_site);
    const size_t stacks = std::min(service.weights.size(), service.tree.stack_count());
    for (const StackNumber stack : Ids<StackNumber>(0, stacks)) {
      int64_t& weight = service.weights[stack.index()];
      if (below[service.tree.name_node(service.tree.leaf(stack)).index()] == 0) weight = 0;
      selection.total = saturating_add(selection.total, weight);
    }
  }
  std::erase_if(selection.services, [](const ServiceStacks& service) {
    return std::ranges::all_of(service.weights, [](int64_t weight) { return weight == 0; });
  });
}

std::vector<uint8_t> stacks_below(const StackTree& tree, std::span<const std::string> call_site) {
  const std::vector<uint8_t> below = nodes_below(tree, call_site);
  std::vector<uint8_t> stacks(tree.stack_count());
  for (const StackNumber stack : Ids<StackNumber>(0, stacks.size()))
    stacks[stack.index()] = below[tree.name_node(tree.leaf(stack)).index()];
  return stacks;
}

ProfileBatch keep_leaves(const ProfileBatch& batch, uint32_t locations, bool aggregate_callees) {
  ProfileBatch out = batch;
  Dictionary& dictionary = out.dictionary;
  std::vector<LocationId> without_line(dictionary.locations.size());
  std::vector<StackId> shortened(dictionary.stacks.size());
  std::vector<LocationId> stack;
  std::vector<Line> lines;
  const auto shorten = [&](StackId id) {
    const auto whole = dictionary.stacks[id];
    const size_t depth = locations == 0 ? whole.size() : std::min<size_t>(whole.size(), locations);
    stack.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(depth));
    if (aggregate_callees && !stack.empty()) {
      const LocationId leaf = stack[0];
      if (!without_line[leaf.index()]) {
        const auto leaf_lines = dictionary.lines[leaf];
        lines.assign(leaf_lines.begin(), leaf_lines.end());
        if (!lines.empty()) lines[0].line = lines[0].column = 0;
        const Location location = dictionary.location(leaf);
        without_line[leaf.index()] = dictionary.add_location(location, lines);
      }
      stack[0] = without_line[leaf.index()];
    }
    return dictionary.stacks.add(stack);
  };
  for (Profile& profile : out.profiles) {
    for (StackId& id : profile.samples.stacks) {
      StackId& known = shortened[id.index()];
      if (!known && id) known = shorten(id);
      id = known;
    }
  }
  return canonicalize(out);
}

}  // namespace vesta::server
