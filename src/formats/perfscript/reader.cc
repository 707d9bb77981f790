#include "formats/perfscript/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/table_hash.h"
#include "base/text.h"
#include "demangle/demangle.h"
#include "formats/common/line_reader.h"
#include "formats/common/losses.h"
#include "formats/common/name_cleaner.h"
#include "formats/common/parse_error.h"
#include "formats/perfscript/line_parser.h"
#include "profile/dictionary_builder.h"
#include "profile/sample_table.h"

namespace vesta {
namespace {

using perfscript::FrameLine;
using perfscript::HeaderLine;

constexpr std::string_view kFormat = "perf script";
constexpr const char* kLossPerf = "lost by perf";
constexpr size_t kBytesToLookAt = 256 * 1024;
constexpr size_t kLinesToLookAt = 50;

bool is_comment(std::string_view line) {
  return line.starts_with('#');
}

// All samples of one event.
struct Group {
  explicit Group(std::string_view event_name) : event(event_name) {}
  std::string_view event;
  SampleTable table{2};  // samples, sum of periods
  bool has_period = false;
  bool period_varies = false;
  int64_t period = 0;
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();
};

class Reader {
 public:
  explicit Reader(const ReadOptions& options)
      : options_(options), builder_(batch_.dictionary), names_(options) {}

  Result<ProfileBatch> read(std::string_view bytes) {
    VESTA_TRY(check_input_size(kFormat, bytes, options_.max_decoded_bytes));
    LineReader lines(bytes);
    std::string_view line;
    while (lines.next(line)) {
      read_line(lines.number(), line);
      if (rows_ > options_.max_samples) {
        return limit_error(kFormat, "number of samples", options_.max_samples);
      }
    }
    end_sample();
    if (groups_.empty()) {
      return parse_error_at_line(
          kFormat, std::max<size_t>(1, first_unparsed_),
          lines.number() == 0 ? "the input is empty" : "the input contains no sample",
          "use the output of perf script: lines such as comm 123 [001] 5.678: 1000 cycles: "
          "followed by frames");
    }
    finish();
    return std::move(batch_);
  }

 private:
  void read_line(size_t number, std::string_view line) {
    if (is_comment(line)) return;
    if (trim(line).empty()) {
      end_sample();
      return;
    }
    if (perfscript::is_other_record(line)) {
      end_sample();
      lost_by_perf_ += perfscript::lost_events(line);
      return;
    }
    // A frame can look like a header and the other way round, so what is likely here comes first.
    const bool expects_frame = in_sample_ && !header_.frame;
    if (expects_frame && may_be_frame(line) && take_frame(line)) return;
    if (take_header(line, in_sample_)) return;
    if (in_sample_ && take_source_line(line)) return;
    if (!in_sample_ && take_bare_header(number, line)) return;
    if (!in_sample_ && take_first_frame(line)) return;
    count_unparsed(number);
  }

  void count_unparsed(size_t number) {
    ++unparsed_;
    if (first_unparsed_ == 0) first_unparsed_ = number;
  }

  // Text that was copied around may have lost its indentation.
  static bool may_be_frame(std::string_view line) {
    if (is_indented(line)) return !has_time(line);
    const auto header = perfscript::parse_header(line);
    return !header || !header->is_certain();
  }

  // Commands such as "dd" or "bc" pass for an address, but no frame has a time.
  static bool has_time(std::string_view line) {
    if (line.find(": ") == std::string_view::npos) return false;
    const auto header = perfscript::parse_header(line);
    return header && header->time_ns;
  }

  static bool is_indented(std::string_view line) { return line[0] == ' ' || line[0] == '\t'; }

  bool take_header(std::string_view line, bool must_be_certain) {
    const auto header = perfscript::parse_header(line);
    if (!header || (must_be_certain && !header->is_certain())) return false;
    end_sample();
    header_ = *header;
    in_sample_ = true;
    if (header_.frame) frames_.push_back(*header_.frame);
    return true;
  }

  // A line that is one only if frames follow.
  bool take_bare_header(size_t number, std::string_view line) {
    const auto header = perfscript::parse_bare_header(line);
    if (!header) return false;
    header_ = *header;
    in_sample_ = true;
    bare_header_line_ = number;
    return true;
  }

  // Without a header above it and without indentation, a frame must be one beyond doubt.
  bool take_first_frame(std::string_view line) {
    const auto frame = perfscript::parse_frame(line);
    if (!frame || (!is_indented(line) && (frame->symbol.empty() || frame->text.back() != ')')))
      return false;
    return take_frame(line);
  }

