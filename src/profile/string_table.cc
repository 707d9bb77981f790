#include "profile/string_table.h"

#include <algorithm>

#include "base/table_hash.h"

namespace vesta {

StringId StringTable::add(std::string_view text) {
  bytes_.append(text);
  ends_.push_back(static_cast<uint32_t>(bytes_.size()));
  return StringId(ends_.size() - 1);
}

StringId StringTable::intern(std::string_view text) {
  const auto find = [this](std::string_view wanted, auto&& insert) {
    return index_.find_or_insert(
        table_hash(wanted), [&](uint32_t at) { return (*this)[StringId(at)] == wanted; }, insert);
  };
  for (; indexed_ < size(); ++indexed_) {
    find((*this)[StringId(indexed_)], [this] { return static_cast<uint32_t>(indexed_); });
  }
  const StringId id(find(text, [&] { return add(text).value; }));
  indexed_ = size();
  return id;
}

void StringTable::reserve(size_t strings, size_t bytes) {
  // Room for a little more each time would move everything each time.
  if (strings > ends_.capacity()) ends_.reserve(std::max(strings, ends_.capacity() * 3 / 2));
  if (bytes > bytes_.capacity()) bytes_.reserve(std::max(bytes, bytes_.capacity() * 3 / 2));
}

}  // namespace vesta
