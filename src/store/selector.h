// Which series are meant: matchers on labels, all of which must hold, in the syntax of Prometheus
// (`{service_name="checkout", pod=~"a.*"}`). Regular expressions are RE2's and match the whole
// value. Values, free to copy; thread-safe to ask.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "base/result.h"

namespace re2 {
class RE2;
}

namespace vesta {

enum class MatchOperator { kEqual, kNotEqual, kMatches, kNotMatches };

class LabelMatcher {
 public:
  // kUsage when the expression is not valid.
  static Result<LabelMatcher> make(std::string name, MatchOperator op, std::string value);

  const std::string& name() const { return name_; }
  const std::string& value() const { return value_; }
  MatchOperator op() const { return op_; }
  bool matches(std::string_view value) const;
  bool matches_empty() const { return matches_empty_; }

 private:
  LabelMatcher() = default;
  std::string name_;
  std::string value_;
  MatchOperator op_ = MatchOperator::kEqual;
  std::shared_ptr<const re2::RE2> expression_;
  bool matches_empty_ = false;
};

using Selector = std::vector<LabelMatcher>;

bool matches(const Selector& selector, const Labels& labels);

// "{a="b"}" or "{}" selects by labels; a word before the brace is the type, as a person or
// Pyroscope writes it ("cpu", "process_cpu:cpu:nanoseconds:cpu:nanoseconds"). Names of labels may
// be quoted, strings may be in backticks. kUsage with the column of what is wrong. An empty text is
// an error.
struct TypedSelector {
  std::string type;  // may be empty
  Selector selector;
};
Result<TypedSelector> parse_selector(std::string_view text);

// The text that parses to an equal selector.
std::string to_string(const Selector& selector);

}  // namespace vesta
