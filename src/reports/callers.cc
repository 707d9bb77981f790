#include "reports/callers.h"

#include <algorithm>

#include "profile/frame_names.h"
#include "reports/function_table.h"

namespace vesta {
namespace {

// Walks the tree from the root and tells of each call to or from the function whether the same call
// is above it already.
class DirectCalls {
 public:
  DirectCalls(const FlameTree& tree, uint32_t name)
      : tree_(tree),
        name_(name),
        callers_on_path_(tree.names->size()),
        callees_on_path_(tree.names->size()),
        callers_(tree.names->size()),
        callees_(tree.names->size()) {}

  void run() {
    const Children children(tree_.parent);
    constexpr uint32_t kLeave = uint32_t{1} << 31;
    std::vector<uint32_t> pending(children.of(0).begin(), children.of(0).end());
    while (!pending.empty()) {
      const uint32_t node = pending.back();
      pending.pop_back();
      if ((node & kLeave) != 0) {
        if (uint32_t* count = on_path(node & ~kLeave)) --*count;
        continue;
      }
      if (uint32_t* count = on_path(node); count != nullptr && (*count)++ == 0) {
        int64_t& sum =
            tree_.name[node] == name_ ? callers_[above(node)] : callees_[tree_.name[node]];
        sum = saturating_add(sum, tree_.weights.total[node]);
      }
      pending.push_back(node | kLeave);
      for (const uint32_t child : children.of(node)) pending.push_back(child);
    }
  }

  std::vector<CallWeight> callers() const { return sorted(callers_); }
  std::vector<CallWeight> callees() const { return sorted(callees_); }

 private:
  uint32_t above(uint32_t node) const { return tree_.name[tree_.parent[node]]; }

  // Counts how often the call to this node is on the path; null for a call that is none of ours.
  uint32_t* on_path(uint32_t node) {
    const bool is_callee = above(node) == name_;
    const bool is_it = tree_.name[node] == name_;
    if (is_callee == is_it) return nullptr;
    return is_it ? &callers_on_path_[above(node)] : &callees_on_path_[tree_.name[node]];
  }

  std::vector<CallWeight> sorted(const std::vector<int64_t>& sums) const {
    std::vector<CallWeight> calls;
    for (uint32_t name = 0; name < sums.size(); ++name) {
      if (sums[name] != 0) calls.push_back({name, sums[name]});
    }
    std::ranges::sort(calls, [&](const CallWeight& a, const CallWeight& b) {
      if (a.weight != b.weight) return saturating_abs(a.weight) > saturating_abs(b.weight);
      return tree_.names->text(a.name) < tree_.names->text(b.name);
    });
    return calls;
  }

  const FlameTree& tree_;
  uint32_t name_;
  std::vector<uint32_t> callers_on_path_;
  std::vector<uint32_t> callees_on_path_;
  std::vector<int64_t> callers_;
  std::vector<int64_t> callees_;
};

}  // namespace

std::optional<uint32_t> find_name(const FrameNames& names, std::string_view text) {
  for (uint32_t name = 1; name < names.size(); ++name) {
    if (names.text(name) == text) return name;
  }
  return std::nullopt;
}

FunctionView view_function(const FlameTree& tree, uint32_t name) {
  FunctionView view;
  view.name = name;
  const std::vector<uint8_t> outermost = outermost_nodes(tree);
  FlameTreeBuilder callers(false);
  FlameTreeBuilder callees(false);
  constexpr uint32_t kOutside = UINT32_MAX;
  std::vector<uint32_t> place(tree.size(), kOutside);  // in the tree of callees
  for (uint32_t node = 1; node < tree.size(); ++node) {
    const int64_t self = tree.weights.self[node];
    if (tree.name[node] == name) {
      view.flat = saturating_add(view.flat, self);
      if (outermost[node] != 0) {
        view.cum = saturating_add(view.cum, tree.weights.total[node]);
        uint32_t to = 0;
        for (uint32_t at = tree.parent[node]; at != 0; at = tree.parent[at])
          to = callers.child(to, tree.name[at]);
        callers.add_self(to, tree.weights.total[node], false);
        place[node] = 0;
      }
    }
    if (place[node] == kOutside) {
      const uint32_t parent = place[tree.parent[node]];
      if (parent == kOutside) continue;
      place[node] = callees.child(parent, tree.name[node]);
    }
    if (self != 0) callees.add_self(place[node], self, false);
  }
  DirectCalls direct(tree, name);
  direct.run();
  view.callers = direct.callers();
  view.callees = direct.callees();
  const auto finish = [&](FlameTreeBuilder& builder) {
    FlameTree out = builder.finish(tree.names);
    out.name[0] = name;
    out.whole = tree.whole;
    return out;
  };
  view.caller_tree = finish(callers);
  view.callee_tree = finish(callees);
  return view;
}

}  // namespace vesta
