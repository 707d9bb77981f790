#include "profile/sample_table.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/table_hash.h"

namespace vesta {

SampleTable::Key SampleTable::key_at(size_t row) const {
  std::array<int64_t, kKeyWords> words{};
  std::copy_n(rows_.data() + row * (kKeyWords + type_count_), kKeyWords, words.begin());
  return std::bit_cast<Key>(words);
}

void SampleTable::add(StackId stack, std::span<const int64_t> values, LabelSetId labels,
                      LinkId link, int64_t time_ns) {
  const Key key{stack, labels, link, 0, time_ns};
  bool is_new = false;
  const uint32_t row = index_.find_or_insert(
      table_hash(&key, sizeof key), [&](uint32_t at) { return key_at(at) == key; },
      [&] {
        is_new = true;
        return static_cast<uint32_t>(size_++);
      });
  if (is_new) {
    const auto words = std::bit_cast<std::array<int64_t, kKeyWords>>(key);
    rows_.insert(rows_.end(), words.begin(), words.end());
    rows_.insert(rows_.end(), values.begin(), values.end());
    return;
  }
  int64_t* sums = rows_.data() + size_t{row} * (kKeyWords + type_count_) + kKeyWords;
  for (size_t i = 0; i < type_count_; ++i) sums[i] = saturating_add(sums[i], values[i]);
}

Samples SampleTable::finish() {
  Samples samples;
  bool has_labels = false;
  bool has_links = false;
  bool has_times = false;
  for (size_t row = 0; row < size_; ++row) {
    const Key key = key_at(row);
    has_labels |= static_cast<bool>(key.labels);
    has_links |= static_cast<bool>(key.link);
    has_times |= key.time_ns != 0;
  }
  samples.stacks.reserve(size_);
  samples.values.reserve(size_ * type_count_);
  for (size_t row = 0; row < size_; ++row) {
    const Key key = key_at(row);
    samples.stacks.push_back(key.stack);
    if (has_labels) samples.labels.push_back(key.labels);
    if (has_links) samples.links.push_back(key.link);
    if (has_times) samples.times_ns.push_back(key.time_ns);
    const auto values =
        rows_.begin() + static_cast<ptrdiff_t>(row * (kKeyWords + type_count_) + kKeyWords);
    samples.values.insert(samples.values.end(), values,
                          values + static_cast<ptrdiff_t>(type_count_));
  }
  rows_.clear();
  size_ = 0;
  index_.clear();
  return samples;
}

}  // namespace vesta
