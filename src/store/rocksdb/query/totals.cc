// Totals over time: from roll-ups of totals where every sample counts, else from the profiles.
#include <algorithm>
#include <map>
#include <optional>

#include "base/time.h"
#include "store/rocksdb/format/stored_totals.h"
#include "store/rocksdb/query/query_scope.h"
#include "store/rocksdb/query/reader.h"
#include "store/sample_labels.h"
#include "store/series_labels.h"
#include "store/totals_groups.h"

namespace vesta::rocks {
namespace {

// What a request counts of a profile, and the time that it covers, from the record that it needs:
// its total, or its rows.
class ProfileTotal {
 public:
  explicit ProfileTotal(const TotalsRequest& request) : request_(request) {}

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

  // What follows is of this profile; false when the bytes are damaged.
  bool open(std::string_view value, int64_t time_ns) {
    if (request_.counts_all()) return total_.parse(value);
    if (!record_.parse(value) ||
        !record_.read_rows(service_->dictionary.tree.stack_count(), time_ns, rows_)) {
      return false;
    }
    total_.duration_ns = record_.header().duration_ns;
    return true;
  }
  int64_t duration_ns() const { return total_.duration_ns; }
  // Of all that counts.
  int64_t value() {
    if (request_.counts_all()) return total_.value;
    int64_t sum = 0;
    for_each_row([&](const Row& row) { sum = saturating_add(sum, row.value); });
    return sum;
  }
  // Of the rows that count. REQUIRES: !counts_all()
  template <class Visit>
  void for_each_row(Visit&& visit) {
    for (const Row& row : rows_)
      if (counts(row.key)) visit(row);
  }

 private:
  bool counts(const RowKey& row) {
    if (stacks_ != nullptr &&
        (row.stack.index() >= stacks_->size() || (*stacks_)[row.stack.index()] == 0))
      return false;
    return request_.samples.empty() || test_->passes(row);
  }

  const TotalsRequest& request_;
  const ScopeService* service_ = nullptr;
  std::optional<SampleTest> test_;
  std::map<const ScopeService*, std::vector<uint8_t>> counted_;
  const std::vector<uint8_t>* stacks_ = nullptr;
  StoredTotal total_;
  RecordView record_;
  std::vector<Row> rows_;
};

// What one series has in each step, and the time that it covers.
class SeriesSteps {
 public:
  explicit SeriesSteps(const TotalsRequest& request)
      : grid_(request.range, request.step_ns), spreads_(request.spreads()) {}

  const StepGrid& grid() const { return grid_; }
  bool spreads() const { return spreads_; }

  void add(const TimedTotal& total) {
    const TimeRange covered = spread_range(total.time_ns, total.duration_ns);
    add_covered(covered);
    // Most lie in the step of the one before.
    if (last_ != nullptr && last_range_.contains(total.time_ns) &&
        covered.end_ns <= last_range_.end_ns) {
      ++last_->profiles;
      last_->sum = saturating_add(last_->sum, total.value);
      return;
    }
    if (grid_.range().contains(total.time_ns)) ++at(grid_.number_of(total.time_ns)).profiles;
    grid_.spread(total.time_ns, spreads_ ? total.duration_ns : 0, total.value,
                 [&](uint64_t number, int64_t part) { add(number, part); });
  }
  // False when the profiles of the hour have to be looked at one by one.
  bool add(const HourSummary& hour) {
    if (!hour.has_spread) return false;
    const TimeRange whole = bucket_range(hour.hour, kHour);
    const TimeRange rest{whole.end_ns, hour.end_ns};  // what they reach into
    const bool is_before = whole.end_ns <= grid_.range().start_ns;
    if (is_before && rest.end_ns <= grid_.range().start_ns) return true;
    if (is_before || !grid_.is_one(whole)) return false;
    if (spreads_ && !rest.empty() && rest.start_ns < grid_.range().end_ns) {
      if (!grid_.is_one(rest)) return false;
      add(grid_.number_of(rest.start_ns), saturating_subtract(hour.sum, hour.inside));
    }
    const uint64_t number = grid_.number_of(whole.start_ns);
    add(number, spreads_ ? hour.inside : hour.sum);
    at(number).profiles += hour.profiles;
    for (const TimeRange& range : hour.covered) add_covered(range);
    return true;
  }

