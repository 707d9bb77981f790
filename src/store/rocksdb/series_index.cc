#include "store/rocksdb/series_index.h"

#include <algorithm>
#include <set>

#include "base/labels.h"
#include "base/table_hash.h"

namespace vesta::rocks {

uint64_t SeriesIndex::hash_of(const Labels& labels) {
  TableHash hash;
  for (const auto& [name, value] : labels) hash.add(table_hash(name)).add(table_hash(value));
  return hash.value();
}

uint64_t SeriesIndex::byte_size_of(const Text& text) {
  const bool is_inside = text.text.capacity() <= std::string().capacity();
  return is_inside ? 0 : text.text.capacity() + 1;
}

uint32_t SeriesIndex::intern(std::string_view text) {
  const uint32_t number = string_numbers_.find_or_insert(
      table_hash(text),
      [&](uint32_t at) { return strings_.contains(at) && strings_[at].text == text; },
      [&] {
        Text& added = strings_.add(next_string_);
        added.text = text;
        string_bytes_ += byte_size_of(added);
        ++string_count_;
        return next_string_++;
      });
  ++strings_[number].uses;
  return number;
}

void SeriesIndex::release(uint32_t string) {
  if (--strings_[string].uses != 0) return;
  string_bytes_ -= byte_size_of(strings_[string]);
  strings_.erase(string);
  --string_count_;
  ++released_strings_;
}

// From the tables that find things by hash, which would otherwise stay as large as they ever were.
void SeriesIndex::forget_released() {
  constexpr uint64_t kFew = 1024;
  if (released_strings_ <= string_count_ + kFew) return;
  released_strings_ = 0;
  string_numbers_ = {};
  string_numbers_.reserve(string_count_);
  for (uint32_t at = 0; at < next_string_; ++at) {
    if (!strings_.contains(at)) continue;
    string_numbers_.find_or_insert(
        table_hash(text(at)), [](uint32_t) { return false; }, [&] { return at; });
  }
  by_labels_.rehash(0);
}

uint32_t SeriesIndex::string_number(std::string_view text) const {
  return string_numbers_.find(table_hash(text), [&](uint32_t at) {
    return strings_.contains(at) && strings_[at].text == text;
  });
}

SeriesNumber SeriesIndex::find(const Labels& labels) const {
  const auto [from, to] = by_labels_.equal_range(hash_of(labels));
  for (auto at = from; at != to; ++at) {
    const Series& series = series_[at->second];
    const auto same = [&](const auto& stored, const auto& wanted) {
      return text(stored.first) == wanted.first && text(stored.second) == wanted.second;
    };
    if (std::equal(series.labels.begin(), series.labels.end(), labels.begin(), labels.end(), same))
      return at->second;
  }
  return kNone;
}

void SeriesIndex::add(SeriesNumber number, const Labels& labels, PartitionNumber partition,
                      TypeNumber type) {
  Series& series = series_.add(number);
  series.partition = partition;
  series.type = type;
  series.labels.reserve(labels.size());
  for (const auto& [name, value] : labels) {
    const uint32_t name_number = intern(name);
    const uint32_t value_number = intern(value);
    series.labels.emplace_back(name_number, value_number);
    postings_[text(name_number)][text(value_number)].add(number);
  }
  label_bytes_ += series.labels.capacity() * sizeof(series.labels[0]);
  by_labels_.emplace(hash_of(labels), number);
  services_[{partition, type}].add(number);
  all_.add(number);
}

void SeriesIndex::remove(SeriesNumber number) {
  const auto [from, to] = by_labels_.equal_range(hash_of(labels(number)));
  for (auto at = from; at != to; ++at) {
    if (at->second != number) continue;
    by_labels_.erase(at);
    break;
  }
  const Series& series = series_[number];
  for (const auto& [name, value] : series.labels) {
    const auto values = postings_.find(text(name));
    const auto posting = values->second.find(text(value));
    posting->second.remove(number);
    if (posting->second.empty()) values->second.erase(posting);
    if (values->second.empty()) postings_.erase(values);
  }
  // Only now: the postings look at the texts.
  for (const auto& [name, value] : series.labels) {
    release(name);
    release(value);
  }
  const auto service = services_.find({series.partition, series.type});
  service->second.remove(number);
  if (service->second.isEmpty()) services_.erase(service);
  all_.remove(number);
  label_bytes_ -= series.labels.capacity() * sizeof(series.labels[0]);
  series_.erase(number);
  forget_released();
}

Labels SeriesIndex::labels(SeriesNumber number) const {
  Labels out;
  for (const auto& [name, value] : series_[number].labels)
    out.emplace_back(text(name), text(value));
  return out;
}

std::string_view SeriesIndex::label(SeriesNumber number, std::string_view name) const {
  for (const auto& [name_number, value] : series_[number].labels)
    if (text(name_number) == name) return text(value);
  return {};
}

SeriesSet SeriesIndex::matching(const Values& values, const LabelMatcher& matcher,
                                bool wanted) const {
  SeriesSet singles;
  std::vector<const SeriesSet*> sets = {&singles};
  for (const auto& [value, posting] : values) {
    if (matcher.matches(value) != wanted) continue;
    if (const SeriesSet* set = posting.bitmap_or_add_to(singles)) sets.push_back(set);
  }
  return SeriesSet::fastunion(sets.size(), sets.data());
}

void SeriesIndex::narrow(SeriesSet& found, const LabelMatcher& matcher) const {
  const auto values = postings_.find(matcher.name());
  if (values == postings_.end()) {
    if (!matcher.matches_empty()) found = {};
    return;
  }
  if (matcher.op() == MatchOperator::kEqual && !matcher.matches_empty()) {
    const auto posting = values->second.find(matcher.value());
    if (posting == values->second.end()) {
      found = {};
    } else {
      posting->second.intersect_into(found);
    }
    return;
  }
  // To ask each series is cheaper than to ask each value where there are fewer of them.
  if (found.cardinality() < values->second.size()) {
    SeriesSet kept;
    for (const SeriesNumber number : found)
      if (matcher.matches(label(number, matcher.name()))) kept.add(number);
    found = kept;
  } else if (matcher.matches_empty()) {
    found -= matching(values->second, matcher, false);
  } else {
    found &= matching(values->second, matcher, true);
  }
}

SeriesSet SeriesIndex::match(const Selector& selector) const {
  SeriesSet found = all_;
  // What is exact narrows most, for next to nothing.
  for (const bool exact : {true, false}) {
    for (const LabelMatcher& matcher : selector)
      if ((matcher.op() == MatchOperator::kEqual) == exact) narrow(found, matcher);
  }
  return found;
}

const SeriesSet& SeriesIndex::of_service(PartitionNumber partition, TypeNumber type) const {
  static const SeriesSet kEmpty;
  const auto found = services_.find({partition, type});
  return found == services_.end() ? kEmpty : found->second;
}

SeriesSet SeriesIndex::of_partition(PartitionNumber partition) const {
  SeriesSet out;
  for (auto at = services_.lower_bound({partition, 0});
       at != services_.end() && at->first.first == partition; ++at)
    out |= at->second;
  return out;
}

std::vector<std::string> SeriesIndex::label_names(const SeriesSet& among) const {
  std::vector<std::string> names;
  const uint64_t count = among.cardinality();
  if (count == all_.cardinality()) {
    for (const auto& [name, values] : postings_) names.emplace_back(name);
  } else {
    std::set<uint32_t> seen;
    for (const SeriesNumber number : among)
      for (const auto& [name, value] : series_[number].labels) seen.insert(name);
    for (const uint32_t name : seen) names.emplace_back(text(name));
    std::ranges::sort(names);
  }
  return names;
}

// In no order. Texts are read only of those that differ: with many series, each read waits for
// memory.
std::vector<std::string_view> SeriesIndex::values_of(std::string_view name, const SeriesSet& among,
                                                     std::string_view prefix) const {
  std::vector<std::string_view> out;
  const uint32_t name_number = string_number(name);
  if (name_number == IdIndex::kNotFound) return out;
  std::vector<uint32_t> values;
  values.reserve(among.cardinality());
  for (const SeriesNumber number : among) {
    for (const auto& [label, value] : series_[number].labels)
      if (label == name_number) values.push_back(value);
  }
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  for (const uint32_t value : values) {
    const std::string_view shown = text(value);
    if (!shown.empty() && shown.starts_with(prefix)) out.push_back(shown);
  }
  return out;
}

std::vector<std::string> SeriesIndex::label_values(std::string_view name, const SeriesSet& among,
                                                   std::string_view prefix, size_t limit) const {
  std::vector<std::string> out;
  const auto values = postings_.find(name);
  if (values == postings_.end()) return out;
  const uint64_t count = among.cardinality();
  const bool is_all = count == all_.cardinality();
  if (!is_all && count < values->second.size()) {
    std::vector<std::string_view> seen = values_of(name, among, prefix);
    if (limit != 0 && seen.size() > limit) {
      std::ranges::nth_element(seen, seen.begin() + static_cast<std::ptrdiff_t>(limit));
      seen.resize(limit);
    }
    std::ranges::sort(seen);
    out.assign(seen.begin(), seen.end());
    return out;
  }
  for (auto at = values->second.lower_bound(prefix);
       at != values->second.end() && at->first.starts_with(prefix); ++at) {
    if (!is_all && !at->second.intersects(among)) continue;
    out.emplace_back(at->first);
    if (limit != 0 && out.size() == limit) break;
  }
  return out;
}

void SeriesIndex::add_hour(Hour hour, SeriesNumber number) {
  hours_[hour].add(number);
  days_[day_of_hour(hour)].add(number);
  Series& series = series_[number];
  series.first_hour = std::min(series.first_hour, hour);
  series.last_hour = std::max(series.last_hour, hour);
}

void SeriesIndex::remove_hours(const std::map<Hour, SeriesSet>& gone) {
  SeriesSet touched;
  std::set<Day> days;
  for (const auto& [hour, numbers] : gone) {
    const auto found = hours_.find(hour);
    if (found == hours_.end()) continue;
    found->second -= numbers;
    if (found->second.isEmpty()) hours_.erase(found);
    touched |= numbers;
    days.insert(day_of_hour(hour));
  }
  for (const Day day : days) {
    const Hour first = first_hour_of(day);
    SeriesSet still;
    for (auto at = hours_.lower_bound(first); at != hours_.end() && at->first < first + 24; ++at)
      still |= at->second;
    if (still.isEmpty()) {
      days_.erase(day);
    } else {
      days_[day] = std::move(still);
    }
  }
  for (const SeriesNumber number : touched) {
    Series& series = series_[number];
    auto from = hours_.lower_bound(series.first_hour);
    while (from != hours_.end() && from->first <= series.last_hour &&
           !from->second.contains(number))
      ++from;
    if (from == hours_.end() || from->first > series.last_hour) {
      series.first_hour = UINT32_MAX;
      series.last_hour = 0;
      continue;
    }
    series.first_hour = from->first;
    auto to = hours_.upper_bound(series.last_hour);
    do --to;
    while (!to->second.contains(number));
    series.last_hour = to->first;
  }
}

bool SeriesIndex::has_hour(Hour hour, SeriesNumber series) const {
  const auto found = hours_.find(hour);
  return found != hours_.end() && found->second.contains(series);
}

SeriesSet SeriesIndex::active(Hour from, Hour to) const {
  if (hours_.empty() || from > to) return {};
  if (from <= hours_.begin()->first && to >= hours_.rbegin()->first) return all_;
  std::vector<const SeriesSet*> sets;
  const auto end = hours_.upper_bound(to);
  for (auto at = hours_.lower_bound(from); at != end;) {
    const Day day = day_of_hour(at->first);
    const Hour first = first_hour_of(day);
    if (first >= from && uint64_t{first} + 23 <= to) {
      sets.push_back(&days_.at(day));
      at = hours_.lower_bound(first + 24);
    } else {
      sets.push_back(&at->second);
      ++at;
    }
  }
  if (sets.empty()) return {};
  return SeriesSet::fastunion(sets.size(), sets.data());
}

uint64_t SeriesIndex::byte_size() const {
  uint64_t bytes = strings_.byte_size() + string_bytes_ + string_numbers_.byte_size() +
                   series_.byte_size() + label_bytes_ + by_labels_.size() * 40 +
                   by_labels_.bucket_count() * sizeof(void*);
  for (const auto& [name, values] : postings_) bytes += values.size() * 80;
  return bytes;
}

}  // namespace vesta::rocks
