#include "formats/speedscope/writer.h"

#include <fmt/format.h>

#include <vector>

#include "base/json_writer.h"
#include "base/units.h"
#include "profile/dictionary_builder.h"
#include "profile/frame_name.h"

namespace vesta {
namespace {

// A unit that speedscope knows, and what values are to be multiplied with to be in it.
struct OutputUnit {
  std::string_view name = "none";
  double factor = 1;
};

OutputUnit output_unit(std::string_view unit_name) {
  const Unit unit = parse_unit(unit_name);
  if (unit.kind == UnitKind::kMemory) return {"bytes", unit.to_base};
  if (unit.kind != UnitKind::kTime) return {};
  if (unit.to_base == 1) return {"nanoseconds", 1};
  if (unit.to_base == 1e3) return {"microseconds", 1};
  if (unit.to_base == 1e6) return {"milliseconds", 1};
  return {"seconds", unit.to_base / 1e9};
}

void write_number(JsonWriter& json, int64_t value, double factor) {
  if (factor == 1) {
    json.number(value);
  } else {
    json.number(static_cast<double>(value) * factor);
  }
}

// The frames of the file, each once, and which of them every location stands for, root side first.
class FrameList {
 public:
  explicit FrameList(const Dictionary& dictionary)
      : dictionary_(dictionary), builder_(unique_), indices_(dictionary.locations.size()) {}

  const std::vector<int64_t>& operator[](LocationId location) {
    std::vector<int64_t>& indices = indices_[location.index()];
    if (!indices.empty()) return indices;
    const auto lines = dictionary_.lines[location];
    for (size_t at = frame_count(dictionary_, location); at-- > 0;) {
      Line line;
      std::string_view file;
      if (at < lines.size()) {
        line = lines[at];
        file = dictionary_.string(dictionary_.function(line.function).file);
      }
      line.function = builder_.function(frame_name(dictionary_, location, at), file);
      // Location 0 is the empty one.
      indices.push_back(int64_t{builder_.location({}, std::span<const Line>(&line, 1)).value} - 1);
    }
    return indices;
  }

  void write(JsonWriter& json) const {
    json.begin_array();
    for (size_t at = 1; at < unique_.locations.size(); ++at) {
      const Line& line = unique_.lines[LocationId(at)][0];
      const Function& function = unique_.function(line.function);
      json.begin_object().field("name", unique_.string(function.name));
      if (function.file) json.field("file", unique_.string(function.file));
      if (line.line > 0) json.field("line", line.line);
      if (line.column > 0) json.field("col", int64_t{line.column});
      json.end_object();
    }
    json.end_array();
  }

 private:
  const Dictionary& dictionary_;
  Dictionary unique_;
  DictionaryBuilder builder_;
  std::vector<std::vector<int64_t>> indices_;
};

void write_profile(JsonWriter& json, const Dictionary& dictionary, const Profile& profile,
                   size_t type, FrameList& frames) {
  const OutputUnit unit = output_unit(dictionary.string(profile.sample_types[type].unit));
  const std::string_view type_name = dictionary.string(profile.sample_types[type].type);
  const std::string_view name = dictionary.string(profile.name);
  json.begin_object();
  json.field("type", "sampled");
  json.field("name", name.empty() ? std::string(type_name) : fmt::format("{} {}", name, type_name));
  json.field("unit", unit.name);
  json.field("startValue", int64_t{0});
  json.key("endValue");
  write_number(json, total_of(profile, type), unit.factor);
  json.key("samples").begin_array();
  for (size_t row = 0; row < profile.samples.size(); ++row) {
    if (profile.value(row, type) == 0) continue;
    json.begin_array();
    const auto stack = dictionary.stacks[profile.samples.stacks[row]];
    for (size_t at = stack.size(); at-- > 0;) {
      for (const int64_t frame : frames[stack[at]]) json.number(frame);
    }
    json.end_array();
  }
  json.end_array();
  json.key("weights").begin_array();
  for (size_t row = 0; row < profile.samples.size(); ++row) {
    const int64_t value = profile.value(row, type);
    if (value != 0) write_number(json, value, unit.factor);
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string write_speedscope(const ProfileBatch& batch, std::string_view name) {
  JsonWriter json;
  FrameList frames(batch.dictionary);
  json.begin_object();
  json.field("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.field("exporter", "vesta");
  json.field("name", name);
  const bool has_active = !batch.profiles.empty() && !batch.profiles[0].sample_types.empty();
  json.field("activeProfileIndex",
             has_active ? int64_t{batch.profiles[0].default_type} : int64_t{0});
  json.key("profiles").begin_array();
  for (const Profile& profile : batch.profiles) {
    for (size_t type = 0; type < profile.sample_types.size(); ++type) {
      write_profile(json, batch.dictionary, profile, type, frames);
    }
  }
  json.end_array();
  json.key("shared").begin_object().key("frames");
  frames.write(json);
  json.end_object();
  json.end_object();
  return json.take();
}

}  // namespace vesta