  // Samples printed without any header field begin with their first frame.
  bool take_frame(std::string_view line) {
    const auto frame = perfscript::parse_frame(line);
    if (!frame) return false;
    in_sample_ = true;
    frames_.push_back(*frame);
    return true;
  }

  bool take_source_line(std::string_view line) {
    const auto source = perfscript::parse_source_line(line);
    if (!source || frames_.empty()) return false;
    frames_.back().file = source->file;
    frames_.back().line = source->line;
    return true;
  }

  void end_sample() {
    if (!in_sample_) return;
    in_sample_ = false;
    const size_t bare_header_line = std::exchange(bare_header_line_, 0);
    if (bare_header_line != 0 && frames_.empty()) {
      header_ = {};
      count_unparsed(bare_header_line);
      return;
    }
    Group& group = group_of(header_.event);
    const size_t rows_before = group.table.size();
    const std::array<int64_t, 2> values = {1, header_.period.value_or(0)};
    group.table.add(stack_of_frames(), values, labels_of_header(), {},
                    options_.keep_timestamps ? header_.time_ns.value_or(0) : 0);
    rows_ += group.table.size() - rows_before;
    if (header_.period) {
      group.period_varies |= group.has_period && group.period != *header_.period;
      group.period = *header_.period;
      group.has_period = true;
    }
    if (header_.time_ns) {
      group.first_ns = std::min(group.first_ns, *header_.time_ns);
      group.last_ns = std::max(group.last_ns, *header_.time_ns);
    }
    header_ = {};
    frames_.clear();
  }

  Group& group_of(std::string_view event) {
    const auto [entry, is_new] = group_index_.try_emplace(event, groups_.size());
    if (is_new) groups_.emplace_back(event);
    return groups_[entry->second];
  }

  // perf prints the leaf first, and inlined functions before the one that they are part of; those
  // share an address and make up one location.
  StackId stack_of_frames() {
    stack_.clear();
    for (size_t at = 0; at < frames_.size();) {
      if (stack_.size() == options_.max_stack_depth) {
        names_.count_cut_stack();
        break;
      }
      size_t last = at;
      while (frames_[last].is_inlined && last + 1 < frames_.size() &&
             frames_[last + 1].address == frames_[at].address) {
        ++last;
      }
      stack_.push_back(location_of(at, last));
      at = last + 1;
    }
    return builder_.stack(stack_);
  }

  LocationId location_of(size_t first, size_t last) {
    const FrameLine& frame = frames_[last];
    const bool is_simple = first == last && frame.file.empty();
    if (is_simple) {
      const auto known = simple_frames_.find(frame.text);
      if (known != simple_frames_.end()) return known->second;
    }
    Location location;
    location.address = frame.address;
    if (!frame.dso.empty()) {
      location.mapping = mapping_of(frame.dso);
      location.kind = perfscript::is_kernel_dso(frame.dso)                    ? FrameKind::kKernel
                      : frame.dso.starts_with('/') && !is_perf_map(frame.dso) ? FrameKind::kNative
                                                                              : FrameKind::kUnknown;
    }
    lines_.clear();
    for (size_t at = first; at <= last; ++at) {
      if (frames_[at].symbol.empty()) continue;
      Function function;
      function.system_name = builder_.string(names_.clean(frames_[at].symbol));
      function.name = name_of(frames_[at].symbol, function.system_name);
      function.file = builder_.string(names_.clean(frames_[at].file));
      lines_.push_back({builder_.function(function), 0, frames_[at].line});
    }
    const LocationId id = builder_.location(location, lines_);
    if (is_simple) simple_frames_.emplace(frame.text, id);
    return id;
  }

  // perf prints linkage names when it was built without a demangler, or with --no-demangle.
  StringId name_of(std::string_view symbol, StringId system_name) {
    if (!symbol.starts_with("_Z") && !symbol.starts_with("_R")) return system_name;
    return builder_.string(names_.clean(demangle(symbol, DemangleStyle::kShort)));
  }

  // Code that a runtime made and described in /tmp/perf-<pid>.map.
  static bool is_perf_map(std::string_view dso) {
    return dso.find("/perf-") != std::string_view::npos && dso.ends_with(".map");
  }

  MappingId mapping_of(std::string_view dso) {
    const auto [entry, is_new] = mappings_.try_emplace(dso);
    if (is_new) {
      Mapping mapping;
      mapping.file = builder_.string(names_.clean(dso));
      mapping.has_functions = true;
      entry->second = builder_.mapping(mapping);
    }
    return entry->second;
  }

