#include "profile/content_hash.h"

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>

namespace vesta {
namespace {

// High half first, as stored formats have it.
static_assert(offsetof(Hash128, high) == 0 && offsetof(Hash128, low) == 8);
static_assert(std::endian::native == std::endian::little,
              "numbers are hashed as they lie in memory");

// Texts are hashed once each, and a location by the hashes of its texts: hashing is a good part of
// what a write costs, and most texts stand in several places. All of it has a fixed width and says
// how many lines follow, so that no two different contents give the same bytes.
struct LocationContent {
  Hash128 binary;             // build id, or else path
  uint64_t shape;             // number of lines, kind, whether there is a build id
  uint64_t offset_in_binary;  // 0 when there are lines
};
struct LineContent {
  Hash128 name;
  Hash128 system_name;
  Hash128 file;
  int64_t line;
  uint64_t column;
};
struct OneLineContent {  // by far the most
  LocationContent location;
  LineContent line;
};
static_assert(std::has_unique_object_representations_v<OneLineContent>);

template <class T>
Hash128 hash_of(const T& content) {
  return hash128({reinterpret_cast<const char*>(&content), sizeof content});
}

std::vector<Hash128> string_hashes(const StringTable& strings) {
  std::vector<Hash128> hashes(strings.size());
  for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = hash128(strings[StringId(i)]);
  return hashes;
}

class LocationHasher {
 public:
  explicit LocationHasher(const Dictionary& dictionary)
      : d_(dictionary), strings_(string_hashes(dictionary.strings)) {}

  Hash128 operator()(LocationId id) {
    const std::span<const Line> lines = d_.lines[id];
    OneLineContent content;
    describe(d_.location(id), lines.size(), content.location);
    if (lines.empty()) return hash_of(content.location);
    if (lines.size() == 1) {
      describe(lines.front(), content.line);
      return hash_of(content);
    }
    bytes_.resize(sizeof content.location + lines.size() * sizeof content.line);
    char* at = bytes_.data();
    std::memcpy(at, &content.location, sizeof content.location);
    at += sizeof content.location;
    for (const Line& line : lines) {
      describe(line, content.line);
      std::memcpy(at, &content.line, sizeof content.line);
      at += sizeof content.line;
    }
    return hash128({bytes_.data(), bytes_.size()});
  }

 private:
  void describe(const Location& location, size_t line_count, LocationContent& out) const {
    const Mapping& mapping = d_.mapping(location.mapping);
    out.binary = strings_[(mapping.build_id ? mapping.build_id : mapping.file).index()];
    out.shape = uint64_t{line_count} << 16 | static_cast<uint64_t>(location.kind) << 1 |
                (mapping.build_id ? 1U : 0U);
    out.offset_in_binary =
        line_count == 0 ? location.address - mapping.start + mapping.file_offset : 0;
  }
  void describe(const Line& line, LineContent& out) const {
    const Function& function = d_.function(line.function);
    out.name = strings_[function.name.index()];
    out.system_name = strings_[function.system_name.index()];
    out.file = strings_[function.file.index()];
    out.line = line.line;
    out.column = line.column;
  }

  const Dictionary& d_;
  std::vector<Hash128> strings_;
  std::vector<char> bytes_;  // scratch
};

}  // namespace

std::vector<Hash128> location_hashes(const Dictionary& d) {
  std::vector<Hash128> hashes(d.locations.size());
  LocationHasher hash(d);
  for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = hash(LocationId(i));
  return hashes;
}

std::vector<Hash128> stack_hashes(const Dictionary& d) {
  const std::vector<Hash128> locations = location_hashes(d);
  std::vector<Hash128> hashes(d.stacks.size());
  std::vector<Hash128> content;
  for (size_t i = 0; i < hashes.size(); ++i) {
    const auto stack = d.stacks[StackId(i)];
    if (content.size() < stack.size()) content.resize(stack.size());
    for (size_t at = 0; at < stack.size(); ++at) content[at] = locations[stack[at].index()];
    hashes[i] =
        hash128({reinterpret_cast<const char*>(content.data()), stack.size() * sizeof(Hash128)});
  }
  return hashes;
}

}  // namespace vesta
