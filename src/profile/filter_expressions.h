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
  Expression prune_from;  // any of them, as one; for files alone

  // Those of one kind that are asked one by one: a match of each is a bit of a byte.
  static constexpr size_t kMaxSeparate = 8;
  // Those that are asked as one.
  static constexpr size_t kMaxTogether = 64;

  // How messages spell the names of filters.
  enum class Spelling { kFlag /* --show-from */, kParameter /* show_from */ };
  // Empty expressions are none. kUsage when one is not valid, or when there are too many.
  static Result<FilterExpressions> compile(const FrameFilters& filters, Spelling spelling);

  bool by_name() const { return !focus.empty() || ignore || hide || !show.empty(); }
  bool empty() const { return !by_name() && show_from.empty(); }
};

inline uint8_t expression_bit(size_t at) {
  return static_cast<uint8_t>(1U << at);
}
// One bit for each of them.
inline uint8_t all_bits(const std::vector<FilterExpressions::Expression>& expressions) {
  return static_cast<uint8_t>((1U << expressions.size()) - 1);
}

}  // namespace vesta
