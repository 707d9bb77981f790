// The regular expressions of FrameFilters, compiled: what the filters of files and those of stored
// stacks both ask. Values; thread-safe to ask.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/frame_profile.h"

namespace vesta {

struct FilterExpressions {
  using Expression = std::shared_ptr<const RE2>;
  std::vector<Expression> focus;  // a stack has a match of each
  Expression ignore;              // any of them, as one; null without
  Expression hide;                // the same
  std::vector<Expression> show;   // a frame matches each
  std::vector<Expression> show_from;
  Expression prune_from;  // any of them, as one; asked of names as simplified_name() has them

  // Those of one kind that are asked one by one: a match of each is a bit of a byte.
  static constexpr size_t kMaxSeparate = 8;
  // Those that are asked as one.
  static constexpr size_t kMaxTogether = 64;

  // How messages spell the names of filters.
  enum class Spelling { kFlag /* --show-from */, kParameter /* show_from */ };
  static std::string spelt(std::string name, Spelling spelling);
  // Empty expressions are none. kUsage when one is not valid, or when there are too many.
  static Result<FilterExpressions> compile(const FrameFilters& filters, Spelling spelling);

  bool by_name() const { return !focus.empty() || ignore || hide || !show.empty(); }
  // A stack that these leave nothing of is out.
  bool drops_empty() const { return by_name() || !show_from.empty(); }
  bool empty() const { return !drops_empty() && !prune_from; }
};

// Whether an expression is found in the strings of a table; each is looked at once at most, however
// many frames share it. Refers to the expression. Not thread-safe.
class KnownMatches {
 public:
  KnownMatches(const RE2& expression, size_t strings) : expression_(expression), known_(strings) {}

  // text(): what the string of that number says.
  template <class Text>
  bool operator()(size_t number, Text&& text) {
    uint8_t& known = known_[number];
    if (known == 0) known = found(text()) ? 2 : 1;
    return known == 2;
  }

 private:
  bool found(std::string_view text) const {
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), expression_);
  }

  const RE2& expression_;
  std::vector<uint8_t> known_;  // by string: 0 not looked at, 1 no, 2 yes
};

// The name without its parameter list and without a leading dot: what drop_frames and prune_from
// are written for.
std::string_view simplified_name(std::string_view name);

inline uint8_t expression_bit(size_t at) {
  return static_cast<uint8_t>(1U << at);
}
// One bit for each of them.
inline uint8_t all_bits(const std::vector<FilterExpressions::Expression>& expressions) {
  return static_cast<uint8_t>((1U << expressions.size()) - 1);
}

}  // namespace vesta
