// Totals over time: from roll-ups of totals where every sample counts, else from the profiles.
#include <algorithm>
#include <map>
#include <optional>

#include "profile/carried_rounding.h"
#include "store/rocksdb/query_scope.h"
#include "store/rocksdb/reader.h"
#include "store/rocksdb/stored_totals.h"
#include "store/sample_labels.h"

namespace vesta::rocks {
namespace {

// What a request counts of a profile, from the record that it needs: its total, or its rows.
class ProfileTotal {
 public:
  ProfileTotal(const Database& database, const TotalsRequest& request)
      : database_(database), request_(request) {}

  // What follows is of this series; false when nothing of it can count.
  bool begin(const ScopeService& service, const ScopeSeries& series) {
    if (request_.counts_all()) return true;
    if (service_ != &service) {
      service_ = &service;
      test_.emplace(request_.samples, service.dictionary);
      if (request_.stacks) {
        const auto [counted, is_new] = counted_.try_emplace(&service);
        if (is_new) counted->second = request_.stacks(service.dictionary.tree);
        stacks_ = &counted->second;
      }
    }
    return test_->begin(series.labels);
  }

  Result<int64_t> operator()(const ProfileKey& key, std::string_view value) {
    if (request_.counts_all()) {
      StoredTotal total;
      if (!total.parse(value)) return damaged_record(database_, key);
      return total.value;
    }
    int64_t sum = 0;
    VESTA_TRY(
        for_each_row(key, value, [&](const Row& row) { sum = saturating_add(sum, row.value); }));
    return sum;
  }

  // Of the rows that count. REQUIRES: !counts_all()
  template <class Visit>
  Status for_each_row(const ProfileKey& key, std::string_view value, Visit&& visit) {
    if (!record_.parse(value) ||
        !record_.read_rows(service_->dictionary.tree.stack_count(), key.time_ns, rows_)) {
      return damaged_record(database_, key);
    }
    for (const Row& row : rows_)
      if (counts(row.key)) visit(row);
    return {};
  }

 private:
  bool counts(const RowKey& row) {
    if (stacks_ != nullptr && (row.stack >= stacks_->size() || (*stacks_)[row.stack] == 0))
      return false;
    return request_.samples.empty() || test_->passes(row);
  }

  const Database& database_;
  const TotalsRequest& request_;
  const ScopeService* service_ = nullptr;
  std::optional<SampleTest> test_;
  std::map<const ScopeService*, std::vector<uint8_t>> counted_;
  const std::vector<uint8_t>* stacks_ = nullptr;
  RecordView record_;
  std::vector<Row> rows_;
};

// What one series has in each step.
class Steps {
 public:
  Steps(TimeRange range, int64_t step_ns)
      : start_(static_cast<uint64_t>(range.start_ns)), step_(static_cast<uint64_t>(step_ns)) {}

  // The range may be wider than 63 bits.
  uint64_t number_of(int64_t time_ns) const {
    return (static_cast<uint64_t>(time_ns) - start_) / step_;
  }
  int64_t start_of(uint64_t number) const { return static_cast<int64_t>(start_ + number * step_); }
  bool is_one(TimeRange range) const {
    return number_of(range.start_ns) == number_of(range.end_ns - 1);
  }

  void add(int64_t time_ns, const TotalsSum& sum) {
    const uint64_t number = number_of(time_ns);
    // Most come in the order of time.
    if (last_ == nullptr || last_number_ != number) {
      last_ = &sums_[number];
      last_number_ = number;
    }
    last_->sum = saturating_add(last_->sum, sum.sum);
    last_->profiles += sum.profiles;
  }
  const std::map<uint64_t, TotalsSum>& sums() const { return sums_; }
  void clear() {
    sums_.clear();
    last_ = nullptr;
  }

 private:
  const uint64_t start_;
  const uint64_t step_;
  std::map<uint64_t, TotalsSum> sums_;
  TotalsSum* last_ = nullptr;
  uint64_t last_number_ = 0;
};

// What one series has in each step, by labels of its samples.
class GroupedSteps {
 public:
  using Sums = std::map<uint64_t, TotalsSum>;  // by number of the step

