// A table of short lists kept in one flat buffer: stacks as locations, locations as lines, label
// sets as labels. Entry 0 is the empty list. Spans stay valid until the next add. Holds less than
// 2^32 items in all.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

namespace vesta {

template <class Id, class T>
class ListTable {
 public:
  ListTable() : ends_{0} {}

  std::span<const T> operator[](Id id) const {
    const uint32_t begin = id.value == 0 ? 0 : ends_[id.index() - 1];
    return {items_.data() + begin, items_.data() + ends_[id.index()]};
  }
  std::span<T> at(Id id) {
    const uint32_t begin = id.value == 0 ? 0 : ends_[id.index() - 1];
    return {items_.data() + begin, items_.data() + ends_[id.index()]};
  }

  size_t size() const { return ends_.size(); }
  size_t item_count() const { return items_.size(); }

  // The list may be part of this very table.
  Id add(std::span<const T> list) {
    if (is_own(list)) {
      const std::vector<T> copy(list.begin(), list.end());
      items_.insert(items_.end(), copy.begin(), copy.end());
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      // Ids set themselves to 0, so that insert() would copy them one by one.
      const std::span<T> to = extend(list.size());
      if (!list.empty()) std::memcpy(to.data(), list.data(), list.size_bytes());
    } else {
      items_.insert(items_.end(), list.begin(), list.end());
    }
    return close();
  }

  // The other way to add: push items one by one, then close() makes them the next entry.
  void push(const T& item) { items_.push_back(item); }
  // Room for `count` more items to be written in place before close().
  std::span<T> extend(size_t count) {
    items_.resize(items_.size() + count);
    return {items_.data() + items_.size() - count, count};
  }
  Id close() {
    ends_.push_back(static_cast<uint32_t>(items_.size()));
    return Id(ends_.size() - 1);
  }
  // The items pushed since the last close().
  std::span<T> open_items() {
    return {items_.data() + ends_.back(), items_.data() + items_.size()};
  }
  void discard_open() { items_.resize(ends_.back()); }

  void reserve(size_t lists, size_t items) {
    ends_.reserve(lists + 1);
    items_.reserve(items);
  }

  std::span<const T> items() const { return items_; }

 private:
  // Growing would move what such a span points at.
  bool is_own(std::span<const T> list) const {
    const std::less<const T*> before;
    return !before(list.data(), items_.data()) &&
           before(list.data(), items_.data() + items_.size());
  }

  std::vector<T> items_;
  std::vector<uint32_t> ends_;
};

}  // namespace vesta
