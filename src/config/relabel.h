// Prometheus' relabelling: rules that change, keep or drop targets by their labels. Rules are
// values; applying them is a pure function.
#pragma once

#include <cstdint>
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

enum class RelabelAction : uint8_t {
  kReplace,
  kKeep,
  kDrop,
  kKeepEqual,
  kDropEqual,
  kLabelMap,
  kLabelDrop,
  kLabelKeep,
  kHashMod,
  kLowercase,
  kUppercase,
};
// kUsage with the known words for one that is none.
Result<RelabelAction> parse_relabel_action(std::string_view word);
std::string_view relabel_action_name(RelabelAction action);

struct RelabelSpec {
  RelabelAction action = RelabelAction::kReplace;
  std::vector<std::string> source_labels;
  std::string separator = ";";
  std::string regex = "(.*)";
  std::string target_label;
  std::string replacement = "$1";
  uint64_t modulus = 0;
};

class RelabelRule {
 public:
  // Does nothing until one that was made takes its place.
  RelabelRule() = default;
  // kUsage for an expression that RE2 does not know, or an action that lacks what it needs.
  static Result<RelabelRule> make(RelabelSpec spec);

  // False when the target is to be dropped.
  bool apply(Labels& labels) const;
  const RelabelSpec& spec() const { return spec_; }

 private:
  RelabelSpec spec_;
  std::shared_ptr<const re2::RE2> regex_;
};

// All rules in their order; false when one of them drops the target.
bool relabel(const std::vector<RelabelRule>& rules, Labels& labels);

}  // namespace vesta
