#include "formats/otlp/dictionary_reader.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "profile/binary_identity.h"

namespace vesta::otlp {
namespace {

// Twice what a hash takes; a longer text is none, and is not worth a second copy.
constexpr size_t kMaxFileHashBytes = 64;

// Calls `read(message, position)` for each entry of one table. Tables refer to each other, and
// writers put them in any order, so each takes its own walk over the dictionary. An entry 0 that is
// not empty, which some senders have, comes once more behind the others; `zero` says where.
template <class Read>
bool for_each_entry(Decoding& decoding, WireReader dictionary, uint32_t field, const char* table,
                    size_t& zero, Read&& read) {
  size_t position = 0;
  WireReader first;
  decoding.has_zero_entry = false;
  while (dictionary.next()) {
    if (dictionary.field() != field) {
      dictionary.skip();
      continue;
    }
    const Decoding::Part part(decoding, table, position);
    WireReader entry;
    if (!decoding.message(dictionary, "", entry)) return false;
    if (position == 0) first = entry;
    if (!read(entry, position)) return false;
    ++position;
  }
  if (!decoding.well_formed(dictionary)) return false;
  if (!decoding.has_zero_entry) return true;
  const Decoding::Part part(decoding, table, 0);
  zero = position;
  return read(first, position);
}

// The end of reading an entry: `add` puts it into its table, unless it is the first, of which is
// noted whether there is something in it.
template <class Add>
bool keep_entry(Decoding& decoding, const WireReader& entry, size_t position, bool has_content,
                Add&& add) {
  if (!decoding.well_formed(entry)) return false;
  if (position == 0) decoding.has_zero_entry = has_content;
  if (position > 0) add();
  return true;
}

bool attribute_index(Decoding& decoding, const WireReader& reader, uint64_t value,
                     AttributeId& out) {
  if (!decoding.in_table(reader, "attribute_indices", value, decoding.sizes.attributes,
                         "attribute_table"))
    return false;
  out = AttributeId(value == 0 ? decoding.zero.attributes : value);
  return true;
}

bool read_strings(Decoding& decoding, WireReader dictionary) {
  size_t position = 0;
  std::string_view first;
  StringTable& strings = decoding.dictionary().strings;
  while (dictionary.next()) {
    if (dictionary.field() != 5) {
      dictionary.skip();
      continue;
    }
    const Decoding::Part part(decoding, "string_table", position);
    std::string_view text;
    if (!decoding.bytes(dictionary, "", text)) return false;
    if (position == 0) {
      first = text;
    } else {
      if (!decoding.has_room_for(text.size())) return false;
      strings.add(decoding.clean(text));
    }
    ++position;
  }
  if (!decoding.well_formed(dictionary)) return false;
  if (first.empty()) return true;
  const Decoding::Part part(decoding, "string_table", 0);
  if (!decoding.has_room_for(first.size())) return false;
  decoding.zero.strings = strings.add(decoding.clean(first)).value;
  return true;
}

bool read_function(Decoding& decoding, WireReader entry, size_t position) {
  Function function;
  function.name = StringId(decoding.zero.strings);
  while (entry.next()) {
    uint64_t value = 0;
    bool ok = true;
    switch (entry.field()) {
      case 1:
        ok = decoding.name_index(entry, "name_strindex", function.name);
        break;
      case 2:
        ok = decoding.string_index(entry, "system_name_strindex", function.system_name);
        break;
      case 3:
        ok = decoding.string_index(entry, "filename_strindex", function.file);
        break;
      case 4:
        ok = decoding.varint(entry, "start_line", value);
        function.start_line = static_cast<int64_t>(value);
        break;
      default:
        entry.skip();
    }
    if (!ok) return false;
  }
  return keep_entry(decoding, entry, position, function != Function{},
                    [&] { decoding.dictionary().functions.push_back(function); });
}

// A hash of a file keeps a mark in the model, or it would be taken for a build id.
StringId binary_identity(Decoding& decoding, Meaning meaning, StringId text) {
  if (meaning != Meaning::kBuildIdHtlhash || !text) return text;
  const std::string_view hash = decoding.dictionary().strings[text];
  if (hash.size() > kMaxFileHashBytes) return text;
  return decoding.intern(fmt::format("{}{}", kFileHashPrefix, hash));
}

void apply_mapping_attribute(Decoding& decoding, const AttributeTable& attributes, AttributeId id,
                             Mapping& mapping, Meaning& build_id_source) {
  const Meaning meaning = attributes.meaning(id);
  switch (meaning) {
    case Meaning::kBuildIdGnu:
    case Meaning::kBuildIdGo:
    case Meaning::kBuildIdHtlhash:
      // The enumerators stand in order of preference.
      if (build_id_source == Meaning::kOther || meaning < build_id_source) {
        mapping.build_id = binary_identity(decoding, meaning, attributes.text(id));
        build_id_source = meaning;
      }
      break;
    case Meaning::kHasFunctions:
      mapping.has_functions = attributes.is_true(id);
      break;
    case Meaning::kHasFilenames:
      mapping.has_filenames = attributes.is_true(id);
      break;
    case Meaning::kHasLineNumbers:
      mapping.has_line_numbers = attributes.is_true(id);
      break;
    case Meaning::kHasInlineFrames:
      mapping.has_inline_frames = attributes.is_true(id);
      break;
    default:
      break;
  }
}

bool read_mapping(Decoding& decoding, const AttributeTable& attributes, WireReader entry,
                  size_t position) {
  Mapping mapping;
  Meaning build_id_source = Meaning::kOther;
  while (entry.next()) {
    bool ok = true;
    switch (entry.field()) {
      case 1:
        ok = decoding.varint(entry, "memory_start", mapping.start);
        break;
      case 2:
        ok = decoding.varint(entry, "memory_limit", mapping.limit);
        break;
      case 3:
        ok = decoding.varint(entry, "file_offset", mapping.file_offset);
        break;
      case 4:
        ok = decoding.string_index(entry, "filename_strindex", mapping.file);
        break;
      case 5:
        ok = decoding.integers(entry, "attribute_indices", [&](uint64_t value) {
          AttributeId id;
          if (!attribute_index(decoding, entry, value, id)) return false;
          apply_mapping_attribute(decoding, attributes, id, mapping, build_id_source);
          return !decoding.failed();
        });
        break;
      default:
        entry.skip();
    }
    if (!ok) return false;
  }
  return keep_entry(decoding, entry, position, mapping != Mapping{},
                    [&] { decoding.dictionary().mappings.push_back(mapping); });
}

bool read_line(Decoding& decoding, WireReader message, Line& line) {
  line.function = FunctionId(decoding.zero.functions);
  while (message.next()) {
    uint64_t value = 0;
    switch (message.field()) {
      case 1:
        if (!decoding.index(message, "function_index", decoding.sizes.functions, "function_table",
                            line.function, decoding.zero.functions))
          return false;
        break;
      case 2:
        if (!decoding.varint(message, "line", value)) return false;
        line.line = static_cast<int64_t>(value);
        break;
      case 3:
        if (!decoding.varint(message, "column", value)) return false;
        if (value > std::numeric_limits<uint32_t>::max()) {
          return decoding.fail(
              message.offset(), "column",
              fmt::format("{} is not a column number", static_cast<int64_t>(value)));
        }
        line.column = static_cast<uint32_t>(value);
        break;
      default:
        message.skip();
    }
  }
  return decoding.well_formed(message);
}

bool read_location(Decoding& decoding, const AttributeTable& attributes, WireReader entry,
                   size_t position, std::vector<Line>& lines) {
  Location location;
  location.mapping = MappingId(decoding.zero.mappings);
  lines.clear();
  while (entry.next()) {
    bool ok = true;
    switch (entry.field()) {
      case 1:
        ok = decoding.index(entry, "mapping_index", decoding.sizes.mappings, "mapping_table",
                            location.mapping, decoding.zero.mappings);
        break;
      case 2:
        ok = decoding.varint(entry, "address", location.address);
        break;
      case 3: {
        const Decoding::Part part(decoding, "lines", lines.size());
        WireReader line;
        ok = decoding.message(entry, "", line) && read_line(decoding, line, lines.emplace_back());
        break;
      }
      case 4:
        ok = decoding.integers(entry, "attribute_indices", [&](uint64_t value) {
          AttributeId id;
          if (!attribute_index(decoding, entry, value, id)) return false;
          if (attributes.meaning(id) == Meaning::kFrameType) {
            location.kind = frame_kind_from_name(decoding.dictionary().string(attributes.text(id)));
          } else if (attributes.meaning(id) == Meaning::kIsFolded) {
            location.is_folded = attributes.is_true(id);
          }
          return true;
        });
        break;
      default:
        entry.skip();
    }
    if (!ok) return false;
  }
  return keep_entry(decoding, entry, position, location != Location{} || !lines.empty(),
                    [&] { decoding.dictionary().add_location(location, lines); });
}

bool read_stack(Decoding& decoding, WireReader entry, size_t position, DictionaryExtras& extras) {
  auto& stacks = decoding.dictionary().stacks;
  const size_t max_depth = decoding.options().max_stack_depth;
  size_t depth = 0;
  while (entry.next()) {
    if (entry.field() != 1) {
      entry.skip();
      continue;
    }
    const bool ok = decoding.integers(entry, "location_indices", [&](uint64_t value) {
      if (!decoding.in_table(entry, "location_indices", value, decoding.sizes.locations,
                             "location_table"))
        return false;
      ++depth;
      if (position > 0 && depth <= max_depth)
        stacks.push(LocationId(value == 0 ? decoding.zero.locations : value));
      return true;
    });
    if (!ok) return false;
  }
  if (!decoding.well_formed(entry)) return false;
  if (position == 0) {
    decoding.has_zero_entry = depth > 0;
    return true;
  }
  if (depth > max_depth) {
    extras.cut_stacks.resize(decoding.sizes.stacks + 1);
    extras.cut_stacks[position] = true;
  }
  stacks.close();
  return true;
}

// Ids are of fixed size, or left out.
template <size_t size>
bool read_id(Decoding& decoding, WireReader& reader, const char* field,
             std::array<uint8_t, size>& id) {
  std::string_view bytes;
  if (!decoding.bytes(reader, field, bytes)) return false;
  if (bytes.empty()) return true;
  if (bytes.size() != size) {
    return decoding.fail(reader.offset(), field,
                         fmt::format("{} bytes instead of {}", bytes.size(), size));
  }
  std::memcpy(id.data(), bytes.data(), size);
  return true;
}

bool read_link(Decoding& decoding, WireReader entry, size_t position) {
  Link link;
  while (entry.next()) {
    bool ok = true;
    if (entry.field() == 1) {
      ok = read_id(decoding, entry, "trace_id", link.trace_id);
    } else if (entry.field() == 2) {
      ok = read_id(decoding, entry, "span_id", link.span_id);
    } else {
      entry.skip();
    }
    if (!ok) return false;
  }
  if (!decoding.well_formed(entry)) return false;
  if (position > 0) {
    decoding.dictionary().links.push_back(link);
    return true;
  }
  // A sample without a link has index 0, whatever is there.
  return true;
}

}  // namespace

bool count_tables(Decoding& decoding, WireReader dictionary, TableSizes& sizes) {
  while (dictionary.next()) {
    switch (dictionary.field()) {
      case 1:
        ++sizes.mappings;
        break;
      case 2:
        ++sizes.locations;
        break;
      case 3:
        ++sizes.functions;
        break;
      case 4:
        ++sizes.links;
        break;
      case 5:
        ++sizes.strings;
        break;
      case 6:
        ++sizes.attributes;
        break;
      case 7:
        ++sizes.stacks;
        break;
      default:
        break;
    }
    dictionary.skip();
  }
  const Decoding::Part part(decoding, "dictionary");
  return decoding.well_formed(dictionary);
}

bool read_dictionary(Decoding& decoding, WireReader dictionary, DictionaryExtras& extras) {
  const Decoding::Part part(decoding, "dictionary");
  std::vector<Line> lines;
  TableSizes& zero = decoding.zero;
  // A table may be missing altogether; index 0 still means none.
  const auto read_attribute = [&](WireReader entry, size_t) {
    return extras.attributes.read_entry(decoding, entry);
  };
  if (!read_strings(decoding, dictionary) ||
      !for_each_entry(decoding, dictionary, 6, "attribute_table", zero.attributes, read_attribute))
    return false;
  if (extras.attributes.size() == 0) extras.attributes.read_entry(decoding, WireReader());
  return for_each_entry(decoding, dictionary, 3, "function_table", zero.functions,
                        [&](WireReader entry, size_t position) {
                          return read_function(decoding, entry, position);
                        }) &&
         for_each_entry(decoding, dictionary, 1, "mapping_table", zero.mappings,
                        [&](WireReader entry, size_t position) {
                          return read_mapping(decoding, extras.attributes, entry, position);
                        }) &&
         for_each_entry(decoding, dictionary, 2, "location_table", zero.locations,
                        [&](WireReader entry, size_t position) {
                          return read_location(decoding, extras.attributes, entry, position, lines);
                        }) &&
         for_each_entry(decoding, dictionary, 7, "stack_table", zero.stacks,
                        [&](WireReader entry, size_t position) {
                          return read_stack(decoding, entry, position, extras);
                        }) &&
         for_each_entry(decoding, dictionary, 4, "link_table", zero.links,
                        [&](WireReader entry, size_t position) {
                          return read_link(decoding, entry, position);
                        });
}

}  // namespace vesta::otlp
