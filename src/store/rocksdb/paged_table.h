// Entries by number, where numbers only ever grow: in pages, so that what is gone gives its memory
// back once all around it is gone, too, as happens with what comes and goes in the order of time.
// Entries stay where they are. Owns them; not thread-safe.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace vesta::rocks {

template <class T>
class PagedTable {
 public:
  bool contains(uint32_t number) const {
    const size_t page = number / kPageSize;
    return page < pages_.size() && pages_[page] != nullptr &&
           pages_[page]->is_there.test(number % kPageSize);
  }
  // REQUIRES: contains(number)
  const T& operator[](uint32_t number) const { return entry(number); }
  T& operator[](uint32_t number) { return entry(number); }

  // REQUIRES: !contains(number)
  T& add(uint32_t number) {
    const size_t page = number / kPageSize;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (pages_[page] == nullptr) {
      pages_[page] = std::make_unique<Page>();
      ++page_count_;
    }
    pages_[page]->is_there.set(number % kPageSize);
    return entry(number);
  }
  // REQUIRES: contains(number)
  void erase(uint32_t number) {
    std::unique_ptr<Page>& page = pages_[number / kPageSize];
    page->entries[number % kPageSize] = T();
    page->is_there.reset(number % kPageSize);
    if (page->is_there.any()) return;
    page.reset();
    --page_count_;
  }

  uint64_t byte_size() const {
    return page_count_ * sizeof(Page) + pages_.capacity() * sizeof(pages_[0]);
  }

 private:
  static constexpr size_t kPageSize = 64;
  struct Page {
    std::array<T, kPageSize> entries;
    std::bitset<kPageSize> is_there;
  };
  T& entry(uint32_t number) const {
    return pages_[number / kPageSize]->entries[number % kPageSize];
  }

  std::vector<std::unique_ptr<Page>> pages_;
  size_t page_count_ = 0;
};

}  // namespace vesta::rocks
