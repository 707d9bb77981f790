// Which labels a profile has, and how much of it each value carries. Pure function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/merged_profile.h"

namespace vesta {

struct LabelValue {
  std::string value;  // numbers with their unit
  int64_t weight = 0;
};

struct LabelKey {
  std::string key;
  int64_t weight = 0;              // of all samples that have the key
  std::vector<LabelValue> values;  // largest first
};

// Keys by name; labels of the resource count where the sample has none of that key itself.
std::vector<LabelKey> summarize_labels(const MergedProfile& profile);

// "web", "512 bytes"
std::string label_text(const Dictionary& dictionary, const Label& label);

}  // namespace vesta
