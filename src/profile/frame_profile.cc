#include "profile/frame_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <unordered_map>
#include <utility>

#include "base/id_index.h"
#include "base/table_hash.h"
#include "base/text.h"
#include "profile/effective_samples.h"
#include "profile/frame_filter.h"
#include "profile/frame_name.h"
#include "profile/source_path.h"

namespace vesta {
namespace {

// The first string of a dictionary with the same text: a pprof table may hold a string twice, and
// compilers may spell a path in several ways.
class EqualStrings {
 public:
  explicit EqualStrings(const Dictionary& dictionary)
      : dictionary_(dictionary), known_(dictionary.strings.size()) {}

  template <class Spelling>
  StringId first(StringId id, Spelling&& spelling) {
    uint32_t& known = known_[id.index()];
    if (known == 0) {
      const std::string_view text = spelling(dictionary_.string(id), scratch_);
      known = 1 + index_.find_or_insert(
                      table_hash(text),
                      [&](uint32_t at) {
                        return spelling(dictionary_.string(StringId(at)), other_scratch_) == text;
                      },
                      [&] { return id.value; });
    }
    return StringId(known - 1);
  }

 private:
  const Dictionary& dictionary_;
  std::vector<uint32_t> known_;
  IdIndex index_;
  std::string scratch_;
  std::string other_scratch_;
};

// Gives each distinct frame, at the chosen granularity, one id.
class FrameTable {
 public:
  FrameTable(const Dictionary& dictionary, Granularity granularity, std::vector<Frame>& frames)
      : dictionary_(dictionary),
        granularity_(granularity),
        frames_(frames),
        names_(dictionary),
        files_(dictionary) {}

  FrameId of_line(const Location& location, const Line& line) {
    if (!line.function) return of_address(location);
    const Function& function = dictionary_.function(line.function);
    Frame frame;
    frame.kind = location.kind;
    if (granularity_ == Granularity::kBinary) return of_address(location);
    if (granularity_ != Granularity::kFile)
      frame.name = same_name(function.name ? function.name : function.system_name);
    if (granularity_ != Granularity::kFunction)
      frame.file = files_.first(function.file, clean_source_path);
    if (granularity_ == Granularity::kLine || granularity_ == Granularity::kAddress)
      frame.line = line.line;
    if (granularity_ == Granularity::kAddress) {
      frame.address = location.address;
      frame.column = line.column;
    }
    if (!frame.name) frame.binary = binary_of(location);
    frame.start_line = function.start_line;
    return intern(frame);
  }

  FrameId of_address(const Location& location) {
    Frame frame;
    frame.kind = location.kind;
    frame.binary = binary_of(location);
    if (granularity_ == Granularity::kAddress) frame.address = location.address;
    return intern(frame);
  }

 private:
  StringId same_name(StringId id) {
    return names_.first(id, [](std::string_view text, std::string&) { return text; });
  }
  StringId binary_of(const Location& location) {
    return same_name(dictionary_.mapping(location.mapping).file);
  }

  FrameId intern(const Frame& frame) {
    // NOLINTBEGIN(clang-analyzer-core.UndefinedBinaryOperatorResult): ids begin as 0.
    const auto hash = TableHash()
                          .add(uint64_t{frame.name.value} << 32 | frame.file.value)
                          .add(uint64_t{frame.binary.value} << 32 | frame.column)
                          .add(static_cast<uint64_t>(frame.line))
                          .add(frame.address)
                          .value();
    // NOLINTEND(clang-analyzer-core.UndefinedBinaryOperatorResult)
    // The kind does not tell frames apart: the same function may be seen with and without it.
    const uint32_t found = index_.find_or_insert(
        hash,
        [&](uint32_t at) {
          const Frame& other = frames_[at];
          return other.name == frame.name && other.file == frame.file &&
                 other.binary == frame.binary && other.line == frame.line &&
                 other.column == frame.column && other.address == frame.address;
        },
        [&] {
          frames_.push_back(frame);
          return static_cast<uint32_t>(frames_.size() - 1);
        });
    frames_[found].start_line = first_line(frames_[found].start_line, frame.start_line);
    return FrameId(found);
  }

  const Dictionary& dictionary_;
  Granularity granularity_;
  std::vector<Frame>& frames_;
  EqualStrings names_;
  EqualStrings files_;
  IdIndex index_;
};

class Resolver {
 public:
  Resolver(FrameProfile& out, FrameFilter filter, const FrameOptions& options)
      : out_(out),
        dictionary_(*out.dictionary),
        filter_(std::move(filter)),
        inlines_(options.inlines),
        table_(dictionary_, options.granularity, out.frames),
        places_(dictionary_.locations.size()),
        stack_of_(dictionary_.stacks.size(), kUnseen) {
    // Most stacks stay as long as they are; memory that is not written to costs nothing.
    out_.stacks.reserve(dictionary_.stacks.size(), dictionary_.stacks.item_count());
  }

  void add(const MergedProfile& profile, bool is_baseline) {
    out_.weights.reserve(out_.weights.size() + profile.samples.size());
    for (const WeightedStack& sample : profile.samples) {
      if (!passes(sample)) continue;
      uint32_t& stack = stack_of_[sample.stack.index()];
      if (stack == kUnseen) stack = resolve(dictionary_.stacks[sample.stack]);
      if (stack == kFilteredOut) continue;
      StackWeight weight{FrameStackId(stack), sample.labels, 0, 0};
      (is_baseline ? weight.baseline : weight.value) = sample.value;
      out_.weights.push_back(weight);
    }
  }

 private:
  static constexpr uint32_t kUnseen = UINT32_MAX;
  static constexpr uint32_t kFilteredOut = UINT32_MAX - 1;

