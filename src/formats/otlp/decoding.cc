#include "formats/otlp/decoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/table_hash.h"
#include "base/utf8.h"
#include "formats/common/parse_error.h"

namespace vesta::otlp {
namespace {

// Field names of .proto files as JSON spells them.
std::string camel_case(std::string_view snake) {
  std::string camel;
  for (size_t i = 0; i < snake.size(); ++i) {
    if (snake[i] == '_' && i + 1 < snake.size() && snake[i + 1] >= 'a' && snake[i + 1] <= 'z') {
      camel.push_back(static_cast<char>(snake[++i] - 'a' + 'A'));
    } else {
      camel.push_back(snake[i]);
    }
  }
  return camel;
}

}  // namespace

std::string Decoding::path_to(std::string_view field) const {
  std::string path;
  for (const Step& step : path_) {
    if (!path.empty()) path += '.';
    path += step.name;
    if (step.position != kNoPosition) path += fmt::format("[{}]", step.position);
  }
  if (!field.empty()) {
    if (!path.empty()) path += '.';
    path += field;
  }
  return path;
}

bool Decoding::fail(size_t offset, std::string_view field, std::string_view what,
                    std::string_view hint) {
  if (failed_) return false;
  failed_ = true;
  std::string path = path_to(field);
  if (from_json_) {
    error_ = parse_error_at_field("OTLP JSON", camel_case(path), what, hint);
  } else {
    error_ = parse_error(
        "OTLP", offset, path.empty() ? std::string(what) : fmt::format("{}: {}", path, what), hint);
  }
  return false;
}

bool Decoding::fail_limit(std::string_view what, uint64_t limit) {
  if (failed_) return false;
  failed_ = true;
  error_ = limit_error(from_json_ ? "OTLP JSON" : "OTLP", what, limit);
  return false;
}

bool Decoding::well_formed(const WireReader& reader) {
  if (reader.ok()) return true;
  return fail(reader.offset(), "", reader.problem(),
              "the file is damaged, cut off, or not an OTLP profile");
}

bool Decoding::wrong_type(const WireReader& reader, const char* field, const char* expected) {
  return fail(reader.offset(), field,
              fmt::format("wire type {} instead of {}", static_cast<int>(reader.type()), expected),
              "the file is damaged, or of an OTLP version with other field numbers");
}

bool Decoding::varint(WireReader& reader, const char* field, uint64_t& out) {
  if (reader.type() != WireType::kVarint) return wrong_type(reader, field, "a varint");
  out = reader.varint();
  return well_formed(reader);
}

bool Decoding::fixed64(WireReader& reader, const char* field, uint64_t& out) {
  if (reader.type() != WireType::kFixed64) return wrong_type(reader, field, "a fixed64");
  out = reader.fixed64();
  return well_formed(reader);
}

bool Decoding::bytes(WireReader& reader, const char* field, std::string_view& out) {
  if (reader.type() != WireType::kBytes) return wrong_type(reader, field, "a length and bytes");
  out = reader.bytes();
  return well_formed(reader);
}

bool Decoding::message(WireReader& reader, const char* field, WireReader& out) {
  if (reader.type() != WireType::kBytes) return wrong_type(reader, field, "a message");
  out = reader.message();
  return well_formed(reader);
}

bool Decoding::boolean(WireReader& reader, const char* field, bool& out) {
  uint64_t value = 0;
  if (!varint(reader, field, value)) return false;
  out = value != 0;
  return true;
}

bool Decoding::nanoseconds(WireReader& reader, const char* field, bool is_fixed, int64_t& out) {
  uint64_t value = 0;
  if (!(is_fixed ? fixed64(reader, field, value) : varint(reader, field, value))) return false;
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return fail(reader.offset(), field, fmt::format("{} ns is out of range", value),
                "times are nanoseconds since 1970, up to the year 2262");
  }
  out = static_cast<int64_t>(value);
  return true;
}

bool Decoding::in_table(const WireReader& reader, const char* field, uint64_t value,
                        size_t table_size, const char* table) {
  if (value == 0 || value < table_size) return true;
  return fail(reader.offset(), field,
              fmt::format("{} is outside {}, which has {} entries", static_cast<int64_t>(value),
                          table, table_size),
              "the file is damaged, or of an OTLP version with other field numbers");
}

bool Decoding::has_room_for(size_t size) {
  constexpr uint64_t kMaxBytes = std::numeric_limits<uint32_t>::max();
  // An invalid byte takes three once it is replaced.
  const uint64_t needed = 3 * uint64_t{std::min(size, options_.max_string_bytes)};
  if (dictionary_.strings.byte_size() + needed <= kMaxBytes) return true;
  return fail_limit("the size of all strings", kMaxBytes);
}

std::string_view Decoding::clean(std::string_view text) {
  if (text.size() > options_.max_string_bytes) {
    size_t end = options_.max_string_bytes;
    // Back to the start of a character, so that the cut itself makes no invalid text.
    for (size_t back = 0; back < 3 && end > 0; ++back) {
      if ((static_cast<uint8_t>(text[end]) & 0xC0) != 0x80) break;
      --end;
    }
    text = text.substr(0, end);
    ++truncated_names;
  }
  if (is_valid_utf8(text)) return text;
  ++replaced_utf8;
  cleaned_ = replace_invalid_utf8(text);
  return cleaned_;
}

LabelSetId Decoding::intern_labels(std::vector<Label>& labels) {
  if (labels.empty()) return {};
  const auto order = [](const Label& l) {
    return std::tuple(l.key, l.kind, l.text, l.number, l.unit);
  };
  std::ranges::sort(labels, {}, order);
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  const std::span<const Label> list(labels);
  return LabelSetId(label_set_index_.find_or_insert(
      table_hash_of(list),
      [&](uint32_t at) { return std::ranges::equal(dictionary_.label_sets[LabelSetId(at)], list); },
      [&] { return dictionary_.label_sets.add(list).value; }));
}

}  // namespace vesta::otlp
