#include "profile/merge/content_hash.h"

#include <span>

#include "base/hash_sum.h"

namespace vesta {
namespace {

// Texts are hashed once each, a function by the hashes of its texts, and so on: hashing is a good
// part of what a write costs, and most parts stand in several places. Every list says how long it
// is, or has a fixed length, so that no two different contents are the same list.
class LocationHasher {
 public:
  explicit LocationHasher(const Dictionary& dictionary)
      : d_(dictionary),
        strings_(string_hashes(dictionary.strings)),
        functions_(function_hashes()) {}

  Hash128 operator()(LocationId id) const {
    const Location& location = d_.location(id);
    const Mapping& mapping = d_.mapping(location.mapping);
    const std::span<const Line> lines = d_.lines[id];
    HashSum sum;
    sum.add(strings_[(mapping.build_id ? mapping.build_id : mapping.file).index()]);
    sum.add(uint64_t{lines.size()} << 16 | static_cast<uint64_t>(location.kind) << 1 |
            (mapping.build_id ? 1U : 0U));
    if (lines.empty()) sum.add(location.address - mapping.start + mapping.file_offset);
    for (const Line& line : lines) {
      sum.add(functions_[line.function.index()]);
      sum.add(static_cast<uint64_t>(line.line));
      sum.add(line.column);
    }
    return sum.value();
  }

 private:
  static std::vector<Hash128> string_hashes(const StringTable& strings) {
    std::vector<Hash128> hashes(strings.size());
    for (size_t i = 0; i < hashes.size(); ++i) hashes[i] = hash128(strings[StringId(i)]);
    return hashes;
  }
  std::vector<Hash128> function_hashes() const {
    std::vector<Hash128> hashes(d_.functions.size());
    for (size_t i = 0; i < hashes.size(); ++i) {
      const Function& function = d_.functions[i];
      HashSum sum;
      sum.add(strings_[function.name.index()]);
      sum.add(strings_[function.system_name.index()]);
      sum.add(strings_[function.file.index()]);
      hashes[i] = sum.value();
    }
    return hashes;
  }

  const Dictionary& d_;
  const std::vector<Hash128> strings_;
  const std::vector<Hash128> functions_;
};

}  // namespace

std::vector<Hash128> stack_hashes(const Dictionary& d) {
  std::vector<Hash128> locations(d.locations.size());
  const LocationHasher hash(d);
  for (size_t i = 0; i < locations.size(); ++i) locations[i] = hash(LocationId(i));
  std::vector<Hash128> hashes(d.stacks.size());
  for (size_t i = 0; i < hashes.size(); ++i) {
    HashSum sum;
    for (const LocationId location : d.stacks[StackId(i)]) sum.add(locations[location.index()]);
    hashes[i] = sum.value();
  }
  return hashes;
}

}  // namespace vesta
