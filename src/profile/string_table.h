// All strings of a dictionary in one buffer. Owns its bytes; views stay valid until the next add or
// intern. Not thread-safe for writing. Holds less than 4 GiB: readers bound their input well below
// that.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_index.h"
#include "profile/ids.h"

namespace vesta {

class StringTable {
 public:
  StringTable() { add({}); }

  std::string_view operator[](StringId id) const {
    const uint32_t begin = id.value == 0 ? 0 : ends_[id.index() - 1];
    return std::string_view(bytes_).substr(begin, ends_[id.index()] - begin);
  }
  size_t size() const { return ends_.size(); }
  size_t byte_size() const { return bytes_.size(); }

  // Appends without looking for an equal string: for readers whose input is already a table.
  StringId add(std::string_view text);

  // The same for many: `each(put)` calls put(text) for `count` strings with `bytes` bytes in all,
  // or fewer.
  template <class Each>
  void add_all(size_t count, size_t bytes, Each&& each) {
    const size_t before = bytes_.size();
    size_t size = before;
    reserve(ends_.size() + count, before + bytes);
    bytes_.resize(before + bytes);
    each([&](std::string_view text) {
      text = text.substr(0, bytes_.size() - size);
      std::memcpy(bytes_.data() + size, text.data(), text.size());
      size += text.size();
      ends_.push_back(static_cast<uint32_t>(size));
    });
    bytes_.resize(size);
  }

  // The id of an equal string, or of a new one. The first call indexes what was added before.
  StringId intern(std::string_view text);

  void reserve(size_t strings, size_t bytes);

 private:
  std::string bytes_;
  std::vector<uint32_t> ends_;
  IdIndex index_;
  size_t indexed_ = 0;  // strings that index_ knows
};

}  // namespace vesta
