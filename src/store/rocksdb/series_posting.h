// The series that have one value of a label. Many values belong to one series alone (a pod, a
// version): these cost no bitmap, which would weigh ten times as much. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <roaring/roaring.hh>

#include "store/rocksdb/format/keys.h"

namespace vesta::rocks {

using SeriesSet = Roaring;

class SeriesPosting {
 public:
  bool empty() const { return many_ == nullptr ? one_ == kNone : many_->isEmpty(); }

  void add(SeriesNumber number) {
    if (many_ != nullptr) {
      many_->add(number);
    } else if (one_ == kNone || one_ == number) {
      one_ = number;
    } else {
      many_ = std::make_unique<SeriesSet>();
      many_->add(one_);
      many_->add(number);
    }
  }
  void remove(SeriesNumber number) {
    if (many_ != nullptr) {
      many_->remove(number);
      if (many_->cardinality() > 1) return;
      one_ = many_->isEmpty() ? kNone : many_->minimum();
      many_.reset();
    } else if (one_ == number) {
      one_ = kNone;
    }
  }

  bool intersects(const SeriesSet& set) const {
    return many_ == nullptr ? one_ != kNone && set.contains(one_) : many_->intersect(set);
  }
  void intersect_into(SeriesSet& set) const {
    if (many_ != nullptr) {
      set &= *many_;
    } else {
      const bool stays = intersects(set);
      set = SeriesSet();
      if (stays) set.add(one_);
    }
  }
  // For the union of many: null when it is in `singles` now.
  const SeriesSet* bitmap_or_add_to(SeriesSet& singles) const {
    if (many_ == nullptr && one_ != kNone) singles.add(one_);
    return many_.get();
  }

 private:
  static constexpr SeriesNumber kNone = UINT32_MAX;
  SeriesNumber one_ = kNone;  // while there is no bitmap
  std::unique_ptr<SeriesSet> many_;
};

}  // namespace vesta::rocks