  bool passes(const WeightedStack& sample) {
    if (!filter_.filters_labels()) return true;
    const uint64_t key = uint64_t{sample.labels.value} << 32 | sample.resource.value;
    const auto [known, is_new] = passes_.try_emplace(key, false);
    if (is_new) known->second = filter_.passes(sample.labels, sample.resource);
    return known->second;
  }

  uint32_t resolve(std::span<const LocationId> stack) {
    if (filter_.changes_stacks()) {
      if (!filter_.apply(stack, kept_)) return kFilteredOut;
      stack = kept_;
    }
    for (const LocationId location : stack) {
      uint32_t place = places_[location.index()];
      if (place == 0) place = places_[location.index()] = resolve(location);
      if ((place & 1) == 0) {
        out_.stacks.push(FrameRef(FrameId(place >> 1), false));
      } else {
        for (const FrameRef frame : std::as_const(inlined_)[LocationId(place >> 1)])
          out_.stacks.push(frame);
      }
    }
    return out_.stacks.close().value;
  }

  // The frame of a location, shifted left; or, where functions were inlined, the place of its
  // frames in inlined_, shifted left, plus one. Looked up for every location of every stack, so the
  // table has to be small.
  uint32_t resolve(LocationId id) {
    const Location& location = dictionary_.location(id);
    auto lines = filter_.lines(id);
    if (!inlines_ && lines.size() > 1) lines = lines.last(1);
    if (lines.empty()) return table_.of_address(location).value << 1;
    if (lines.size() == 1) return table_.of_line(location, lines[0]).value << 1;
    FrameId callee;
    for (size_t i = 0; i < lines.size(); ++i) {
      // The last line is the function that was really called; those before it were inlined into it.
      const FrameId frame = table_.of_line(location, lines[i]);
      inlined_.push(FrameRef(frame, i + 1 < lines.size()));
      if (callee && callee != frame) out_.inlined_calls.emplace_back(frame, callee);
      callee = frame;
    }
    return inlined_.close().value << 1 | 1;
  }

  FrameProfile& out_;
  const Dictionary& dictionary_;
  FrameFilter filter_;
  bool inlines_;
  FrameTable table_;
  ListTable<LocationId, FrameRef> inlined_;
  std::vector<uint32_t> places_;  // by location, as resolve() has them; 0 = not looked at yet
  std::vector<uint32_t> stack_of_;
  std::vector<LocationId> kept_;
  std::unordered_map<uint64_t, bool, TableKeyHash> passes_;  // by labels and resource
};

FrameProfile header_of(const MergedProfile& profile) {
  FrameProfile out;
  out.dictionary = profile.dictionary;
  out.type = profile.type;
  out.unit = profile.unit;
  out.temporality = profile.temporality;
  out.time_ns = profile.time_ns;
  out.duration_ns = profile.duration_ns;
  out.period = profile.period;
  out.main_binary = profile.main_binary;
  out.losses = profile.losses;
  out.total = total_of(profile);
  out.samples = samples_behind(profile);
  return out;
}

// Shares of what the filters left.
void make_relative(FrameProfile& profile) {
  profile.total = 0;
  profile.baseline_total = 0;
  for (const StackWeight& weight : profile.weights) {
    profile.total = saturating_add(profile.total, saturating_abs(weight.value));
    profile.baseline_total =
        saturating_add(profile.baseline_total, saturating_abs(weight.baseline));
  }
}

}  // namespace

uint64_t samples_behind(const MergedProfile& profile) {
  if (profile.period_type.empty()) return 0;
  return effective_samples({profile.type, profile.unit, profile.period_type, profile.period_unit,
                            profile.period, total_of(profile)});
}

void FrameProfile::warn_of_few_samples(uint64_t count, std::string_view whose) {
  if (count != 0 && count < kFewSamples)
    warnings.push_back({"few_samples", std::string(whose) + few_samples_text(count)});
}

Result<FrameProfile> resolve_frames(const MergedProfile& profile, const FrameOptions& options) {
  FrameProfile out = header_of(profile);
  out.granularity = options.granularity;
  out.warn_of_few_samples(out.samples, "");
  VESTA_ASSIGN(FrameFilter filter, FrameFilter::compile(*profile.dictionary, options.filters,
                                                        profile.drop_frames, profile.keep_frames));
  Resolver(out, std::move(filter), options).add(profile, false);
  if (options.relative) make_relative(out);
  return out;
}

Result<FrameProfile> resolve_frames(const MergedProfile& before, const MergedProfile& after,
                                    const FrameOptions& options) {
  assert(before.dictionary == after.dictionary);
  FrameProfile out = header_of(after);
  out.granularity = options.granularity;
  out.has_baseline = true;
  out.baseline_total = total_of(before);
  out.baseline_samples = samples_behind(before);
  out.baseline_duration_ns = before.duration_ns;
  VESTA_ASSIGN(FrameFilter filter, FrameFilter::compile(*after.dictionary, options.filters,
                                                        after.drop_frames, after.keep_frames));
  Resolver resolver(out, std::move(filter), options);
  resolver.add(before, true);
  resolver.add(after, false);
  if (options.relative) make_relative(out);
  return out;
}

FrameName name_of(const FrameProfile& profile, FrameId id) {
  const Frame& frame = profile.frame(id);
  return {profile.string(frame.name),
          profile.string(frame.file),
          profile.string(frame.binary),
          frame.line,
          frame.column,
          frame.address,
          frame.kind,
          frame.start_line};
}

std::string display_name(const FrameProfile& profile, FrameId id) {
  return display_text(name_of(profile, id), profile.granularity);
}

}  // namespace vesta
