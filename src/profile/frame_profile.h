// Stacks of frames, ready for reports: locations unfolded into their inlined frames, merged to the
// asked granularity, filtered. With a baseline, each stack has two weights, and reports show the
// difference. Immutable once built.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "profile/frame_name.h"
#include "profile/list_table.h"
#include "profile/merged_profile.h"

namespace vesta {

using FrameId = StrongId<struct FrameTag>;
using FrameStackId = StrongId<struct FrameStackTag>;

// What tells two frames apart at the chosen granularity; the other members are empty, but for the
// kind and the line that the function starts at.
struct Frame {
  StringId name;
  StringId file;
  StringId binary;  // path
  FrameKind kind = FrameKind::kUnknown;
  uint32_t column = 0;
  int64_t line = 0;
  uint64_t address = 0;
  int64_t start_line = 0;
};

// A frame in a stack, with whether the compiler had inlined it there.
struct FrameRef {
  uint32_t bits = 0;
  FrameRef() = default;
  FrameRef(FrameId frame, bool inlined) : bits(frame.value << 1 | (inlined ? 1u : 0u)) {}
  FrameId frame() const { return FrameId(bits >> 1); }
  bool inlined() const { return (bits & 1) != 0; }
  friend bool operator==(FrameRef, FrameRef) = default;
};

struct StackWeight {
  FrameStackId stack;
  LabelSetId labels;
  int64_t value = 0;
  int64_t baseline = 0;
};

// Regular expressions in RE2 syntax; same meaning as pprof's options of these names, of which there
// may be several here. Empty ones are none.
struct FrameFilters {
  std::vector<std::string> focus;   // keep stacks that have a match of each
  std::vector<std::string> ignore;  // drop stacks that have a match of any
  std::vector<std::string> hide;    // remove frames that match any
  std::vector<std::string> show;    // remove frames that do not match each
  // Remove what is above the outermost match, and stacks without one: by the first, then by the
  // second in what is left, and so on.
  std::vector<std::string> show_from;
  // Keep the samples whose labels match each: "key=regex", "regex" against "key:value",
  // "key=128kb:512kb".
  std::vector<std::string> tag_focus = {};
  std::vector<std::string> tag_ignore = {};  // drop the samples whose labels match any
  // Remove what is below the innermost match, which stays: the rule of pprof's prune_from.
  std::vector<std::string> prune_from = {};
};

struct FrameOptions {
  Granularity granularity = Granularity::kFunction;
  FrameFilters filters = {};
  bool inlines = true;    // false: functions that were inlined count as their callers
  bool relative = false;  // shares are of what the filters left
};

// What a reader has to be careful about.
struct ReportWarning {
  std::string code;  // "few_samples", "coverage_differs", "duration_unknown"
  std::string text;
};

struct FrameProfile {
  std::shared_ptr<const Dictionary> dictionary;
  std::string type;
  std::string unit;
  Temporality temporality = Temporality::kCumulative;
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  int64_t period = 0;
  std::string main_binary;
  std::vector<LossCount> losses;

  Granularity granularity = Granularity::kFunction;
  std::vector<Frame> frames{1};
  ListTable<FrameStackId, FrameRef> stacks;  // leaf first
  // Caller and callee of every call that was inlined in some location; may hold a pair twice.
  std::vector<std::pair<FrameId, FrameId>> inlined_calls;
  std::vector<StackWeight> weights;
  // Of everything, before filters unless FrameOptions::relative: shares are of this, as pprof has
  // them.
  int64_t total = 0;
  bool has_baseline = false;
  int64_t baseline_total = 0;
  // Samples behind the totals (effective_samples.h); 0 = not known.
  uint64_t samples = 0;
  uint64_t baseline_samples = 0;
  int64_t baseline_duration_ns = 0;
  bool compares_rates = false;  // the baseline is scaled to the duration
  std::vector<ReportWarning> warnings;
  // Nothing unless the count is known and small.
  void warn_of_few_samples(uint64_t count, std::string_view whose);

  std::string_view string(StringId id) const { return dictionary->strings[id]; }
  const Frame& frame(FrameId id) const { return frames[id.index()]; }
};

// 0 = not known. Weights of a profile that does not say what it sampled by may be anything.
uint64_t samples_behind(const MergedProfile& profile);

// kUsage with the option's name and the position when an expression is not valid.
Result<FrameProfile> resolve_frames(const MergedProfile& profile, const FrameOptions& options);

// Both in one frame table: `value` is from `after`, `baseline` from `before`.
// REQUIRES: both share one dictionary (merge them into one batch first)
Result<FrameProfile> resolve_frames(const MergedProfile& before, const MergedProfile& after,
                                    const FrameOptions& options);

FrameName name_of(const FrameProfile& profile, FrameId id);
std::string display_name(const FrameProfile& profile, FrameId id);

}  // namespace vesta
