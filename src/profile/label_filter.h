// Filters on labels in pprof's words: "key=regex", "regex" against "key:value", numeric ranges such
// as "bytes=128kb:512kb". Compiled once, then asked per label set. Thread-safe after construction.
#pragma once

#include <re2/re2.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/table_hash.h"
#include "base/units.h"
#include "profile/dictionary.h"

namespace vesta {

class LabelFilter {
 public:
  // kUsage when an expression is not valid; `option` names the flag in the message.
  static Result<LabelFilter> compile(std::string_view expression, std::string_view option);

  // Lets numbers without a unit have the one that others of their key have.
  void infer_units(const Dictionary& dictionary);

  bool matches(const Dictionary& dictionary, std::span<const Label> labels) const;

 private:
  struct Range {
    std::optional<double> low;  // in the unit
    std::optional<double> high;
    Unit unit;
  };
  LabelFilter() = default;
  static std::optional<Range> parse_range(std::string_view text);
  bool in_range(const Dictionary& dictionary, const Label& label) const;

  std::optional<std::string> key_;
  std::optional<Range> range_;
  std::vector<std::shared_ptr<RE2>> expressions_;
  std::unordered_map<std::string, Unit, TableKeyHash> units_;  // by key
};

// A compiled expression with an error message that shows what is wrong with it.
Result<std::shared_ptr<RE2>> compile_regex(std::string_view expression, std::string_view option);

}  // namespace vesta
