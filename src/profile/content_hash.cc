#include "profile/content_hash.h"

#include <string>

namespace vesta {
namespace {

// Fields are length-prefixed, so that no two different lists of fields give the same bytes.
class ContentBytes {
 public:
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  void number(uint64_t value) {
    char raw[8];
    for (size_t i = 0; i < 8; ++i) raw[i] = static_cast<char>(value >> (8 * i));
    bytes_.append(raw, 8);
  }
  Hash128 take_hash() {
    const Hash128 hash = hash128(bytes_);
    bytes_.clear();
    return hash;
  }

 private:
  std::string bytes_;
};

void add_binary(ContentBytes& content, const Dictionary& d, const Mapping& mapping) {
  content.number(mapping.build_id ? 1 : 0);
  content.text(d.string(mapping.build_id ? mapping.build_id : mapping.file));
}

}  // namespace

std::vector<Hash128> location_hashes(const Dictionary& d) {
  std::vector<Hash128> hashes(d.locations.size());
  ContentBytes content;
  for (size_t i = 0; i < hashes.size(); ++i) {
    const Location& location = d.locations[i];
    const Mapping& mapping = d.mapping(location.mapping);
    const auto lines = d.lines[LocationId(i)];
    add_binary(content, d, mapping);
    content.number(static_cast<uint64_t>(location.kind));
    content.number(lines.size());
    for (const Line& line : lines) {
      const Function& function = d.function(line.function);
      content.text(d.string(function.name));
      content.text(d.string(function.system_name));
      content.text(d.string(function.file));
      content.number(static_cast<uint64_t>(line.line));
      content.number(line.column);
    }
    if (lines.empty()) content.number(location.address - mapping.start + mapping.file_offset);
    hashes[i] = content.take_hash();
  }
  return hashes;
}

std::vector<Hash128> stack_hashes(const Dictionary& d) {
  const std::vector<Hash128> locations = location_hashes(d);
  std::vector<Hash128> hashes(d.stacks.size());
  ContentBytes content;
  for (size_t i = 0; i < hashes.size(); ++i) {
    for (const LocationId location : d.stacks[StackId(i)]) {
      content.number(locations[location.index()].high);
      content.number(locations[location.index()].low);
    }
    hashes[i] = content.take_hash();
  }
  return hashes;
}

}  // namespace vesta
