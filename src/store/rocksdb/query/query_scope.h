// What a question is about: the series that match, service by service, with snapshots of all that
// is read. Made under the tenant's locks; afterwards free of them. One per query.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/labels.h"
#include "base/table_hash.h"
#include "store/query_cost.h"
#include "store/rocksdb/format/record.h"
#include "store/rocksdb/rollup/rollup_planner.h"
#include "store/rocksdb/store.h"
#include "store/time_spread.h"

namespace vesta::rocks {

struct ScopeSeries {
  SeriesNumber number = 0;
  Labels labels;
  std::vector<Piece> pieces;  // what to read for it alone
};

struct ScopeService {
  PartitionNumber partition = 0;
  std::string service;
  DictionarySnapshot dictionary;
  std::vector<ScopeSeries> series;  // in order of labels
  // Where all series of the service are meant and share a group: what to read for all of them.
  bool is_whole = false;
  std::vector<Piece> pieces;
};

struct ScopeOptions {
  bool dictionaries = true;
  bool rollups = true;
  bool totals = false;                // pieces are of totals, each series by itself
  bool looks_back = false;            // also at profiles that start before the range
  std::vector<std::string> group_by;  // series of one service may be read together if they share it
};

struct QueryScope {
  TenantId tenant = 0;
  TypeNumber type = 0;
  std::unique_ptr<ReadView> view;
  std::vector<ScopeService> services;  // by name

  // Nothing matches: no services, and perhaps no view.
  static Result<QueryScope> open(Store& store, std::string_view tenant, const ProfileType& type,
                                 const Selector& selector, TimeRange range,
                                 const ScopeOptions& options);
};

// All series of a scope in the order of their labels.
std::vector<std::pair<const ScopeService*, const ScopeSeries*>> by_labels(const QueryScope& scope);

// 32 hex digits.
std::string profile_id(const ProfileKey& key);

// The profiles that are asked for by id; all, if none is.
class ProfileIds {
 public:
  explicit ProfileIds(const std::vector<std::string>& ids);
  bool empty() const { return ids_.empty(); }
  bool has_some_of(SeriesNumber series) const { return empty() || series_.contains(series); }
  bool contains(const ProfileKey& key) const { return empty() || ids_.contains(profile_id(key)); }

 private:
  std::unordered_set<std::string, TableKeyHash> ids_;
  std::unordered_set<SeriesNumber> series_;
};

// What is kept of a profile in the family of totals.
struct StoredTotal {
  int64_t value = 0;
  int64_t duration_ns = 0;
  // False when the bytes are damaged.
  bool parse(std::string_view bytes);
};

// Whether profiles have a total and a rate that is asked for, and what is taken of them; all have,
// if none is.
class TotalTest {
 public:
  // REQUIRES: both outlive it
  TotalTest(const SelectRequest& request, const ReadView& view);
  Result<bool> passes(const Database& database, const ProfileKey& key);
  // Of the profile that passed last.
  ProfileCut& cut() { return cut_; }

 private:
  std::optional<ValueRange> wanted_;
  ProfileCut cut_;
  std::optional<Cursor> cursor_;
};

// Whether samples pass a filter; remembers what it found out about sets of labels.
class SampleTest {
 public:
  SampleTest(const SampleFilter& filter, const DictionarySnapshot& dictionary)
      : filter_(filter), dictionary_(dictionary) {}
  // What follows is of this series; false when none of its samples can pass.
  bool begin(const Labels& series);
  bool passes(const RowKey& row);

 private:
  const SampleFilter& filter_;
  const DictionarySnapshot& dictionary_;
  std::vector<bool> asked_;  // of filter_.either
  Selector left_;            // those matchers
  std::unordered_map<LabelSetNumber, bool> known_;
};

// The labels of a sample as texts, in order.
Labels sample_labels(const DictionarySnapshot& dictionary, LabelSetNumber set);

// Walks over the profiles of a piece. `visit(key, value)` returns a Status.
template <class Visit>
Status for_each_profile(Cursor& cursor, TenantId tenant, const Piece& piece, QueryCost& cost,
                        Visit&& visit) {
  const Key prefix = ProfileKey::prefix(tenant, piece.bucket, piece.series);
  Key from = prefix;
  from.time(piece.range.start_ns);
  for (cursor.seek(from.view()); cursor.at_prefix(prefix.view()); cursor.next()) {
    if (cursor.key().size() != ProfileKey::kSize) continue;
    const ProfileKey key = ProfileKey::decode(cursor.key());
    if (key.time_ns >= piece.range.end_ns) break;
    VESTA_TRY(cost.step());
    VESTA_TRY(visit(key, cursor.value()));
  }
  return cursor.status();
}

Error damaged_record(const Database& database, const ProfileKey& key);

}  // namespace vesta::rocks
