#include "formats/pprof/writer.h"

#include <fmt/format.h>

#include <cassert>
#include <deque>
#include <unordered_map>
#include <vector>

#include "base/hex.h"
#include "base/table_hash.h"
#include "base/utf8.h"
#include "formats/pprof/fields.h"
#include "formats/protobuf/wire.h"

namespace vesta {
namespace pprof {
namespace {

// Gives output ids from 1 to the entries in use, in the order of the table.
class Numbering {
 public:
  explicit Numbering(size_t entries) : ids_(entries) {}
  void use(size_t entry) { ids_[entry] = 1; }
  void number() {
    uint64_t next = 0;
    for (uint32_t& id : ids_) {
      if (id != 0) id = static_cast<uint32_t>(++next);
    }
  }
  uint32_t id(size_t entry) const { return ids_[entry]; }

 private:
  std::vector<uint32_t> ids_;  // 0: not in use
};

// The output's string table, in order of first use.
class Strings {
 public:
  explicit Strings(const StringTable& source) : source_(source), indices_(source.size()) {}

  uint64_t index(StringId id) {
    uint32_t& at = indices_[id.index()];
    if (at == 0 && !source_[id].empty()) {
      texts_.push_back(source_[id]);
      at = static_cast<uint32_t>(texts_.size());
    }
    return at;
  }
  // A label whose text is index 0 would be read as a number; an empty text is another entry.
  uint64_t text_index(StringId id) {
    if (!source_[id].empty()) return index(id);
    if (empty_text_ == 0) empty_text_ = add({});
    return empty_text_;
  }
  uint64_t add(std::string text) {
    texts_.push_back(owned_.emplace_back(std::move(text)));
    return texts_.size();
  }
  void write(WireWriter& out) const {
    out.always_bytes(profile::kStringTable, {});
    for (const std::string_view text : texts_) {
      if (is_valid_utf8(text)) {
        out.always_bytes(profile::kStringTable, text);
      } else {
        out.always_bytes(profile::kStringTable, replace_invalid_utf8(text));
      }
    }
  }

 private:
  const StringTable& source_;
  std::vector<uint32_t> indices_;
  std::vector<std::string_view> texts_;
  std::deque<std::string> owned_;
  uint64_t empty_text_ = 0;
};

class Writer {
 public:
  Writer(const Dictionary& dictionary, const Profile& profile)
      : dictionary_(dictionary),
        profile_(profile),
        strings_(dictionary_.strings),
        locations_(dictionary_.locations.size()),
        functions_(dictionary_.functions.size()),
        mappings_(dictionary_.mappings.size()) {}

  std::string run() {
    number_entries();
    for (const SampleType& type : profile_.sample_types)
      write_value_type(profile::kSampleType, type);
    for (size_t row = 0; row < profile_.samples.size(); ++row) write_sample(row);
    for (size_t i = 0; i < dictionary_.mappings.size(); ++i) {
      if (mappings_.id(i) != 0) write_mapping(i);
    }
    for (size_t i = 0; i < dictionary_.locations.size(); ++i) {
      if (locations_.id(i) != 0) write_location(i);
    }
    for (size_t i = 0; i < dictionary_.functions.size(); ++i) {
      if (functions_.id(i) != 0) write_function(i);
    }
    write_profile_fields();
    strings_.write(out_);
    return out_.take();
  }

 private:
  void number_entries() {
    std::vector<bool> seen(dictionary_.stacks.size());
    for (const StackId stack : profile_.samples.stacks) {
      if (seen[stack.index()]) continue;
      seen[stack.index()] = true;
      for (const LocationId location : dictionary_.stacks[stack]) locations_.use(location.index());
    }
    locations_.number();
    for (size_t i = 0; i < dictionary_.locations.size(); ++i) {
      if (locations_.id(i) == 0) continue;
      for (const Line& entry : dictionary_.lines[LocationId(i)])
        functions_.use(entry.function.index());
      if (const MappingId m = dictionary_.locations[i].mapping) mappings_.use(m.index());
    }
    functions_.number();
    mappings_.number();
  }

  void write_value_type(uint32_t field, const SampleType& type) {
    message_.clear();
    message_.uint64(value_type::kType, strings_.index(type.type));
    message_.uint64(value_type::kUnit, strings_.index(type.unit));
    out_.message(field, message_);
  }

  void write_sample(size_t row) {
    const Samples& samples = profile_.samples;
    message_.clear();
    message_.packed(sample::kLocationId, dictionary_.stacks[samples.stacks[row]],
                    [&](LocationId id) { return locations_.id(id.index()); });
    message_.packed(sample::kValue, profile_.values(row), [](int64_t value) { return value; });
    bool has_trace = false;
    bool has_span = false;
    bool has_time = false;
    for (const Label& entry : dictionary_.label_sets[samples.label_set(row)]) {
      write_label(entry);
      const std::string_view key = dictionary_.string(entry.key);
      if (entry.kind == LabelKind::kString) {
        has_trace |= key == kTraceIdLabel;
        has_span |= key == kSpanIdLabel;
      } else {
        has_time |= key == kTimestampLabel || key == kEndTimestampLabel;
      }
    }
    if (const LinkId id = samples.link(row)) write_link(id, !has_trace, !has_span);
    if (const int64_t time_ns = samples.time_ns(row); time_ns != 0 && !has_time) {
      label_.clear();
      label_.uint64(label::kKey, own_string(timestamp_key_, kTimestampLabel));
      label_.int64(label::kNum, time_ns);
      label_.uint64(label::kNumUnit, own_string(nanoseconds_, "nanoseconds"));
      message_.message(sample::kLabel, label_);
    }
    out_.message(profile::kSample, message_);
  }

