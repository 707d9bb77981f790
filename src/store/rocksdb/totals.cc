// Totals over time: from roll-ups of totals where every sample counts, else from the profiles.
#include <algorithm>
#include <map>
#include <optional>

#include "profile/carried_rounding.h"
#include "store/rocksdb/query_scope.h"
#include "store/rocksdb/reader.h"
#include "store/rocksdb/stored_totals.h"

namespace vesta::rocks {
namespace {

// What a request counts of a profile, from the record that it needs: its total, or its rows.
class ProfileTotal {
 public:
  ProfileTotal(const Database& database, const TotalsRequest& request)
      : database_(database), request_(request) {}

  // What follows is of this service.
  void begin(const ScopeService& service) {
    if (request_.counts_all() || service_ == &service) return;
    service_ = &service;
    test_.emplace(request_.samples, service.dictionary);
    if (!request_.stacks) return;
    const auto [counted, is_new] = counted_.try_emplace(&service);
    if (is_new) counted->second = request_.stacks(service.dictionary.tree);
    stacks_ = &counted->second;
  }

  Result<int64_t> operator()(const ProfileKey& key, std::string_view value) {
    if (request_.counts_all()) {
      StoredTotal total;
      if (!total.parse(value)) return damaged_record(database_, key);
      return total.value;
    }
    if (!record_.parse(value) ||
        !record_.read_rows(service_->dictionary.tree.stack_count(), key.time_ns, rows_)) {
      return damaged_record(database_, key);
    }
    int64_t sum = 0;
    for (const Row& row : rows_)
      if (counts(row.key)) sum = saturating_add(sum, row.value);
    return sum;
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
    total_of_.begin(service);
    for (const Piece& piece : series.pieces) VESTA_TRY(add(piece));
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
    for (const auto& [service, series] : by_labels(scope)) {
      VESTA_TRY(reader.read(*service, *series));
      if (reader.steps().sums().empty()) continue;
      auto& group = groups[group_of(series->labels, request.group_by)];
      for (const auto& [number, part] : reader.steps().sums()) {
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
