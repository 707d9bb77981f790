#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/mutex.h"
#include "store/rocksdb/query/query_scope.h"
#include "store/rocksdb/query/reader.h"
#include "store/rocksdb/series_posting.h"
#include "store/selector.h"

namespace vesta::rocks {
namespace {

ScopeOptions without_rollups(bool dictionaries, bool looks_back) {
  ScopeOptions options;
  options.rollups = false;
  options.dictionaries = dictionaries;
  options.looks_back = looks_back;
  return options;
}

}  // namespace

Result<std::vector<ProfilePoint>> points(Store& store, std::string_view tenant,
                                         const PointsRequest& request) {
  const bool filters = !request.samples.empty();
  const bool needs_rows = request.by_span || request.marks || filters;
  QueryCost cost(request.budget);
  VESTA_ASSIGN(const QueryScope scope,
               QueryScope::open(store, tenant, request.type, request.selector, request.range,
                                without_rollups(needs_rows, request.overlapping)));
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
    SampleTest test(request.samples, service->dictionary);
    if (!test.begin(series->labels)) continue;
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
        if (!reaches_into(request.range, key.time_ns, total.duration_ns)) return {};
        return add(key, total.duration_ns, {total.value, 0}, {});
      }
      if (!record.parse(value)) return damaged_record(*store.database, key);
      if (!reaches_into(request.range, key.time_ns, record.header().duration_ns)) return {};
      if (!record.read_rows(service->dictionary.tree.stack_count(), key.time_ns, rows)) {
        return damaged_record(*store.database, key);
      }
      spans.clear();
      if (!request.by_span && !filters) spans[{}];  // a profile without samples is one, too
      for (const Row& row : rows) {
        if (request.by_span && row.key.link.span_id == Link{}.span_id) continue;
        if (filters && !test.passes(row.key)) continue;
        Value& sum = spans[request.by_span ? row.key.link : Link{}];
        sum.value = saturating_add(sum.value, row.value);
        if (row.key.stack.index() < is_marked.size() && is_marked[row.key.stack.index()] != 0)
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
    const ReaderLock lock(tenant->index_mutex);
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
      const WriterLock lock(tenant->index_mutex);
      SeriesIndex::Series& one = tenant->index.series(number);
      one.first_ns = std::min(one.first_ns, first_ns);
      one.last_ns = std::max(one.last_ns, last_ns);
      one.is_exact = true;
    }
  }
  const ReaderLock lock(tenant->index_mutex);
  for (const SeriesNumber number : found) {
    const SeriesIndex::Series& one = tenant->index.series(number);
    answer.push_back({tenant->index.labels(number), one.first_ns, one.last_ns});
  }
  std::ranges::sort(answer, {}, &SeriesInfo::labels);
  return answer;
}

}  // namespace vesta::rocks