  void begin(const ScopeService& service, const Labels& series,
             const std::vector<std::string>& names) {
    dictionary_ = &service.dictionary;
    series_ = &series;
    names_ = &names;
    known_.clear();
    groups_.clear();
    profiles_.clear();
  }
  void add_profile(uint64_t number) { ++profiles_[number]; }
  void add(uint64_t number, LabelSetNumber labels, int64_t value) {
    const auto [known, is_new] = known_.try_emplace(labels, nullptr);
    if (is_new)
      known->second = &groups_[own_labels(sample_labels(*dictionary_, labels), *series_, *names_)];
    int64_t& sum = (*known->second)[number].sum;
    sum = saturating_add(sum, value);
  }
  // With the profiles of the whole series.
  const std::map<Labels, Sums>& finish() {
    for (auto& [labels, sums] : groups_)
      for (auto& [number, sum] : sums) sum.profiles = profiles_[number];
    return groups_;
  }

 private:
  const DictionarySnapshot* dictionary_ = nullptr;
  const Labels* series_ = nullptr;
  const std::vector<std::string>* names_ = nullptr;
  std::unordered_map<LabelSetNumber, Sums*> known_;
  std::map<Labels, Sums> groups_;
  std::map<uint64_t, uint64_t> profiles_;
};

// Adds up pieces of series, one series after the other.
class TotalsReader {
 public:
  TotalsReader(Store& store, const QueryScope& scope, const TotalsRequest& request, QueryCost& cost)
      : database_(*store.database),
        tenant_(scope.tenant),
        cost_(cost),
        profiles_(*scope.view, request.counts_all() ? Family::kTotals : Family::kRaw),
        hours_(*scope.view, Family::kRollup),
        days_(*scope.view, Family::kRollup),
        total_of_(*store.database, request),
        steps_(request.range, request.step_ns) {}

  const Steps& steps() const { return steps_; }

  Status read(const ScopeService& service, const ScopeSeries& series) {
    steps_.clear();
    if (!total_of_.begin(service, series)) return {};
    for (const Piece& piece : series.pieces) VESTA_TRY(add(piece));
    return {};
  }

  // The same, by labels of samples. REQUIRES: no piece is a roll-up.
  Status read_groups(const ScopeService& service, const ScopeSeries& series,
                     const std::vector<std::string>& names, GroupedSteps& groups) {
    groups.begin(service, series.labels, names);
    if (!total_of_.begin(service, series)) return {};
    for (const Piece& piece : series.pieces) {
      VESTA_TRY(for_each_profile(profiles_, tenant_, piece, cost_,
                                 [&](const ProfileKey& key, std::string_view value) -> Status {
                                   const uint64_t number = steps_.number_of(key.time_ns);
                                   groups.add_profile(number);
                                   return total_of_.for_each_row(key, value, [&](const Row& row) {
                                     groups.add(number, row.key.labels, row.value);
                                   });
                                 }));
    }
    return {};
  }

 private:
  Status add(const Piece& piece) {
    if (piece.kind == Piece::Kind::kRaw) return add_profiles(piece);
    return piece.level == Level::kSeriesDayTotals
               ? add_day(piece)
               : add_hour(piece.series, piece.bucket, piece.range);
  }

  Status add_profiles(const Piece& piece) {
    return for_each_profile(profiles_, tenant_, piece, cost_,
                            [&](const ProfileKey& key, std::string_view value) -> Status {
                              VESTA_ASSIGN(const int64_t total, total_of_(key, value));
                              steps_.add(key.time_ns, {1, total});
                              return {};
                            });
  }

  Status add_day(const Piece& piece) {
    VESTA_TRY(seek(days_, Level::kSeriesDayTotals, piece.series, piece.bucket));
    if (!decode_day_totals(days_.value(), piece.bucket, sums_))
      return damaged(piece.series, piece.bucket);
    days_.next();
    for (const HourSum& hour : sums_) {
      const TimeRange whole = bucket_range(hour.hour, kHourNs);
      const TimeRange asked = overlap(piece.range, whole);
      if (asked.empty()) continue;
      if (asked == whole && steps_.is_one(whole)) {
        steps_.add(whole.start_ns, hour.sum);
      } else {
        VESTA_TRY(add_hour(piece.series, hour.hour, asked));
      }
    }
    return {};
  }

