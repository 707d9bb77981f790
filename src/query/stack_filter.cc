#include "query/stack_filter.h"

#include <re2/re2.h>

#include "profile/label_filter.h"

namespace vesta {
namespace {

// Whether an expression is found in the strings of a tree; each is looked at once at most.
class StringMatcher {
 public:
  StringMatcher(const StackTree& tree, const RE2* expression)
      : tree_(tree),
        expression_(expression),
        known_(expression == nullptr ? 0 : tree.string_count()) {}

  explicit operator bool() const { return expression_ != nullptr; }
  bool function(const StoredFrame& frame) {
    return has_function(frame) && (text(frame.name) || text(frame.file));
  }
  bool binary(const StoredFrame& frame) {
    return (frame.binary != 0 || frame.build_id != 0) && text(frame.binary);
  }

 private:
  bool text(TreeString id) {
    uint8_t& known = known_[id];
    if (known == 0) {
      const std::string_view text = tree_.string(id);
      known = RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression_) ? 2 : 1;
    }
    return known == 2;
  }

  const StackTree& tree_;
  const RE2* expression_;
  std::vector<uint8_t> known_;  // by string: 0 not looked at, 1 no, 2 yes
};

Status compile_into(const std::string& expression, std::string_view option,
                    std::shared_ptr<const RE2>& out) {
  if (expression.empty()) return {};
  VESTA_ASSIGN(out, compile_regex(expression, option));
  return {};
}

}  // namespace

Result<StackFilter> StackFilter::compile(const FrameFilters& filters) {
  if (!filters.tag_focus.empty() || !filters.tag_ignore.empty()) {
    return Error{ErrorCode::kUsage, "labels of samples cannot be filtered here",
                 "use matchers in the selector"};
  }
  StackFilter filter;
  VESTA_TRY(compile_into(filters.focus, "focus", filter.focus_));
  VESTA_TRY(compile_into(filters.ignore, "ignore", filter.ignore_));
  VESTA_TRY(compile_into(filters.hide, "hide", filter.hide_));
  VESTA_TRY(compile_into(filters.show, "show", filter.show_));
  VESTA_TRY(compile_into(filters.show_from, "show_from", filter.show_from_));
  return filter;
}

std::vector<uint8_t> StackFilter::marks(const StackTree& tree,
                                        std::span<const uint8_t> used) const {
  std::vector<uint8_t> marks(tree.frame_count());
  if (empty()) return marks;
  StringMatcher focus(tree, focus_.get());
  StringMatcher ignore(tree, ignore_.get());
  StringMatcher hide(tree, hide_.get());
  StringMatcher show(tree, show_.get());
  StringMatcher show_from(tree, show_from_.get());
  std::vector<uint8_t> seen(tree.frame_count());
  for (TreeNode node = 1; node < tree.node_count(); ++node) {
    if (used[node] == 0) continue;
    const TreeFrame id = tree.frame(node);
    if (seen[id] != 0) continue;
    seen[id] = 1;
    const StoredFrame& frame = tree.stored_frame(id);
    const auto either = [&](StringMatcher& matcher) {
      return matcher.function(frame) || matcher.binary(frame);
    };
    uint8_t mark = 0;
    if (ignore && either(ignore)) {
      mark |= kIgnored;
    } else if (!focus || either(focus)) {
      mark |= kFocused;
    }
    if (hide && either(hide)) mark |= kHidden;
    // An address alone has no name that could match; pprof leaves it out, whatever its binary, but
    // keeps lines of no function.
    if (show && (!has_line(frame) || (has_function(frame) && !either(show)))) mark |= kHidden;
    if (show_from) {
      if (show_from.function(frame)) mark |= kStarts;
      if (show_from.binary(frame)) mark |= kStarts | kStartsByBinary;
    }
    marks[id] = mark;
  }
  return marks;
}

std::vector<uint8_t> used_nodes(const StackTree& tree, std::span<const int64_t> weights) {
  std::vector<uint8_t> used(tree.node_count());
  const size_t stacks = std::min(weights.size(), tree.stack_count());
  for (StackNumber stack = 0; stack < stacks; ++stack) {
    if (weights[stack] != 0) used[tree.leaf(stack)] = 1;
  }
  for (size_t node = tree.node_count(); node-- > 1;) {
    if (used[node] != 0) used[tree.parent(static_cast<TreeNode>(node))] = 1;
  }
  return used;
}

}  // namespace vesta