  void write_label(const Label& entry) {
    label_.clear();
    label_.uint64(label::kKey, strings_.index(entry.key));
    if (entry.kind == LabelKind::kString) {
      label_.uint64(label::kStr, strings_.text_index(entry.text));
    } else {
      label_.int64(label::kNum, entry.number);
      label_.uint64(label::kNumUnit, strings_.index(entry.unit));
    }
    message_.message(sample::kLabel, label_);
  }

  void write_link(LinkId id, bool trace_wanted, bool span_wanted) {
    const Link& link = dictionary_.links[id.index()];
    if (trace_wanted && link.trace_id != Link().trace_id)
      write_id_label(own_string(trace_key_, kTraceIdLabel), to_hex(link.trace_id));
    if (span_wanted && link.span_id != Link().span_id)
      write_id_label(own_string(span_key_, kSpanIdLabel), to_hex(link.span_id));
  }

  void write_id_label(uint64_t key, const std::string& id) {
    const auto [at, is_new] = id_strings_.try_emplace(id, 0);
    if (is_new) at->second = strings_.add(id);
    label_.clear();
    label_.uint64(label::kKey, key);
    label_.uint64(label::kStr, at->second);
    message_.message(sample::kLabel, label_);
  }

  uint64_t own_string(uint64_t& index, const char* text) {
    if (index == 0) index = strings_.add(text);
    return index;
  }

  void write_mapping(size_t i) {
    const Mapping& m = dictionary_.mappings[i];
    message_.clear();
    message_.uint64(mapping::kId, mappings_.id(i));
    message_.uint64(mapping::kMemoryStart, m.start);
    message_.uint64(mapping::kMemoryLimit, m.limit);
    message_.uint64(mapping::kFileOffset, m.file_offset);
    message_.uint64(mapping::kFilename, strings_.index(m.file));
    message_.uint64(mapping::kBuildId, strings_.index(m.build_id));
    message_.boolean(mapping::kHasFunctions, m.has_functions);
    message_.boolean(mapping::kHasFilenames, m.has_filenames);
    message_.boolean(mapping::kHasLineNumbers, m.has_line_numbers);
    message_.boolean(mapping::kHasInlineFrames, m.has_inline_frames);
    out_.message(profile::kMapping, message_);
  }

  void write_location(size_t i) {
    const Location& place = dictionary_.locations[i];
    message_.clear();
    message_.uint64(location::kId, locations_.id(i));
    if (place.mapping) message_.uint64(location::kMappingId, mappings_.id(place.mapping.index()));
    message_.uint64(location::kAddress, place.address);
    for (const Line& entry : dictionary_.lines[LocationId(i)]) {
      line_.clear();
      line_.uint64(line::kFunctionId, functions_.id(entry.function.index()));
      line_.int64(line::kLine, entry.line);
      line_.uint64(line::kColumn, entry.column);
      message_.message(location::kLine, line_);
    }
    message_.boolean(location::kIsFolded, place.is_folded);
    out_.message(profile::kLocation, message_);
  }

  void write_function(size_t i) {
    const Function& f = dictionary_.functions[i];
    message_.clear();
    message_.uint64(function::kId, functions_.id(i));
    message_.uint64(function::kName, strings_.index(f.name));
    message_.uint64(function::kSystemName, strings_.index(f.system_name));
    message_.uint64(function::kFilename, strings_.index(f.file));
    message_.int64(function::kStartLine, f.start_line);
    out_.message(profile::kFunction, message_);
  }

  void write_profile_fields() {
    out_.uint64(profile::kDropFrames, strings_.index(profile_.drop_frames));
    out_.uint64(profile::kKeepFrames, strings_.index(profile_.keep_frames));
    out_.int64(profile::kTimeNanos, profile_.time_ns);
    out_.int64(profile::kDurationNanos, profile_.duration_ns);
    const SampleType& period_type = profile_.period_type;
    if (period_type.type || period_type.unit) write_value_type(profile::kPeriodType, period_type);
    out_.int64(profile::kPeriod, profile_.period);
    std::vector<uint64_t> comments;
    for (const StringId comment : profile_.comments) comments.push_back(strings_.index(comment));
    for (const Loss& loss : profile_.losses) {
      comments.push_back(strings_.add(
          fmt::format("{}{} {}", kLossComment, loss.count, dictionary_.string(loss.reason))));
    }
    out_.packed(profile::kComment, comments, [](uint64_t index) { return index; });
    // The last type is what readers show by default.
    if (profile_.default_type + size_t{1} < profile_.sample_types.size()) {
      out_.uint64(profile::kDefaultSampleType,
                  strings_.index(profile_.sample_types[profile_.default_type].type));
    }
    out_.uint64(profile::kDocUrl, strings_.index(profile_.doc_url));
  }

  const Dictionary& dictionary_;
  const Profile& profile_;
  Strings strings_;
  Numbering locations_;
  Numbering functions_;
  Numbering mappings_;
  WireWriter out_;
  WireWriter message_;  // scratch, one per level of nesting
  WireWriter label_;
  WireWriter line_;
  std::unordered_map<std::string, uint64_t, TableKeyHash> id_strings_;  // of links
  uint64_t timestamp_key_ = 0;
  uint64_t nanoseconds_ = 0;
  uint64_t trace_key_ = 0;
  uint64_t span_key_ = 0;
};

}  // namespace
}  // namespace pprof

std::string write_pprof(const ProfileBatch& batch) {
  assert(batch.profiles.size() == 1);
  return write_pprof(batch.dictionary, batch.profiles.front());
}

std::string write_pprof(const Dictionary& dictionary, const Profile& profile) {
  return pprof::Writer(dictionary, profile).run();
}

}  // namespace vesta
