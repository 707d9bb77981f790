// Small pprof files made field by field, and profiles as text to compare: for the tests of this
// folder only.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/pprof/fields.h"
#include "formats/protobuf/wire.h"
#include "profile/profile.h"

namespace vesta::pprof {

// Appends messages as they are asked for, right or wrong; the strings come last.
class FileBuilder {
 public:
  FileBuilder() : strings_{""} {}

  uint64_t string(std::string_view text) {
    const auto at = std::ranges::find(strings_, text);
    if (at != strings_.end()) return static_cast<uint64_t>(at - strings_.begin());
    strings_.emplace_back(text);
    return strings_.size() - 1;
  }
  void sample_type(std::string_view type, std::string_view unit) {
    WireWriter m;
    m.uint64(value_type::kType, string(type));
    m.uint64(value_type::kUnit, string(unit));
    out.message(profile::kSampleType, m);
  }
  void mapping(uint64_t id, std::string_view file) {
    WireWriter m;
    m.uint64(mapping::kId, id);
    m.uint64(mapping::kMemoryStart, 0x1000);
    m.uint64(mapping::kMemoryLimit, 0x2000);
    m.uint64(mapping::kFilename, string(file));
    out.message(profile::kMapping, m);
  }
  void function(uint64_t id, std::string_view name, std::string_view file = {}) {
    WireWriter m;
    m.uint64(function::kId, id);
    m.uint64(function::kName, string(name));
    m.uint64(function::kFilename, string(file));
    out.message(profile::kFunction, m);
  }
  void location(uint64_t id, const std::vector<uint64_t>& function_ids, uint64_t mapping_id = 0) {
    WireWriter m;
    m.uint64(location::kId, id);
    m.uint64(location::kMappingId, mapping_id);
    for (const uint64_t function_id : function_ids) {
      WireWriter l;
      l.uint64(line::kFunctionId, function_id);
      l.int64(line::kLine, 7);
      m.message(location::kLine, l);
    }
    out.message(profile::kLocation, m);
  }
  // `extra` is appended to the message: labels, or whatever a test needs.
  void sample(const std::vector<uint64_t>& ids, const std::vector<int64_t>& values,
              std::string_view extra = {}) {
    WireWriter m;
    m.packed(sample::kLocationId, ids, [](uint64_t id) { return id; });
    m.packed(sample::kValue, values, [](int64_t value) { return value; });
    out.always_bytes(profile::kSample, m.take() + std::string(extra));
  }
  std::string text_label(std::string_view key, std::string_view value) {
    WireWriter m;
    m.uint64(label::kKey, string(key));
    m.uint64(label::kStr, string(value));
    return label_field(m);
  }
  std::string number_label(std::string_view key, int64_t value, std::string_view unit = {}) {
    WireWriter m;
    m.uint64(label::kKey, string(key));
    m.int64(label::kNum, value);
    m.uint64(label::kNumUnit, string(unit));
    return label_field(m);
  }
  static std::string label_field(const WireWriter& message) {
    WireWriter field;
    field.message(sample::kLabel, message);
    return field.take();
  }
  std::string finish() {
    for (const std::string& text : strings_) out.always_bytes(profile::kStringTable, text);
    return out.take();
  }

  // One type, two functions, two locations and the two stacks they make.
  static FileBuilder small() {
    FileBuilder file;
    file.sample_type("cpu", "nanoseconds");
    file.function(1, "main.main", "main.go");
    file.function(2, "main.work", "work.go");
    file.location(1, {1});
    file.location(2, {2});
    file.sample({2, 1}, {30});
    file.sample({1}, {5});
    return file;
  }

  WireWriter out;

 private:
  std::vector<std::string> strings_;
};

inline std::string describe_frame(const Dictionary& d, LocationId id) {
  const Location& place = d.location(id);
  const Mapping& m = d.mapping(place.mapping);
  std::string out = fmt::format(
      "{:#x}{}@{}+{:x}-{:x}+{:x}#{}/{}{}{}{}", place.address, place.is_folded ? "~" : "",
      d.string(m.file), m.start, m.limit, m.file_offset, d.string(m.build_id), int{m.has_functions},
      int{m.has_filenames}, int{m.has_line_numbers}, int{m.has_inline_frames});
  for (const Line& l : d.lines[id]) {
    const Function& f = d.function(l.function);
    out += fmt::format(" {}|{}|{}:{}+{}:{}", d.string(f.name), d.string(f.system_name),
                       d.string(f.file), f.start_line, l.line, l.column);
  }
  return out;
}

inline std::string describe_labels(const Dictionary& d, LabelSetId set) {
  std::vector<std::string> texts;
  for (const Label& l : d.label_sets[set]) {
    texts.push_back(l.kind == LabelKind::kString
                        ? fmt::format("{}=\"{}\"", d.string(l.key), d.string(l.text))
                        : fmt::format("{}={} {}", d.string(l.key), l.number, d.string(l.unit)));
  }
  std::ranges::sort(texts);
  return fmt::format("{}", fmt::join(texts, ","));
}

// Everything that pprof can keep, with names instead of ids.
inline std::string describe(const ProfileBatch& batch) {
  const Dictionary& d = batch.dictionary;
  const Profile& p = batch.profiles.front();
  std::string out;
  for (const SampleType& t : p.sample_types)
    out += fmt::format("type {}/{}/{}\n", d.string(t.type), d.string(t.unit), int(t.temporality));
  out += fmt::format("default {} period {} {}/{} time {} duration {}\n", p.default_type, p.period,
                     d.string(p.period_type.type), d.string(p.period_type.unit), p.time_ns,
                     p.duration_ns);
  out += fmt::format("doc {} drop {} keep {}\n", d.string(p.doc_url), d.string(p.drop_frames),
                     d.string(p.keep_frames));
  for (const StringId comment : p.comments) out += fmt::format("comment {}\n", d.string(comment));
  for (const Loss& loss : p.losses)
    out += fmt::format("loss {} {}\n", loss.count, d.string(loss.reason));
  for (size_t row = 0; row < p.samples.size(); ++row) {
    const Link& link = d.links[p.samples.link(row).index()];
    out += fmt::format("sample {} labels {{{}}} link {:02x}-{:02x} time {}\n",
                       fmt::join(p.values(row), " "), describe_labels(d, p.samples.label_set(row)),
                       fmt::join(link.trace_id, ""), fmt::join(link.span_id, ""),
                       p.samples.time_ns(row));
    for (const LocationId location : d.stacks[p.samples.stacks[row]])
      out += fmt::format("  {}\n", describe_frame(d, location));
  }
  return out;
}

}  // namespace vesta::pprof