  const StepSums& sums() const { return sums_; }
  const TimeCover& cover() const { return cover_; }
  void clear() {
    sums_.clear();
    cover_.clear();
    last_ = nullptr;
  }

 private:
  StepSum& at(uint64_t number) {
    if (last_ == nullptr || last_number_ != number) {
      last_ = &sums_[number];
      last_number_ = number;
      last_range_ = {grid_.start_of(number), grid_.end_of(number)};
    }
    return *last_;
  }
  void add(uint64_t number, int64_t part) {
    StepSum& step = at(number);
    step.sum = saturating_add(step.sum, part);
  }
  void add_covered(TimeRange range) { cover_.add(overlap(range, grid_.range())); }

  const StepGrid grid_;
  const bool spreads_;
  StepSums sums_;
  TimeCover cover_;
  StepSum* last_ = nullptr;
  uint64_t last_number_ = 0;
  TimeRange last_range_;
};

// The same by labels of samples.
class GroupedSteps {
 public:
  explicit GroupedSteps(const TotalsRequest& request)
      : request_(request), grid_(request.range, request.step_ns) {}

  void begin(const ScopeService& service, const Labels& series) {
    dictionary_ = &service.dictionary;
    series_ = &series;
    known_.clear();
    groups_.clear();
    profiles_.clear();
    cover_.clear();
  }
  // Samples that follow are of this profile.
  void begin_profile(int64_t time_ns, int64_t duration_ns) {
    time_ns_ = time_ns;
    duration_ns_ = duration_ns;
    totals_.clear();
    cover_.add(overlap(spread_range(time_ns, duration_ns), grid_.range()));
    if (grid_.range().contains(time_ns)) ++profiles_[grid_.number_of(time_ns)];
  }
  void add(LabelSetNumber labels, int64_t value) {
    const auto [known, is_new] = known_.try_emplace(labels, nullptr);
    if (is_new) {
      known->second =
          &groups_[own_labels(sample_labels(*dictionary_, labels), *series_, request_.group_by)];
    }
    int64_t& total = totals_[known->second];
    total = saturating_add(total, value);
  }
  void end_profile() {
    for (const auto& [group, total] : totals_) {
      grid_.spread(time_ns_, request_.spreads() ? duration_ns_ : 0, total,
                   [&, steps = group](uint64_t number, int64_t part) {
                     int64_t& sum = (*steps)[number].sum;
                     sum = saturating_add(sum, part);
                   });
    }
  }
  // With the profiles of the whole series.
  const std::map<Labels, StepSums>& finish() {
    for (auto& [labels, sums] : groups_) {
      for (auto& [number, sum] : sums) {
        if (const auto found = profiles_.find(number); found != profiles_.end())
          sum.profiles = found->second;
      }
    }
    return groups_;
  }
  const TimeCover& cover() const { return cover_; }

 private:
  const TotalsRequest& request_;
  const StepGrid grid_;
  const DictionarySnapshot* dictionary_ = nullptr;
  const Labels* series_ = nullptr;
  std::unordered_map<LabelSetNumber, StepSums*> known_;
  std::map<Labels, StepSums> groups_;
  std::map<uint64_t, uint64_t> profiles_;
  TimeCover cover_;
  int64_t time_ns_ = 0;
  int64_t duration_ns_ = 0;
  std::map<StepSums*, int64_t> totals_;  // of the profile at hand
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
        total_of_(request),
        steps_(request) {}

  const SeriesSteps& steps() const { return steps_; }

  Status read(const ScopeService& service, const ScopeSeries& series) {
    steps_.clear();
    if (!total_of_.begin(service, series)) return {};
    for (const Piece& piece : series.pieces) VESTA_TRY(add(piece));
    return {};
  }

