// What samples refer to: strings, functions, mappings, locations, stacks, label sets and links,
// each stored once. Plain data owned by value; entry 0 of every table is the empty one. Not
// thread-safe for writing. Readers fill it directly when their input has tables, or through
// DictionaryBuilder when it has not.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "profile/ids.h"
#include "profile/list_table.h"
#include "profile/string_table.h"

namespace vesta {

// Who runs a frame. The words are those of OpenTelemetry's `profile.frame.type`.
enum class FrameKind : uint8_t {
  kUnknown,
  kNative,
  kKernel,
  kGo,
  kRust,
  kJvm,
  kCpython,
  kV8js,
  kRuby,
  kPhp,
  kPerl,
  kDotnet,
  kBeam,
  kLuajit,
};

// "native", "kernel", "jvm" …; empty for kUnknown.
std::string_view frame_kind_name(FrameKind kind);
// kUnknown for a word that is none of them.
FrameKind frame_kind_from_name(std::string_view name);

struct Function {
  StringId name;         // for people, demangled
  StringId system_name;  // as the linker knows it
  StringId file;
  int64_t start_line = 0;
  friend bool operator==(const Function&, const Function&) = default;
};

struct Mapping {
  uint64_t start = 0;
  uint64_t limit = 0;
  uint64_t file_offset = 0;
  StringId file;
  StringId build_id;  // or what stands for it: see binary_identity.h
  // What a symbolizer has already done, as pprof records it.
  bool has_functions = false;
  bool has_filenames = false;
  bool has_line_numbers = false;
  bool has_inline_frames = false;
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

struct Line {
  FunctionId function;
  uint32_t column = 0;
  int64_t line = 0;
  friend bool operator==(const Line&, const Line&) = default;
};

struct Location {
  uint64_t address = 0;
  MappingId mapping;
  FrameKind kind = FrameKind::kUnknown;
  bool is_folded = false;  // pprof: several locations share this address
  friend bool operator==(const Location&, const Location&) = default;
};

enum class LabelKind : uint32_t { kString, kNumber };

struct Label {
  StringId key;
  LabelKind kind = LabelKind::kString;
  StringId text;       // kString
  StringId unit;       // kNumber
  int64_t number = 0;  // kNumber
  friend bool operator==(const Label&, const Label&) = default;
};

// A place in a distributed trace.
struct Link {
  std::array<uint8_t, 16> trace_id{};
  std::array<uint8_t, 8> span_id{};
  friend auto operator<=>(const Link&, const Link&) = default;
};

struct Dictionary {
  StringTable strings;
  std::vector<Function> functions{1};
  std::vector<Mapping> mappings{1};
  std::vector<Location> locations{1};
  ListTable<LocationId, Line> lines;      // of each location, innermost inlined function first
  ListTable<StackId, LocationId> stacks;  // leaf first
  ListTable<LabelSetId, Label> label_sets;
  std::vector<Link> links{1};

  // Appends a location with its lines; the two tables always have the same length.
  LocationId add_location(const Location& location, std::span<const Line> location_lines) {
    locations.push_back(location);
    lines.add(location_lines);
    return LocationId(locations.size() - 1);
  }

  std::string_view string(StringId id) const { return strings[id]; }
  const Function& function(FunctionId id) const { return functions[id.index()]; }
  const Mapping& mapping(MappingId id) const { return mappings[id.index()]; }
  const Location& location(LocationId id) const { return locations[id.index()]; }
};

}  // namespace vesta
