#include "profile/profile.h"

#include <fmt/format.h>

#include <limits>

namespace vesta {

void Profile::add_sample(StackId stack, std::span<const int64_t> row_values, LabelSetId labels,
                         LinkId link, int64_t event_time_ns) {
  const size_t rows = samples.size();
  samples.stacks.push_back(stack);
  if (labels || !samples.labels.empty()) {
    samples.labels.resize(rows);
    samples.labels.push_back(labels);
  }
  if (link || !samples.links.empty()) {
    samples.links.resize(rows);
    samples.links.push_back(link);
  }
  if (event_time_ns != 0 || !samples.times_ns.empty()) {
    samples.times_ns.resize(rows);
    samples.times_ns.push_back(event_time_ns);
  }
  samples.values.insert(samples.values.end(), row_values.begin(), row_values.end());
}

void Profile::add_loss(StringId reason, uint64_t count) {
  if (count == 0) return;
  for (Loss& loss : losses) {
    if (loss.reason == reason) {
      if (__builtin_add_overflow(loss.count, count, &loss.count))
        loss.count = std::numeric_limits<uint64_t>::max();
      return;
    }
  }
  losses.push_back({reason, count});
}

int64_t total_of(const Profile& profile, size_t type) {
  int64_t total = 0;
  for (size_t row = 0; row < profile.samples.size(); ++row)
    total = saturating_add(total, profile.value(row, type));
  return total;
}

namespace {

std::string find_dictionary_inconsistency(const Dictionary& d) {
  const auto bad_string = [&](StringId id) { return id.index() >= d.strings.size(); };
  for (size_t i = 0; i < d.functions.size(); ++i) {
    const Function& f = d.functions[i];
    if (bad_string(f.name) || bad_string(f.system_name) || bad_string(f.file))
      return fmt::format("function {}: string", i);
  }
  for (size_t i = 0; i < d.mappings.size(); ++i) {
    if (bad_string(d.mappings[i].file) || bad_string(d.mappings[i].build_id))
      return fmt::format("mapping {}: string", i);
  }
  if (d.lines.size() != d.locations.size()) return "locations and lines differ in number";
  for (size_t i = 0; i < d.locations.size(); ++i) {
    if (d.locations[i].mapping.index() >= d.mappings.size())
      return fmt::format("location {}: mapping", i);
    for (const Line& line : d.lines[LocationId(i)]) {
      if (line.function.index() >= d.functions.size())
        return fmt::format("location {}: function", i);
    }
  }
  for (size_t i = 0; i < d.stacks.size(); ++i) {
    for (const LocationId location : d.stacks[StackId(i)]) {
      if (location.index() >= d.locations.size()) return fmt::format("stack {}: location", i);
    }
  }
  for (size_t i = 0; i < d.label_sets.size(); ++i) {
    for (const Label& label : d.label_sets[LabelSetId(i)]) {
      if (bad_string(label.key) || bad_string(label.text) || bad_string(label.unit)) {
        return fmt::format("label set {}: string", i);
      }
    }
  }
  return {};
}

template <class Column, class Table>
bool column_ok(const Column& column, size_t rows, const Table& table) {
  if (!column.empty() && column.size() != rows) return false;
  for (const auto id : column) {
    if (id.index() >= table.size()) return false;
  }
  return true;
}

}  // namespace

std::string find_inconsistency(const ProfileBatch& batch) {
  const Dictionary& d = batch.dictionary;
  if (std::string problem = find_dictionary_inconsistency(d); !problem.empty()) return problem;
  for (size_t i = 0; i < batch.profiles.size(); ++i) {
    const Profile& p = batch.profiles[i];
    const size_t rows = p.samples.size();
    const auto say = [i](std::string_view what) { return fmt::format("profile {}: {}", i, what); };
    if (p.resource.index() >= d.label_sets.size()) return say("resource");
    for (const StringId text : {p.name, p.doc_url, p.drop_frames, p.keep_frames, p.period_type.type,
                                p.period_type.unit}) {
      if (text.index() >= d.strings.size()) return say("a string of the header");
    }
    for (const SampleType& type : p.sample_types) {
      if (type.type.index() >= d.strings.size() || type.unit.index() >= d.strings.size())
        return say("sample type");
    }
    if (!p.sample_types.empty() && p.default_type >= p.sample_types.size())
      return say("default type");
    for (const StringId comment : p.comments) {
      if (comment.index() >= d.strings.size()) return say("comment");
    }
    for (const Loss& loss : p.losses) {
      if (loss.reason.index() >= d.strings.size()) return say("loss");
    }
    if (!column_ok(p.samples.stacks, rows, d.stacks)) return say("stacks column");
    if (!column_ok(p.samples.labels, rows, d.label_sets)) return say("labels column");
    if (!column_ok(p.samples.links, rows, d.links)) return say("links column");
    if (!p.samples.times_ns.empty() && p.samples.times_ns.size() != rows)
      return say("times column");
    if (p.samples.values.size() != rows * p.sample_types.size()) return say("values column");
  }
  return {};
}

}  // namespace vesta
