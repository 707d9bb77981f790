// Collects samples of one profile and adds up those that are alike (stack, labels, link, time), so
// that a reader can hand over events as they come. Owns the rows until finish(). Not thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "base/id_index.h"
#include "profile/profile.h"

namespace vesta {

class SampleTable {
 public:
  explicit SampleTable(size_t type_count) : type_count_(type_count) {}

  // REQUIRES: values.size() == type_count
  void add(StackId stack, std::span<const int64_t> values, LabelSetId labels = {}, LinkId link = {},
           int64_t time_ns = 0);
  void add(StackId stack, int64_t value, LabelSetId labels = {}, LinkId link = {},
           int64_t time_ns = 0) {
    add(stack, std::span<const int64_t>(&value, 1), labels, link, time_ns);
  }

  size_t size() const { return size_; }

  // The rows in order of first appearance; the table is empty afterwards. Columns that nobody used
  // are left empty.
  Samples finish();

 private:
  // A row is its key and then its values, side by side: a look-up that finds it has the sums at
  // hand.
  static constexpr size_t kKeyWords = 3;
  struct Key {
    StackId stack;
    LabelSetId labels;
    LinkId link;
    uint32_t padding = 0;
    int64_t time_ns = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  static_assert(sizeof(Key) == kKeyWords * sizeof(int64_t));

  Key key_at(size_t row) const;

  size_t type_count_;
  IdIndex index_;
  std::vector<int64_t> rows_;
  size_t size_ = 0;
};

}  // namespace vesta
