// Labels as frames, and labels left out: how pprof's tagroot, tagleaf, tagshow and taghide look at
// a profile. Plain functions.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/frame_profile.h"
#include "profile/merged_profile.h"

namespace vesta {

struct LabelFrames {
  std::vector<std::string> root;  // label names; the first becomes the new root
  std::vector<std::string> leaf;  // the last becomes the new leaf
  std::string unit;               // to print numbers in; empty = fitting
  std::string none;               // the value where a sample has no such label
  bool empty() const { return root.empty() && leaf.empty(); }
};

// Each stack with a frame for each of the labels: its value, or what stands for none. Several values are joined with commas. Labels of the resource count where the sample
// has none of that name itself.
MergedProfile with_label_frames(const MergedProfile& profile, const LabelFrames& wanted);
void add_label_frames(ProfileBatch& batch, const LabelFrames& wanted);

// Which labels a report shows: those whose names match `show` and do not match `hide`.
class LabelNames {
 public:
  // An empty expression asks for nothing. kUsage when one is not valid.
  static Result<LabelNames> compile(std::string_view show, std::string_view hide);
  bool keeps(std::string_view name) const;

 private:
  std::shared_ptr<const RE2> show_;
  std::shared_ptr<const RE2> hide_;
};

// Takes all other labels out of the profile.
void keep_labels(FrameProfile& profile, const LabelNames& names);

}  // namespace vesta
