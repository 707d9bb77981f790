#include "profile/content_hash.h"

#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace vesta {
namespace {

// High half first, as stored formats have it.
static_assert(offsetof(Hash128, high) == 0 && offsetof(Hash128, low) == 8);
static_assert(std::endian::native == std::endian::little,
              "numbers are hashed as they lie in memory");

// Fields are length-prefixed, so that no two different lists of fields give the same bytes. Hashing
// is a good part of what a write costs: the buffer stays, and grows ahead.
class ContentBytes {
 public:
  void text(std::string_view value) {
    make_room(8 + value.size());
    put_number(value.size());
    std::memcpy(bytes_.data() + size_, value.data(), value.size());
    size_ += value.size();
  }
  void number(uint64_t value) {
    make_room(8);
    put_number(value);
  }
  Hash128 take_hash() {
    const Hash128 hash = hash128({bytes_.data(), size_});
    size_ = 0;
    return hash;
  }

 private:
  void make_room(size_t count) {
    if (bytes_.size() < size_ + count) bytes_.resize(2 * (size_ + count));
  }
  void put_number(uint64_t value) {
    std::memcpy(bytes_.data() + size_, &value, sizeof(value));
    size_ += sizeof(value);
  }

  std::vector<char> bytes_ = std::vector<char>(1024);
  size_t size_ = 0;
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
  std::vector<Hash128> content;
  for (size_t i = 0; i < hashes.size(); ++i) {
    const auto stack = d.stacks[StackId(i)];
    content.resize(stack.size());
    for (size_t at = 0; at < stack.size(); ++at) content[at] = locations[stack[at].index()];
    hashes[i] =
        hash128({reinterpret_cast<const char*>(content.data()), content.size() * sizeof(Hash128)});
  }
  return hashes;
}

}  // namespace vesta
