#include "store/rocksdb/query/query_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/mutex.h"
#include "base/parallel.h"
#include "store/rocksdb/format/dictionary_chunk.h"
#include "store/rocksdb/series_posting.h"
#include "store/sample_labels.h"
#include "store/selection.h"
#include "store/series_labels.h"

namespace vesta::rocks {
namespace {

struct Matched {
  std::string service;
  std::vector<std::pair<Labels, SeriesNumber>> series;
  bool is_whole = false;
};

// From when on profiles may reach into the range.
TimeRange with_look_back(TimeRange range, const ProfileLengths& lengths) {
  return {saturating_subtract(range.start_ns, lengths.longest_ns()), range.end_ns};
}

}  // namespace

Result<QueryScope> QueryScope::open(Store& store, std::string_view tenant_name,
                                    const ProfileType& type, const Selector& selector,
                                    TimeRange range, const ScopeOptions& options) {
  QueryScope scope;
  Tenant* tenant = store.tenants.find(tenant_name);
  if (tenant == nullptr || range.empty()) return scope;
  scope.tenant = tenant->id;
  // Nothing is deleted, and no dictionary goes, until all snapshots are taken.
  const auto gate = tenant->gate.enter();
  TimeRange reach = range;
  if (options.looks_back) {
    const ReaderLock lock(tenant->index_mutex);
    ProfileLengths all;
    for (const auto& [partition, lengths] : tenant->lengths) all.add(lengths);
    reach = with_look_back(range, all);
  }
  RollupView rollups;
  {
    const MutexLock lock(tenant->rollups.mutex());
    rollups = tenant->rollups.view(first_hour(reach), last_hour(reach));
    scope.view = std::make_unique<ReadView>(*store.database);
  }
  {
    const ReaderLock lock(tenant->index_mutex);
    const auto known = tenant->type_numbers.find(type);
    if (known == tenant->type_numbers.end()) return scope;
    scope.type = known->second;
    const SeriesSet active = tenant->index.active(first_hour(reach), last_hour(reach));
    const SeriesSet matching = tenant->index.match(selector);
    std::map<std::pair<std::string_view, PartitionNumber>, Matched> services;
    for (const SeriesNumber number : matching& active) {
      const SeriesIndex::Series& series = tenant->index.series(number);
      if (series.type != scope.type) continue;
      const std::string& service = tenant->services.at(series.partition);
      Matched& matched = services[{service, series.partition}];
      matched.service = service;
      matched.series.emplace_back(tenant->index.labels(number), number);
    }
    for (auto& [key, matched] : services) {
      const auto lengths = tenant->lengths.find(key.second);
      const bool looks_back = options.looks_back && lengths != tenant->lengths.end();
      // A write that came since may be longer than what the roll-ups were looked up for.
      const TimeRange planned =
          looks_back ? overlap(with_look_back(range, lengths->second), reach) : range;
      const PlanInput input{tenant->index, rollups, planned,
                            options.rollups && store.options.use_rollups, options.totals};
      std::ranges::sort(matched.series);
      ScopeService& service = scope.services.emplace_back();
      service.service = matched.service;
      service.partition = key.second;
      const SeriesSet& all = tenant->index.of_service(key.second, scope.type);
      const Labels group = group_labels(matched.series[0].first, options.group_by);
      service.is_whole = options.rollups && !options.totals &&
                         type.temporality() == Temporality::kCumulative && all.isSubset(matching) &&
                         std::ranges::all_of(matched.series, [&](const auto& series) {
                           return group_labels(series.first, options.group_by) == group;
                         });
      std::vector<SeriesNumber> numbers;
      for (auto& [labels, number] : matched.series) {
        numbers.push_back(number);
        service.series.push_back({number, std::move(labels), {}});
      }
      if (service.is_whole) {
        service.pieces = plan_service(input, key.second, scope.type, all);
      } else {
        auto plan = plan_series(input, numbers);
        for (size_t i = 0; i < plan.size(); ++i) service.series[i].pieces = std::move(plan[i]);
      }
    }
  }
  if (options.dictionaries) {
    const size_t count = scope.services.size();
    VESTA_TRY(for_each_in_parallel(count, threads_for(count), [&](size_t, size_t at) -> Status {
      ScopeService& service = scope.services[at];
      VESTA_ASSIGN(service.dictionary,
                   store.dictionaries.partition(scope.tenant, service.partition)->snapshot());
      return {};
    }));
    store.dictionaries.shrink();
  }
  return scope;
}

std::vector<std::pair<const ScopeService*, const ScopeSeries*>> by_labels(const QueryScope& scope) {
  std::vector<std::pair<const ScopeService*, const ScopeSeries*>> out;
  for (const ScopeService& service : scope.services)
    for (const ScopeSeries& series : service.series) out.emplace_back(&service, &series);
  std::ranges::sort(out, {},
                    [](const auto& entry) -> const Labels& { return entry.second->labels; });
  return out;
}

std::string profile_id(const ProfileKey& key) {
  const auto time = static_cast<uint64_t>(key.time_ns);
  return fmt::format("{:08x}{:08x}{:016x}", key.series, static_cast<uint32_t>(time ^ time >> 32),
                     key.content);
}

ProfileIds::ProfileIds(const std::vector<std::string>& ids) : ids_(ids.begin(), ids.end()) {
  for (const std::string& id : ids_) {
    SeriesNumber series = 0;
    if (id.size() == 32 && std::from_chars(id.data(), id.data() + 8, series, 16).ec == std::errc())
      series_.insert(series);
  }
}

Labels sample_labels(const DictionarySnapshot& dictionary, LabelSetNumber set) {
  Labels out;
  if (set >= dictionary.label_sets.size()) return out;
  for (const StoredLabel& label : dictionary.label_sets[set]) {
    out.emplace_back(dictionary.tree.string(label.key),
                     label.kind == LabelKind::kString
                         ? std::string(dictionary.tree.string(label.text))
                         : std::to_string(label.number));
  }
  return out;
}

bool StoredTotal::parse(std::string_view bytes) {
  VarintReader reader(bytes);
  value = reader.signed_varint();
  duration_ns = reader.signed_varint();
  return reader.ok() && reader.at_end();
}

TotalTest::TotalTest(const SelectRequest& request, const ReadView& view)
    : wanted_(request.totals), cut_(request) {
  if (wanted_ || cut_.cuts()) cursor_.emplace(view, Family::kTotals);
}

Result<bool> TotalTest::passes(const Database& database, const ProfileKey& key) {
  if (!cursor_) return true;
  const Key wanted = key.encode();
  cursor_->seek(wanted.view());
  VESTA_TRY(cursor_->status());
  StoredTotal total;
  if (!cursor_->valid() || cursor_->key() != wanted.view() || !total.parse(cursor_->value()))
    return damaged_record(database, key);
  if (wanted_ && !wanted_->contains(total.value)) return false;
  return cut_.begin(key.time_ns, total.duration_ns, total.value);
}

bool SampleTest::begin(const Labels& series) {
  if (filter_.either.empty()) return true;
  auto asked = left_to_samples(filter_.either, series);
  if (!asked) return false;
  if (*asked == asked_) return true;
  asked_ = *std::move(asked);
  left_.clear();
  known_.clear();
  for (size_t i = 0; i < asked_.size(); ++i)
    if (asked_[i]) left_.push_back(filter_.either[i]);
  return true;
}

bool SampleTest::passes(const RowKey& row) {
  const auto any_of = [](const auto& wanted, const auto& id) {
    return wanted.empty() || std::ranges::find(wanted, id) != wanted.end();
  };
  if (filter_.times && (row.time_ns == 0 || !filter_.times->contains(row.time_ns))) return false;
  if (!any_of(filter_.trace_ids, row.link.trace_id)) return false;
  if (!any_of(filter_.span_ids, row.link.span_id)) return false;
  if (filter_.labels.empty() && left_.empty()) return true;
  const auto [known, is_new] = known_.try_emplace(row.labels, false);
  if (is_new) {
    const Labels labels = sample_labels(dictionary_, row.labels);
    known->second = matches(filter_.labels, labels) && matches(left_, labels);
  }
  return known->second;
}

Error damaged_record(const Database& database, const ProfileKey& key) {
  return Error{
      ErrorCode::kIo,
      fmt::format("{}: the record of profile {} is damaged", database.directory(), profile_id(key)),
      "restore a backup, or delete the range that cannot be read"};
}

}  // namespace vesta::rocks
