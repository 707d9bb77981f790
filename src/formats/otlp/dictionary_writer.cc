#include "formats/otlp/dictionary_writer.h"

#include <algorithm>
#include <limits>

#include "base/utf8.h"
#include "formats/otlp/conventions.h"
#include "profile/binary_identity.h"

namespace vesta::otlp {
namespace {

constexpr uint32_t kUnknown = std::numeric_limits<uint32_t>::max();

// Build ids of GNU notes are hex; those of Go are text with slashes. Takes the mark of a
// file's hash off.
std::string_view build_id_key(std::string_view& build_id) {
  if (build_id.starts_with(kFileHashPrefix)) {
    build_id.remove_prefix(kFileHashPrefix.size());
    return key::kBuildIdHtlhash;
  }
  const bool is_hex = std::ranges::all_of(build_id, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
  return is_hex ? key::kBuildIdGnu : key::kBuildIdGo;
}

template <class Id>
std::string_view as_bytes(const Id& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

void write_table(WireWriter& out, uint32_t field, const StringTable& table) {
  for (size_t i = 0; i < table.size(); ++i) out.always_bytes(field, table[StringId(i)]);
}

}  // namespace

std::string text_value(std::string_view text) {
  WireWriter value;
  if (is_valid_utf8(text)) {
    value.always_bytes(1, text);
  } else {
    value.always_bytes(1, replace_invalid_utf8(text));
  }
  return value.take();
}

std::string int_value(int64_t number) {
  WireWriter value;
  value.always_uint64(3, static_cast<uint64_t>(number));
  return value.take();
}

std::string bool_value(bool truth) {
  WireWriter value;
  value.always_uint64(2, truth ? 1 : 0);
  return value.take();
}

std::string array_value(std::span<const std::string> values) {
  WireWriter array;
  for (const std::string& value : values) array.always_bytes(1, value);
  WireWriter out;
  out.message(5, array);
  return out.take();
}

std::vector<KeyedValue> group_by_key(const Dictionary& dictionary, std::span<const Label> labels) {
  std::vector<Label> sorted(labels.begin(), labels.end());
  // Texts before numbers of each unit.
  std::ranges::stable_sort(sorted, {}, [](const Label& l) { return std::tuple(l.key, l.unit); });
  std::vector<KeyedValue> out;
  std::vector<std::string> values;
  for (size_t i = 0; i < sorted.size();) {
    const size_t begin = i;
    values.clear();
    for (; i < sorted.size() && sorted[i].key == sorted[begin].key; ++i) {
      values.push_back(sorted[i].kind == LabelKind::kNumber
                           ? int_value(sorted[i].number)
                           : text_value(dictionary.string(sorted[i].text)));
    }
    // One attribute has one unit; values of several units under one key have none.
    const bool is_one_unit = sorted[begin].unit == sorted[i - 1].unit;
    out.push_back({sorted[begin].key, is_one_unit ? sorted[begin].unit : StringId(),
                   values.size() == 1 ? values[0] : array_value(values)});
  }
  return out;
}

DictionaryWriter::DictionaryWriter(const Dictionary& source)
    : source_(source),
      string_map_(source.strings.size(), kUnknown),
      mapping_map_(source.mappings.size(), kUnknown),
      location_map_(source.locations.size(), kUnknown),
      function_map_(source.functions.size(), kUnknown),
      stack_map_(source.stacks.size(), kUnknown),
      list_map_(source.label_sets.size(), kUnknown) {}

uint32_t DictionaryWriter::string(std::string_view text) {
  if (is_valid_utf8(text)) return strings_.intern(text).value;
  return strings_.intern(replace_invalid_utf8(text)).value;
}

uint32_t DictionaryWriter::string(StringId id) {
  uint32_t& known = string_map_[id.index()];
  if (known == kUnknown) known = string(source_.string(id));
  return known;
}

uint32_t DictionaryWriter::attribute(std::string_view key, const std::string& value,
                                     std::string_view unit) {
  WireWriter message;
  message.uint64(1, string(key));
  message.always_bytes(2, value);
  message.uint64(3, string(unit));
  return attributes_.intern(message.view()).value;
}

uint32_t DictionaryWriter::attribute_list(LabelSetId id) {
  uint32_t& known = list_map_[id.index()];
  if (known != kUnknown) return known;
  std::vector<uint32_t> attributes;
  for (const KeyedValue& item : group_by_key(source_, source_.label_sets[id])) {
    attributes.push_back(
        attribute(source_.string(item.key), item.value, source_.string(item.unit)));
  }
  // A set has no order; sorted, equal sets have equal bytes.
  std::ranges::sort(attributes);
  attributes.erase(std::unique(attributes.begin(), attributes.end()), attributes.end());
  WireWriter list;
  for (const uint32_t attribute : attributes) list.raw_varint(attribute);
  return known = lists_.intern(list.view()).value;
}

uint32_t DictionaryWriter::function(FunctionId id) {
  uint32_t& known = function_map_[id.index()];
  if (known != kUnknown) return known;
  const Function& function = source_.function(id);
  WireWriter message;
  message.uint64(1, string(function.name));
  message.uint64(2, string(function.system_name));
  message.uint64(3, string(function.file));
  message.int64(4, function.start_line);
  return known = functions_.intern(message.view()).value;
}

uint32_t DictionaryWriter::mapping(MappingId id) {
  uint32_t& known = mapping_map_[id.index()];
  if (known != kUnknown) return known;
  const Mapping& mapping = source_.mapping(id);
  std::vector<uint32_t> attributes;
  if (mapping.build_id) {
    std::string_view build_id = source_.string(mapping.build_id);
    const std::string_view key = build_id_key(build_id);
    attributes.push_back(attribute(key, text_value(build_id)));
  }
  const auto flag = [&](std::string_view key, bool is_set) {
    if (is_set) attributes.push_back(attribute(key, bool_value(true)));
  };
  flag(key::kHasFunctions, mapping.has_functions);
  flag(key::kHasFilenames, mapping.has_filenames);
  flag(key::kHasLineNumbers, mapping.has_line_numbers);
  flag(key::kHasInlineFrames, mapping.has_inline_frames);
  WireWriter message;
  message.uint64(1, mapping.start);
  message.uint64(2, mapping.limit);
  message.uint64(3, mapping.file_offset);
  message.uint64(4, string(mapping.file));
  message.packed(5, attributes);
  return known = mappings_.intern(message.view()).value;
}

uint32_t DictionaryWriter::location(LocationId id) {
  uint32_t& known = location_map_[id.index()];
  if (known != kUnknown) return known;
  const Location& location = source_.location(id);
  WireWriter message;
  message.uint64(1, mapping(location.mapping));
  message.uint64(2, location.address);
  for (const Line& line : source_.lines[id]) {
    WireWriter inner;
    inner.uint64(1, function(line.function));
    inner.int64(2, line.line);
    inner.uint64(3, line.column);
    message.message(3, inner);
  }
  std::vector<uint32_t> attributes;
  if (location.kind != FrameKind::kUnknown)
    attributes.push_back(attribute(key::kFrameType, text_value(frame_kind_name(location.kind))));
  if (location.is_folded) attributes.push_back(attribute(key::kIsFolded, bool_value(true)));
  message.packed(4, attributes);
  return known = locations_.intern(message.view()).value;
}

uint32_t DictionaryWriter::stack(StackId id) {
  uint32_t& known = stack_map_[id.index()];
  if (known != kUnknown) return known;
  WireWriter message;
  message.packed(1, source_.stacks[id], [this](LocationId at) { return location(at); });
  return known = stacks_.intern(message.view()).value;
}

uint32_t DictionaryWriter::link(LinkId id) {
  const Link& link = source_.links[id.index()];
  if (link == Link{}) return 0;
  WireWriter message;
  message.always_bytes(1, as_bytes(link.trace_id));
  message.always_bytes(2, as_bytes(link.span_id));
  return links_.intern(message.view()).value;
}

WireWriter DictionaryWriter::finish() const {
  WireWriter out;
  write_table(out, 1, mappings_);
  write_table(out, 2, locations_);
  write_table(out, 3, functions_);
  // OTLP prefers zero bytes to missing ones in the link that means none.
  const Link none;
  WireWriter zero;
  zero.always_bytes(1, as_bytes(none.trace_id));
  zero.always_bytes(2, as_bytes(none.span_id));
  out.message(4, zero);
  for (size_t i = 1; i < links_.size(); ++i) out.always_bytes(4, links_[StringId(i)]);
  write_table(out, 5, strings_);
  write_table(out, 6, attributes_);
  write_table(out, 7, stacks_);
  return out;
}

}  // namespace vesta::otlp
