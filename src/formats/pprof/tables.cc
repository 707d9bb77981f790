#include "formats/pprof/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "formats/pprof/fields.h"
#include "formats/protobuf/packed_varints.h"
#include "formats/protobuf/wire.h"

namespace vesta::pprof {
namespace {

// The message in the field that starts at `offset`; outline_of() has checked that it is one.
WireReader message_at(std::string_view bytes, uint32_t offset) {
  WireReader reader(bytes.substr(offset), bytes.data());
  reader.next();
  return reader.message();
}

Error malformed_message(std::string_view name, const WireReader& reader) {
  return malformed(reader.offset(), fmt::format("{}: {}", name, reader.problem()));
}

Error wrong_type(std::string_view name, const WireReader& reader) {
  return malformed(reader.offset(), fmt::format("{}: field {} has wire type {}", name,
                                                reader.field(), static_cast<int>(reader.type())));
}

Error bad_string(size_t offset, std::string_view field, uint64_t index, size_t count) {
  return malformed(offset, fmt::format("{}: string {} of a table of {}", field, index, count));
}

Error bad_id(uint64_t id, std::string_view name, uint32_t offset) {
  if (id == 0) return malformed(offset, fmt::format("{}.id: must not be 0", name));
  return malformed(offset, fmt::format("{}.id: duplicate {}", name, id));
}

// Reads varint fields that stand in the order of their numbers, each there at most once, without a
// look at where their message ends: the caller does, when it has read them all, and goes another
// way when they do not end there.
class PlainFields {
 public:
  // A field takes a byte and a varint of ten at most.
  static constexpr ptrdiff_t kFieldBytes = 11;

  PlainFields(const char* at, const char* readable_end) : at_(at), readable_end_(readable_end) {}

  const char* at() const { return at_; }
  bool can_read(ptrdiff_t bytes) const { return readable_end_ - at_ >= bytes; }

  // The field, or 0 when another one stands here. REQUIRES: kFieldBytes can be read.
  [[gnu::always_inline]] uint64_t field(uint32_t number) {
    if (static_cast<uint8_t>(*at_) != number << 3) return 0;
    // Nearly all are ids and line numbers of one or two bytes, of which runs have the same length.
    const uint64_t first = static_cast<uint8_t>(at_[1]);
    if (first < 0x80) {
      at_ += 2;
      return first;
    }
    const uint64_t second = static_cast<uint8_t>(at_[2]);
    if (second < 0x80) {
      at_ += 3;
      return second << 7 | (first & 0x7F);
    }
    const LongVarint found = long_varint(at_ + 1);
    at_ = found.end;
    return found.value;
  }

  // Where the message ends that starts here, in a field of that number; null when another one
  // stands here or the message has 128 bytes or more. REQUIRES: two bytes can be read.
  const char* open_message(uint32_t number) {
    const auto length = static_cast<uint8_t>(at_[1]);
    if (static_cast<uint8_t>(*at_) != (number << 3 | 2) || length >= 0x80) return nullptr;
    at_ += 2;
    return at_ + length;
  }

 private:
  struct LongVarint {
    uint64_t value;
    const char* end;
  };
  // What is longer than ten bytes is no varint: it stays unread.
  static LongVarint long_varint(const char* at) {
    uint64_t value = 0;
    const char* const end = read_packed_varint(at, at + 10, at + 10, value);
    return end == nullptr ? LongVarint{0, at - 1} : LongVarint{value, end};
  }