  LabelSetId labels_of_header() {
    labels_.clear();
    if (!header_.comm.empty()) {
      labels_.push_back(builder_.text_label("comm", names_.clean(header_.comm)));
    }
    if (header_.pid) labels_.push_back(builder_.number_label("pid", *header_.pid));
    if (header_.tid) labels_.push_back(builder_.number_label("tid", *header_.tid));
    if (header_.cpu) labels_.push_back(builder_.number_label("cpu", *header_.cpu));
    return builder_.label_set(labels_);
  }

  void finish() {
    for (Group& group : groups_) {
      Profile profile;
      profile.name = builder_.string(names_.clean(group.event));
      profile.sample_types.push_back(
          {builder_.string("samples"), builder_.string("count"), Temporality::kCumulative});
      profile.samples = group.table.finish();
      if (group.has_period) {
        const bool is_time = group.event == "cpu-clock" || group.event == "task-clock";
        const StringId event = group.event.empty() ? builder_.string("events") : profile.name;
        const SampleType weight{is_time ? builder_.string("cpu") : event,
                                builder_.string(is_time ? "nanoseconds" : "count"),
                                Temporality::kCumulative};
        profile.sample_types.push_back(weight);
        profile.default_type = 1;
        if (!group.period_varies) {
          profile.period_type = weight;
          profile.period = group.period;
        }
      } else {
        std::vector<int64_t>& values = profile.samples.values;
        for (size_t row = 0; row < profile.samples.size(); ++row) values[row] = values[row * 2];
        values.resize(profile.samples.size());
      }
      if (group.last_ns > group.first_ns) profile.duration_ns = group.last_ns - group.first_ns;
      batch_.profiles.push_back(std::move(profile));
    }
    // Damaged lines and names cannot be told apart by event.
    Profile& first = batch_.profiles.front();
    names_.add_losses(first, builder_);
    if (unparsed_ > 0) first.add_loss(builder_.string(kLossUnparsedLine), unparsed_);
    if (lost_by_perf_ > 0) first.add_loss(builder_.string(kLossPerf), lost_by_perf_);
  }

  const ReadOptions& options_;
  ProfileBatch batch_;
  DictionaryBuilder builder_;
  NameCleaner names_;
  bool in_sample_ = false;
  HeaderLine header_;
  size_t bare_header_line_ = 0;  // of a header that counts only when frames follow; else 0
  std::vector<FrameLine> frames_;
  std::vector<Group> groups_;
  std::unordered_map<std::string_view, size_t, TableKeyHash>
      group_index_;  // all keys point into the input
  std::unordered_map<std::string_view, LocationId, TableKeyHash> simple_frames_;
  std::unordered_map<std::string_view, MappingId, TableKeyHash> mappings_;
  size_t rows_ = 0;
  size_t first_unparsed_ = 0;
  uint64_t unparsed_ = 0;
  uint64_t lost_by_perf_ = 0;
  std::vector<LocationId> stack_;  // scratch
  std::vector<Line> lines_;        // scratch
  std::vector<Label> labels_;      // scratch
};

}  // namespace

bool looks_like_perfscript(std::string_view bytes) {
  LineReader lines(bytes.substr(0, kBytesToLookAt));
  std::string_view line;
  size_t headers = 0;
  size_t frames = 0;
  size_t others = 0;
  size_t bare_headers = 0;
  bool has_time = false;
  while (headers + bare_headers + frames + others < kLinesToLookAt && lines.next(line)) {
    if (trim(line).empty() || is_comment(line)) continue;
    if (line.find('\0') != std::string_view::npos) return false;
    if (perfscript::is_other_record(line)) continue;
    const auto frame = perfscript::parse_frame(line);
    const auto header = perfscript::parse_header(line);
    const bool is_indented = line[0] == ' ' || line[0] == '\t';
    const bool is_full_frame = frame && !frame->symbol.empty() && frame->text.back() == ')';
    if (header && (header->is_certain() || !frame)) {
      ++headers;
      has_time |= header->time_ns.has_value();
      frames += header->frame.has_value();
    } else if (perfscript::parse_bare_header(line)) {
      ++bare_headers;
    } else if (frame && (is_indented || is_full_frame)) {
      ++frames;
      // Without headers a frame must be one beyond doubt: address, symbol and file.
      if (headers == 0 && !is_full_frame) return false;
    } else if (!perfscript::parse_source_line(line)) {
      ++others;
    }
  }
  // Bare headers are worth nothing without frames, and no more than there are frames.
  if (bare_headers > frames) return false;
  return (frames > 0 || has_time) && others <= (headers + frames) / 4;
}

Result<ProfileBatch> read_perfscript(std::string_view bytes, const ReadOptions& options) {
  return Reader(options).read(bytes);
}

}  // namespace vesta
