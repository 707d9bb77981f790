#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "profile/carried_rounding.h"
#include "store/rocksdb/query_scope.h"
#include "store/rocksdb/reader.h"

namespace vesta::rocks {
namespace {

ScopeOptions without_rollups(bool dictionaries) {
  ScopeOptions options;
  options.rollups = false;
  options.dictionaries = dictionaries;
  return options;
}

// All series of a scope in the order of their labels.
std::vector<std::pair<const ScopeService*, const ScopeSeries*>> by_labels(const QueryScope& scope) {
  std::vector<std::pair<const ScopeService*, const ScopeSeries*>> out;
  for (const ScopeService& service : scope.services)
    for (const ScopeSeries& series : service.series) out.emplace_back(&service, &series);
  std::ranges::sort(out, {},
                    [](const auto& entry) -> const Labels& { return entry.second->labels; });
  return out;
}

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

}  // namespace

Result<std::vector<TotalsSeries>> totals(Store& store, std::string_view tenant,
                                         const TotalsRequest& request) {
  if (request.step_ns <= 0) {
    return Error{ErrorCode::kUsage, "the step of a time series must be longer than nothing",
                 "give it in nanoseconds, as in 15000000000 for 15 s"};
  }
  QueryCost cost(request.budget);
  VESTA_ASSIGN(const QueryScope scope,
               QueryScope::open(store, tenant, request.type, request.selector, request.range,
                                without_rollups(!request.counts_all())));
  std::map<Labels, std::map<uint64_t, TotalsPoint>> groups;  // by number of the bucket
  const bool instant = request.type.temporality() == Temporality::kInstant;
  const auto start = static_cast<uint64_t>(request.range.start_ns);
  const auto step = static_cast<uint64_t>(request.step_ns);
  if (!scope.services.empty()) {
    Cursor cursor(*scope.view, request.counts_all() ? Family::kTotals : Family::kRaw);
    ProfileTotal total_of(*store.database, request);
    std::map<uint64_t, TotalsPoint> buckets;  // of one series
    for (const auto& [service, series] : by_labels(scope)) {
      buckets.clear();
      total_of.begin(*service);
      for (const Piece& piece : series->pieces) {
        VESTA_TRY(for_each_profile(
            cursor, scope.tenant, piece, cost,
            [&](const ProfileKey& key, std::string_view value) -> Status {
              VESTA_ASSIGN(const int64_t total, total_of(key, value));
              // The range may be wider than 63 bits.
              TotalsPoint& point = buckets[(static_cast<uint64_t>(key.time_ns) - start) / step];
              point.sum = saturating_add(point.sum, total);
              ++point.profiles;
              return {};
            }));
      }
      if (buckets.empty()) continue;
      auto& group = groups[group_of(series->labels, request.group_by)];
      for (const auto& [number, part] : buckets) {
        const auto [at, is_new] = group.try_emplace(number);
        if (is_new) VESTA_TRY(cost.add(sizeof(TotalsPoint)));
        TotalsPoint& point = at->second;
        point.time_ns = static_cast<int64_t>(start + number * step);
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

Result<std::vector<ProfilePoint>> points(Store& store, std::string_view tenant,
                                         const PointsRequest& request) {
  const bool needs_rows = request.by_span || request.marks;
  QueryCost cost(request.budget);
  VESTA_ASSIGN(const QueryScope scope,
               QueryScope::open(store, tenant, request.type, request.selector, request.range,
                                without_rollups(needs_rows)));
  std::vector<ProfilePoint> answer;
  if (scope.services.empty()) return answer;
  Cursor cursor(*scope.view, needs_rows ? Family::kRaw : Family::kTotals);
  std::map<const ScopeService*, std::vector<uint8_t>> marks;
  RecordView record;
  std::vector<Row> rows;
  struct Value {
    int64_t value = 0;
    int64_t marked = 0;
  };
  std::map<Link, Value> spans;
  for (const auto& found : by_labels(scope)) {
    const auto* service = found.first;
    const auto* series = found.second;
    const auto [marked, is_new] = marks.try_emplace(service);
    if (is_new && request.marks) marked->second = request.marks(service->dictionary.tree);
    const std::vector<uint8_t>& is_marked = marked->second;
    const auto add = [&](const ProfileKey& key, int64_t duration_ns, const Value& value,
                         const Link& link) -> Status {
      if (answer.size() == request.limit) {
        return Error{ErrorCode::kLimit, fmt::format("more than {} profiles match", request.limit),
                     "narrow the selector or the time range"};
      }
      answer.push_back({profile_id(key), series->labels, key.time_ns, duration_ns, value.value,
                        value.marked, link.trace_id, link.span_id});
      return cost.add(sizeof(ProfilePoint));
    };
    const auto visit = [&](const ProfileKey& key, std::string_view value) -> Status {
      if (!needs_rows) {
        StoredTotal total;
        if (!total.parse(value)) return damaged_record(*store.database, key);
        return add(key, total.duration_ns, {total.value, 0}, {});
      }
      if (!record.parse(value) ||
          !record.read_rows(service->dictionary.tree.stack_count(), key.time_ns, rows)) {
        return damaged_record(*store.database, key);
      }
      spans.clear();
      if (!request.by_span) spans[{}];  // a profile without samples is one, too
      for (const Row& row : rows) {
        if (request.by_span && row.key.link.span_id == Link{}.span_id) continue;
        Value& sum = spans[request.by_span ? row.key.link : Link{}];
        sum.value = saturating_add(sum.value, row.value);
        if (row.key.stack < is_marked.size() && is_marked[row.key.stack] != 0)
          sum.marked = saturating_add(sum.marked, row.value);
      }
      for (const auto& [link, sum] : spans)
        VESTA_TRY(add(key, record.header().duration_ns, sum, link));
      return {};
    };
    for (const Piece& piece : series->pieces)
      VESTA_TRY(for_each_profile(cursor, scope.tenant, piece, cost, visit));
  }
  VESTA_TRY(cost.add(0));
  std::ranges::stable_sort(answer, {}, &ProfilePoint::time_ns);
  return answer;
}

Result<std::vector<SeriesInfo>> series(Store& store, std::string_view tenant_name,
                                       const Selector& selector, TimeRange range) {
  std::vector<SeriesInfo> answer;
  Tenant* tenant = store.tenants.find(tenant_name);
  if (tenant == nullptr || range.empty()) return answer;
  const auto gate = tenant->gate.enter();
  std::vector<std::pair<SeriesNumber, std::pair<Hour, Hour>>> inexact;
  SeriesSet found;
  {
    const std::shared_lock lock(tenant->index_mutex);
    found =
        tenant->index.match(selector) & tenant->index.active(first_hour(range), last_hour(range));
    for (const SeriesNumber number : found) {
      const SeriesIndex::Series& one = tenant->index.series(number);
      if (!one.is_exact) inexact.push_back({number, {one.first_hour, one.last_hour}});
    }
  }
  // After a restart or a deletion, the store says when a series begins and ends.
  if (!inexact.empty()) {
    Cursor cursor(*store.database, Family::kTotals);
    for (const auto& [number, hours] : inexact) {
      int64_t first_ns = INT64_MAX;
      int64_t last_ns = INT64_MIN;
      const Key from = ProfileKey::prefix(tenant->id, hours.first, number);
      cursor.seek(from.view());
      if (cursor.at_prefix(from.view())) first_ns = ProfileKey::decode(cursor.key()).time_ns;
      const Key to = ProfileKey::prefix(tenant->id, hours.second, number);
      Key after = to;
      after.u64(UINT64_MAX).u64(UINT64_MAX);
      cursor.seek_back(after.view());
      if (cursor.at_prefix(to.view())) last_ns = ProfileKey::decode(cursor.key()).time_ns;
      VESTA_TRY(cursor.status());
      const std::unique_lock lock(tenant->index_mutex);
      SeriesIndex::Series& one = tenant->index.series(number);
      one.first_ns = std::min(one.first_ns, first_ns);
      one.last_ns = std::max(one.last_ns, last_ns);
      one.is_exact = true;
    }
  }
  const std::shared_lock lock(tenant->index_mutex);
  for (const SeriesNumber number : found) {
    const SeriesIndex::Series& one = tenant->index.series(number);
    answer.push_back({tenant->index.labels(number), one.first_ns, one.last_ns});
  }
  std::ranges::sort(answer, {}, &SeriesInfo::labels);
  return answer;
}

}  // namespace vesta::rocks
