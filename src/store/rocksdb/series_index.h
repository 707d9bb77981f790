// The series of one tenant and their labels, in memory: strings once each, a bitmap of series for
// each label value, and which series have a profile in which hour. Rebuilt from the store when it
// is opened; what only series that are gone had is let go. Owns everything; not thread-safe, the
// tenant has the lock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/id_index.h"
#include "store/engine.h"
#include "store/rocksdb/format/keys.h"
#include "store/rocksdb/paged_table.h"
#include "store/rocksdb/series_posting.h"

namespace vesta::rocks {

class SeriesIndex {
 public:
  struct Series {
    TypeNumber type = 0;
    PartitionNumber partition = 0;
    bool is_exact = false;  // first_ns and last_ns say all that is known of the store
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    Hour first_hour = UINT32_MAX;
    Hour last_hour = 0;
    std::vector<std::pair<uint32_t, uint32_t>> labels;  // name and value in strings_, by name
  };
  static constexpr SeriesNumber kNone = UINT32_MAX;

  // kNone when there is no series with exactly these labels.
  SeriesNumber find(const Labels& labels) const;
  // REQUIRES: neither number nor labels are there
  void add(SeriesNumber number, const Labels& labels, PartitionNumber partition, TypeNumber type);
  void remove(SeriesNumber number);

  // REQUIRES: number is of a series that is there
  const Series& series(SeriesNumber number) const { return series_[number]; }
  Series& series(SeriesNumber number) { return series_[number]; }
  bool contains(SeriesNumber number) const { return series_.contains(number); }
  Labels labels(SeriesNumber number) const;
  std::string_view label(SeriesNumber number, std::string_view name) const;
  const SeriesSet& all() const { return all_; }

  SeriesSet match(const Selector& selector) const;
  // Of the service and type, all there are.
  const SeriesSet& of_service(PartitionNumber partition, TypeNumber type) const;
  SeriesSet of_partition(PartitionNumber partition) const;

  std::vector<std::string> label_names(const SeriesSet& among) const;
  std::vector<std::string> label_values(std::string_view name, const SeriesSet& among,
                                        std::string_view prefix, size_t limit) const;

  // Hours.
  void add_hour(Hour hour, SeriesNumber number);
  // REQUIRES: each of them has that hour
  void remove_hours(const std::map<Hour, SeriesSet>& gone);
  bool has_hour(Hour hour, SeriesNumber series) const;
  const std::map<Hour, SeriesSet>& hours() const { return hours_; }
  const std::map<Day, SeriesSet>& days() const { return days_; }
  // Of all with an hour in [from, to].
  SeriesSet active(Hour from, Hour to) const;

  uint64_t byte_size() const;

 private:
  struct Text {
    std::string text;
    uint32_t uses = 0;  // names and values of series that are there
  };
  using Values = std::map<std::string_view, SeriesPosting, std::less<>>;

  uint32_t intern(std::string_view text);
  void release(uint32_t string);
  void forget_released();
  std::string_view text(uint32_t string) const { return strings_[string].text; }
  static uint64_t byte_size_of(const Text& text);
  uint32_t string_number(std::string_view text) const;  // IdIndex::kNotFound when there is none
  SeriesSet matching(const Values& values, const LabelMatcher& matcher, bool wanted) const;
  std::vector<std::string_view> values_of(std::string_view name, const SeriesSet& among,
                                          std::string_view prefix) const;
  void narrow(SeriesSet& found, const LabelMatcher& matcher) const;
  static uint64_t hash_of(const Labels& labels);

  PagedTable<Text> strings_;
  uint32_t next_string_ = 0;
  uint64_t string_count_ = 0;
  uint64_t released_strings_ = 0;  // that string_numbers_ still has
  IdIndex string_numbers_;
  PagedTable<Series> series_;
  std::unordered_multimap<uint64_t, SeriesNumber> by_labels_;
  std::map<std::string_view, Values, std::less<>> postings_;
  std::map<std::pair<PartitionNumber, TypeNumber>, SeriesSet> services_;
  SeriesSet all_;
  std::map<Hour, SeriesSet> hours_;
  std::map<Day, SeriesSet> days_;
  uint64_t string_bytes_ = 0;  // beyond the table
  uint64_t label_bytes_ = 0;
};

}  // namespace vesta::rocks