  Status add_hour(SeriesNumber series, Hour hour, TimeRange asked) {
    VESTA_TRY(seek(hours_, Level::kSeriesHourTotals, series, hour));
    HourTotals totals;
    if (!totals.parse(hours_.value(), hour)) return damaged(series, hour);
    if (asked == bucket_range(hour, kHourNs) && steps_.is_one(asked)) {
      steps_.add(asked.start_ns, totals.sum());
    } else if (!totals.for_each([&](int64_t time_ns, int64_t value) {
                 if (asked.contains(time_ns)) steps_.add(time_ns, {1, value});
               })) {
      return damaged(series, hour);
    }
    hours_.next();
    return {};
  }

  // To what is planned for, and therefore there.
  Status seek(Cursor& cursor, Level level, SeriesNumber series, Bucket bucket) {
    const Key key = rollup_key(tenant_, level, {series, 0}, bucket);
    cursor.seek(key.view());
    VESTA_TRY(cursor.status());
    VESTA_TRY(cost_.step());
    if (!cursor.valid() || cursor.key() != key.view()) return damaged(series, bucket);
    return {};
  }
  Error damaged(SeriesNumber series, Bucket bucket) const {
    return damaged_record(database_, {tenant_, bucket, series, 0, 0});
  }

  const Database& database_;
  const TenantId tenant_;
  QueryCost& cost_;
  Cursor profiles_;
  Cursor hours_;
  Cursor days_;
  ProfileTotal total_of_;
  Steps steps_;
  std::vector<HourSum> sums_;  // scratch
};

}  // namespace

Result<std::vector<TotalsSeries>> totals(Store& store, std::string_view tenant,
                                         const TotalsRequest& request) {
  if (request.step_ns <= 0) {
    return Error{ErrorCode::kUsage, "the step of a time series must be longer than nothing",
                 "give it in nanoseconds, as in 15000000000 for 15 s"};
  }
  QueryCost cost(request.budget);
  ScopeOptions options;
  options.dictionaries = !request.counts_all();
  options.rollups = options.totals = request.counts_all();
  VESTA_ASSIGN(const QueryScope scope, QueryScope::open(store, tenant, request.type,
                                                        request.selector, request.range, options));
  std::map<Labels, std::map<uint64_t, TotalsPoint>> groups;  // by number of the step
  const bool instant = request.type.temporality() == Temporality::kInstant;
  if (!scope.services.empty()) {
    TotalsReader reader(store, scope, request, cost);
    const auto add = [&](const Labels& labels,
                         const std::map<uint64_t, TotalsSum>& sums) -> Status {
      if (sums.empty()) return {};
      auto& group = groups[labels];
      for (const auto& [number, part] : sums) {
        const auto [at, is_new] = group.try_emplace(number);
        if (is_new) VESTA_TRY(cost.add(sizeof(TotalsPoint)));
        TotalsPoint& point = at->second;
        point.time_ns = reader.steps().start_of(number);
        const int64_t value =
            instant ? CarriedDivision(static_cast<int64_t>(part.profiles))(part.sum) : part.sum;
        point.value = saturating_add(point.value, value);
        point.sum = saturating_add(point.sum, part.sum);
        point.profiles += part.profiles;
      }
      return {};
    };
    GroupedSteps by_samples;
    for (const auto& [service, series] : by_labels(scope)) {
      const Labels labels = group_of(series->labels, request.group_by);
      if (!request.group_samples) {
        VESTA_TRY(reader.read(*service, *series));
        VESTA_TRY(add(labels, reader.steps().sums()));
        continue;
      }
      VESTA_TRY(reader.read_groups(*service, *series, request.group_by, by_samples));
      for (const auto& [own, sums] : by_samples.finish()) VESTA_TRY(add(joined(labels, own), sums));
    }
  }
  VESTA_TRY(cost.add(0));
  std::vector<TotalsSeries> answer;
  for (const auto& [labels, points] : groups) {
    TotalsSeries& series = answer.emplace_back(TotalsSeries{labels, {}});
    for (const auto& [number, point] : points) series.points.push_back(point);
  }
  return answer;
}

}  // namespace vesta::rocks
