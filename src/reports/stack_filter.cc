#include "reports/stack_filter.h"

#include <algorithm>
#include <optional>

namespace vesta {
namespace {

// Whether an expression is found in the strings of a tree.
class StringMatcher {
 public:
  StringMatcher(const StackTree& tree, const RE2& expression)
      : tree_(tree), matches_(expression, tree.string_count()) {}

  bool function(const StoredFrame& frame) {
    return has_function(frame) && (text(frame.name) || text(frame.file));
  }
  bool binary(const StoredFrame& frame) {
    return (frame.binary || frame.build_id) && text(frame.binary);
  }
  bool either(const StoredFrame& frame) { return function(frame) || binary(frame); }

 private:
  bool text(TreeString id) {
    return matches_(id.value, [&] { return tree_.string(id); });
  }

  const StackTree& tree_;
  KnownMatches matches_;
};

using Expression = FilterExpressions::Expression;

std::vector<StringMatcher> matchers(const StackTree& tree, const std::vector<Expression>& list) {
  std::vector<StringMatcher> out;
  out.reserve(list.size());
  for (const Expression& expression : list) out.emplace_back(tree, *expression);
  return out;
}

std::optional<StringMatcher> matcher(const StackTree& tree, const Expression& expression) {
  return expression ? StringMatcher(tree, *expression) : std::optional<StringMatcher>();
}

}  // namespace

Result<StackFilter> StackFilter::compile(const FrameFilters& filters) {
  if (!filters.tag_focus.empty() || !filters.tag_ignore.empty()) {
    return Error{ErrorCode::kUsage, "sample labels cannot be filtered in this query",
                 "use matchers in the selector"};
  }
  StackFilter filter;
  VESTA_ASSIGN(filter.expressions_,
               FilterExpressions::compile(filters, FilterExpressions::Spelling::kParameter));
  return filter;
}

std::vector<StackFilter::Marks> StackFilter::marks(const StackTree& tree,
                                                   std::span<const uint8_t> used) const {
  std::vector<Marks> marks(tree.frame_count());
  if (empty()) return marks;
  auto focus = matchers(tree, expressions_.focus);
  auto ignore = matcher(tree, expressions_.ignore);
  auto hide = matcher(tree, expressions_.hide);
  auto show = matchers(tree, expressions_.show);
  auto show_from = matchers(tree, expressions_.show_from);
  auto prune_from = prunes()
                        ? std::optional(KnownMatches(*expressions_.prune_from, tree.string_count()))
                        : std::nullopt;
  std::vector<uint8_t> seen(tree.frame_count());
  for (const TreeNode node : Ids<TreeNode>(1, tree.node_count())) {
    if (used[node.index()] == 0) continue;
    const TreeFrame id = tree.frame(node);
    if (seen[id.index()] != 0) continue;
    seen[id.index()] = 1;
    const StoredFrame& frame = tree.stored_frame(id);
    Marks& mark = marks[id.index()];
    mark.ignored = ignore && ignore->either(frame);
    for (size_t i = 0; i < focus.size(); ++i) {
      if (focus[i].either(frame)) mark.focused |= expression_bit(i);
    }
    // An address alone has no name that could match; pprof leaves it out, whatever its binary, but
    // keeps lines of no function.
    mark.hidden = (hide && hide->either(frame)) || (!show.empty() && !has_line(frame)) ||
                  (has_function(frame) && std::ranges::any_of(show, [&](StringMatcher& matcher) {
                     return !matcher.either(frame);
                   }));
    for (size_t i = 0; i < show_from.size(); ++i) {
      if (show_from[i].function(frame)) mark.starts |= expression_bit(i);
      if (show_from[i].binary(frame)) mark.starts_by_binary |= expression_bit(i);
    }
    if (prune_from) {
      const auto name = [&] { return simplified_name(tree.string(frame.name)); };
      mark.ends = !name().empty() && (*prune_from)(frame.name.value, name);
    }
  }
  return marks;
}

std::vector<uint8_t> passing_stacks(const StackTree& tree, const StackFilter& filter) {
  std::vector<uint8_t> passing(tree.stack_count());
  const std::vector<int64_t> weights(tree.stack_count(), 1);
  place_stacks(
      tree, weights, filter, [](uint32_t, TreeFrame, bool) { return 1U; },
      [&](StackNumber stack, uint32_t) { passing[stack.index()] = 1; });
  return passing;
}

std::vector<uint8_t> used_nodes(const StackTree& tree, std::span<const int64_t> weights) {
  std::vector<uint8_t> used(tree.node_count());
  const size_t stacks = std::min(weights.size(), tree.stack_count());
  for (const StackNumber stack : Ids<StackNumber>(0, stacks)) {
    if (weights[stack.index()] != 0) used[tree.leaf(stack).index()] = 1;
  }
  for (size_t node = tree.node_count(); node-- > 1;) {
    if (used[node] != 0) used[tree.parent(TreeNode(node)).index()] = 1;
  }
  return used;
}

}  // namespace vesta