  const char* at_;
  const char* readable_end_;
};

}  // namespace

FrameKind kind_of_mapping(std::string_view file) {
  if (file.starts_with("[kernel") || file.starts_with("[guest.kernel")) return FrameKind::kKernel;
  const std::string_view base = file.substr(file.rfind('/') + 1);
  return base.starts_with("vmlinux") ? FrameKind::kKernel : FrameKind::kUnknown;
}

FrameKind kind_of_source(std::string_view file) {
  const size_t dot = file.rfind('.');
  if (dot == std::string_view::npos || file.size() - dot > 5) return FrameKind::kUnknown;
  const std::string_view suffix = file.substr(dot + 1);
  if (suffix == "go") return FrameKind::kGo;
  if (suffix == "java") return FrameKind::kJvm;
  if (suffix == "py") return FrameKind::kCpython;
  if (suffix == "rs") return FrameKind::kRust;
  if (suffix == "js" || suffix == "ts" || suffix == "mjs" || suffix == "cjs")
    return FrameKind::kV8js;
  return FrameKind::kUnknown;
}

TableDecoder::TableDecoder(std::string_view bytes, const Outline& outline, Dictionary& dictionary)
    : bytes_(bytes),
      outline_(outline),
      dictionary_(dictionary),
      mapping_ids_(outline.mappings.size()),
      function_ids_(outline.functions.size()),
      location_ids_(outline.locations.size()) {}

Status TableDecoder::run() {
  VESTA_TRY(decode_mappings());
  VESTA_TRY(decode_functions());
  return decode_locations();
}

Status TableDecoder::decode_mappings() {
  const size_t strings = dictionary_.strings.size();
  dictionary_.mappings.reserve(outline_.mappings.size() + 1);
  for (const uint32_t offset : outline_.mappings) {
    Mapping entry;
    uint64_t id = 0;
    uint64_t file = 0;
    uint64_t build_id = 0;
    WireReader reader = message_at(bytes_, offset);
    while (reader.next()) {
      if (reader.type() != WireType::kVarint) {
        if (reader.field() <= mapping::kHasInlineFrames) return wrong_type("mapping", reader);
        reader.skip();
        continue;
      }
      const uint64_t value = reader.varint();
      switch (reader.field()) {
        case mapping::kId:
          id = value;
          break;
        case mapping::kMemoryStart:
          entry.start = value;
          break;
        case mapping::kMemoryLimit:
          entry.limit = value;
          break;
        case mapping::kFileOffset:
          entry.file_offset = value;
          break;
        case mapping::kFilename:
          file = value;
          break;
        case mapping::kBuildId:
          build_id = value;
          break;
        case mapping::kHasFunctions:
          entry.has_functions = value != 0;
          break;
        case mapping::kHasFilenames:
          entry.has_filenames = value != 0;
          break;
        case mapping::kHasLineNumbers:
          entry.has_line_numbers = value != 0;
          break;
        case mapping::kHasInlineFrames:
          entry.has_inline_frames = value != 0;
          break;
        default:
          break;
      }
    }
    if (!reader.ok()) return malformed_message("mapping", reader);
    if (id == 0 || !mapping_ids_.add(id)) return bad_id(id, "mapping", offset);
    if (file >= strings) return bad_string(offset, "mapping.filename", file, strings);
    if (build_id >= strings) return bad_string(offset, "mapping.build_id", build_id, strings);
    entry.file = StringId(file);
    entry.build_id = StringId(build_id);
    dictionary_.mappings.push_back(entry);
    mapping_kinds_.push_back(kind_of_mapping(dictionary_.string(entry.file)));
  }
  return {};
}

Status TableDecoder::decode_functions() {
  const size_t strings = dictionary_.strings.size();
  dictionary_.functions.reserve(outline_.functions.size() + 1);
  function_kinds_.reserve(outline_.functions.size() + 1);
  source_kinds_.resize(strings);
  for (const uint32_t offset : outline_.functions) {
    if (decode_plain_function(offset)) continue;
    uint64_t id = 0;
    uint64_t name = 0;
    uint64_t system_name = 0;
    uint64_t file = 0;
    Function entry;
    WireReader reader = message_at(bytes_, offset);
    while (reader.next()) {
      if (reader.type() != WireType::kVarint) {
        if (reader.field() <= function::kStartLine) return wrong_type("function", reader);
        reader.skip();
        continue;
      }
      const uint64_t value = reader.varint();
      switch (reader.field()) {
        case function::kId:
          id = value;
          break;
        case function::kName:
          name = value;
          break;
        case function::kSystemName:
          system_name = value;
          break;
        case function::kFilename:
          file = value;
          break;
        case function::kStartLine:
          entry.start_line = static_cast<int64_t>(value);
          break;
        default:
          break;
      }
    }
    if (!reader.ok()) return malformed_message("function", reader);
    if (id == 0 && outline_.functions.size() == outline_.locations.size() &&
        dictionary_.functions.size() == nameless_ids_ + 1) {
      id = location_id_at(outline_.locations[nameless_ids_++]);
    } else if (nameless_ids_ > 0) {
      return bad_id(id, "function", offset);
    }
    if (id == 0 || !function_ids_.add(id)) return bad_id(id, "function", offset);
    if (name >= strings) return bad_string(offset, "function.name", name, strings);
    if (system_name >= strings)
      return bad_string(offset, "function.system_name", system_name, strings);
    if (file >= strings) return bad_string(offset, "function.filename", file, strings);
    entry.name = StringId(name);
    entry.system_name = StringId(system_name);
    entry.file = StringId(file);
    dictionary_.functions.push_back(entry);
    function_kinds_.push_back(kind_of_source_cached(entry.file));
  }
  return {};
}

uint64_t TableDecoder::location_id_at(uint32_t offset) const {
  WireReader reader = message_at(bytes_, offset);
  uint64_t id = 0;
  while (reader.next()) {
    if (reader.is(location::kId, WireType::kVarint)) {
      id = reader.varint();
    } else {
      reader.skip();
    }
  }
  return id;
}

bool TableDecoder::decode_plain_function(uint32_t offset) {
  PlainFields fields(bytes_.data() + offset, bytes_.data() + bytes_.size());
  if (!fields.can_read(2 + 5 * PlainFields::kFieldBytes)) return false;
  const char* const end = fields.open_message(profile::kFunction);
  if (end == nullptr) return false;
  const uint64_t id = fields.field(function::kId);
  const uint64_t name = fields.field(function::kName);
  const uint64_t system_name = fields.field(function::kSystemName);
  const uint64_t file = fields.field(function::kFilename);
  const uint64_t start_line = fields.field(function::kStartLine);
  if (fields.at() != end || std::max({name, system_name, file}) >= dictionary_.strings.size() ||
      id == 0 || nameless_ids_ > 0 || !function_ids_.add(id)) {
    return false;
  }
  dictionary_.functions.push_back(
      {StringId(name), StringId(system_name), StringId(file), static_cast<int64_t>(start_line)});
  function_kinds_.push_back(kind_of_source_cached(StringId(file)));
  return true;
}

FrameKind TableDecoder::kind_of_source_cached(StringId file) {
  uint8_t& known = source_kinds_[file.index()];
  if (known == 0) known = static_cast<uint8_t>(kind_of_source(dictionary_.string(file))) + 1;
  return static_cast<FrameKind>(known - 1);
}

Status TableDecoder::decode_locations() {
  const size_t count = outline_.locations.size();
  dictionary_.locations.reserve(count + 1);
  dictionary_.lines.reserve(count + 1, count);
  for (const uint32_t offset : outline_.locations) {
    if (decode_plain_location(offset)) continue;
    Location entry;
    uint64_t id = 0;
    uint64_t mapping_id = 0;
    WireReader reader = message_at(bytes_, offset);
    while (reader.next()) {
      if (reader.field() == location::kLine && reader.type() == WireType::kBytes) {
        const size_t line_offset = reader.offset();
        WireReader line = reader.message();
        if (!reader.ok()) break;
        if (!decode_line(line, line_offset)) return std::move(error_);
        continue;
      }
      if (reader.type() != WireType::kVarint || reader.field() == location::kLine) {
        if (reader.field() <= location::kIsFolded) return wrong_type("location", reader);
        reader.skip();
        continue;
      }
      const uint64_t value = reader.varint();
      switch (reader.field()) {
        case location::kId:
          id = value;
          break;
        case location::kMappingId:
          mapping_id = value;
          break;
        case location::kAddress:
          entry.address = value;
          break;
        case location::kIsFolded:
          entry.is_folded = value != 0;
          break;
        default:
          break;
      }
    }
    if (!reader.ok()) return malformed_message("location", reader);
    if (id == 0 || !location_ids_.add(id)) return bad_id(id, "location", offset);
    if (mapping_id != 0) {
      entry.mapping = MappingId(mapping_ids_.find(mapping_id));
      if (!entry.mapping) {
        return malformed(offset,
                         fmt::format("location.mapping_id: no mapping has the id {}", mapping_id));
      }
    }
    add_location(entry);
  }
  return {};
}

bool TableDecoder::decode_plain_location(uint32_t offset) {
  PlainFields fields(bytes_.data() + offset, bytes_.data() + bytes_.size());
  constexpr ptrdiff_t kMostBytes = 2 + 4 * PlainFields::kFieldBytes;
  if (!fields.can_read(kMostBytes)) return false;
  const char* const end = fields.open_message(profile::kLocation);
  if (end == nullptr) return false;
  const uint64_t id = fields.field(location::kId);
  const uint64_t mapping_id = fields.field(location::kMappingId);
  Location entry;
  entry.address = fields.field(location::kAddress);
  entry.mapping = MappingId(mapping_ids_.find(mapping_id));
  bool ok = id != 0 && (mapping_id == 0 || entry.mapping);
  while (ok && fields.at() < end && fields.can_read(kMostBytes)) {
    const char* const line_end = fields.open_message(location::kLine);
    if (line_end == nullptr) break;
    const FunctionId function(function_ids_.find(fields.field(line::kFunctionId)));
    const auto number = static_cast<int64_t>(fields.field(line::kLine));
    const uint64_t column = fields.field(line::kColumn);
    ok = function && column <= std::numeric_limits<uint32_t>::max() && fields.at() == line_end;
    dictionary_.lines.push({function, static_cast<uint32_t>(column), number});
  }
  if (!ok || fields.at() != end || !location_ids_.add(id)) {
    dictionary_.lines.discard_open();
    return false;
  }
  add_location(entry);
  return true;
}

// With the lines that were pushed for it.
void TableDecoder::add_location(Location entry) {
  const auto lines = dictionary_.lines.open_items();
  entry.kind = mapping_kinds_[entry.mapping.index()];
  if (entry.kind == FrameKind::kUnknown && !lines.empty())
    entry.kind = function_kinds_[lines.front().function.index()];
  dictionary_.lines.close();
  dictionary_.locations.push_back(entry);
}

bool TableDecoder::decode_line(WireReader& reader, size_t offset) {
  uint64_t function_id = 0;
  uint64_t column = 0;
  Line entry;
  while (reader.next()) {
    if (reader.type() != WireType::kVarint) {
      if (reader.field() <= line::kColumn) return fail(wrong_type("line", reader));
      reader.skip();
      continue;
    }
    const uint64_t value = reader.varint();
    switch (reader.field()) {
      case line::kFunctionId:
        function_id = value;
        break;
      case line::kLine:
        entry.line = static_cast<int64_t>(value);
        break;
      case line::kColumn:
        column = value;
        break;
      default:
        break;
    }
  }
  if (!reader.ok()) return fail(malformed_message("line", reader));
  entry.function = FunctionId(function_ids_.find(function_id));
  if (!entry.function) {
    return fail(
        malformed(offset, fmt::format("line.function_id: no function has the id {}", function_id)));
  }
  if (column > std::numeric_limits<uint32_t>::max())
    return fail(malformed(offset, fmt::format("line.column: {} is out of range", column)));
  entry.column = static_cast<uint32_t>(column);
  dictionary_.lines.push(entry);
  return true;
}

bool TableDecoder::fail(Error error) {
  error_ = std::move(error);
  return false;
}

}  // namespace vesta::pprof