  // The same, by labels of samples. REQUIRES: no piece is a roll-up.
  Status read_groups(const ScopeService& service, const ScopeSeries& series, GroupedSteps& groups) {
    groups.begin(service, series.labels);
    if (!total_of_.begin(service, series)) return {};
    for (const Piece& piece : series.pieces) {
      VESTA_TRY(for_each_profile(profiles_, tenant_, piece, cost_,
                                 [&](const ProfileKey& key, std::string_view value) -> Status {
                                   if (!total_of_.open(value, key.time_ns))
                                     return damaged_record(database_, key);
                                   groups.begin_profile(key.time_ns, total_of_.duration_ns());
                                   total_of_.for_each_row([&](const Row& row) {
                                     groups.add(row.key.labels, row.value);
                                   });
                                   groups.end_profile();
                                   return {};
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
    return for_each_profile(
        profiles_, tenant_, piece, cost_,
        [&](const ProfileKey& key, std::string_view value) -> Status {
          if (!total_of_.open(value, key.time_ns)) return damaged_record(database_, key);
          steps_.add(TimedTotal{key.time_ns, total_of_.duration_ns(), total_of_.value()});
          return {};
        });
  }

  Status add_day(const Piece& piece) {
    VESTA_TRY(seek(days_, Level::kSeriesDayTotals, piece.series, piece.bucket));
    if (!decode_day_totals(days_.value(), piece.bucket, summaries_))
      return damaged(piece.series, piece.bucket);
    days_.next();
    for (const HourSummary& hour : summaries_) {
      const TimeRange whole = bucket_range(hour.hour, kHour);
      const TimeRange asked = overlap(piece.range, whole);
      if (asked.empty() || (asked == whole && steps_.add(hour))) continue;
      VESTA_TRY(add_hour(piece.series, hour.hour, asked));
    }
    return {};
  }

  Status add_hour(SeriesNumber series, Hour hour, TimeRange asked) {
    VESTA_TRY(seek(hours_, Level::kSeriesHourTotals, series, hour));
    HourTotals totals;
    if (!totals.parse(hours_.value(), hour)) return damaged(series, hour);
    const bool is_whole = asked == bucket_range(hour, kHour);
    if (is_whole && steps_.add(totals.summary())) {
      hours_.next();
      return {};
    }
    if (!totals.has_durations())
      return add_profiles({Piece::Kind::kRaw, Level::kSeriesHour, hour, series, asked});
    const bool is_good = totals.for_each([&](const TimedTotal& total) {
      if (asked.contains(total.time_ns)) steps_.add(total);
    });
    if (!is_good) return damaged(series, hour);
    hours_.next();
    return cost_.step();
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
  SeriesSteps steps_;
  std::vector<HourSummary> summaries_;  // scratch
};

}  // namespace

Result<std::vector<TotalsSeries>> totals(Store& store, std::string_view tenant,
                                         const TotalsRequest& request) {
  if (request.step_ns <= 0) {
    return Error{ErrorCode::kUsage, "step must be greater than zero",
                 "use nanoseconds, for example 15000000000 for 15 s"};
  }
  QueryCost cost(request.budget);
  ScopeOptions options;
  options.dictionaries = !request.counts_all();
  options.rollups = options.totals = request.counts_all();
  options.looks_back = true;
  VESTA_ASSIGN(const QueryScope scope, QueryScope::open(store, tenant, request.type,
                                                        request.selector, request.range, options));
  TotalsGroups groups(request, cost);
  if (!scope.services.empty()) {
    TotalsReader reader(store, scope, request, cost);
    GroupedSteps by_samples(request);
    for (const auto& [service, series] : by_labels(scope)) {
      const Labels labels = group_labels(series->labels, request.group_by);
      if (!request.group_samples) {
        VESTA_TRY(reader.read(*service, *series));
        VESTA_TRY(groups.add(labels, reader.steps().sums(), reader.steps().cover()));
        continue;
      }
      VESTA_TRY(reader.read_groups(*service, *series, by_samples));
      for (const auto& [own, sums] : by_samples.finish())
        VESTA_TRY(groups.add(joined(labels, own), sums, by_samples.cover()));
    }
  }
  VESTA_TRY(cost.add(0));
  return groups.finish();
}

}  // namespace vesta::rocks
