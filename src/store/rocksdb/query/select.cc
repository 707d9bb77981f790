#include <algorithm>
#include <deque>
#include <map>

#include "base/parallel.h"
#include "profile/carried_rounding.h"
#include "store/rocksdb/format/accumulator.h"
#include "store/rocksdb/query/query_scope.h"
#include "store/rocksdb/query/reader.h"
#include "store/series_labels.h"

namespace vesta::rocks {
namespace {

struct Group {
  HeaderSum header;
  std::map<std::string, std::pair<const ScopeService*, std::vector<int64_t>>> services;
};

using Groups = std::map<Labels, Group>;

// Adds up services, one after the other. Several work side by side; what they share, they read.
class SelectWorker {
 public:
  SelectWorker(Store& store, const SelectRequest& request, const ProfileIds& ids,
               const QueryScope& scope, QueryCost& cost)
      : store_(store),
        request_(request),
        cost_(cost),
        ids_(ids),
        scope_(scope),
        totals_(request, *scope.view),
        raw_(*scope.view, Family::kRaw),
        rollup_(*scope.view, Family::kRollup) {}

  Status add_service(const ScopeService& service) {
    std::optional<SampleTest> test;
    if (!request_.samples.empty()) test.emplace(request_.samples, service.dictionary);
    test_ = test ? &*test : nullptr;
    Accumulator sum;
    VESTA_TRY(make_room(sum, service));
    const bool instant = request_.type.temporality() == Temporality::kInstant;
    if (service.is_whole) {
      for (const Piece& piece : service.pieces) VESTA_TRY(add_counted(service, piece, sum));
      return add_to_group(service, service.series[0].labels, sum);
    }
    const Labels* group = nullptr;
    Labels labels;
    for (const ScopeSeries& series : service.series) {
      if (!ids_.has_some_of(series.number)) continue;
      if (test_ != nullptr && !test_->begin(series.labels)) continue;
      Labels next = group_labels(series.labels, request_.group_by);
      // Series of one group are added up in place, unless they must be averaged first.
      if (group != nullptr && (instant || next != labels)) {
        VESTA_TRY(add_to_group(service, *group, sum));
        sum.clear();
      }
      labels = std::move(next);
      group = &labels;
      for (const Piece& piece : series.pieces) VESTA_TRY(add_counted(service, piece, sum));
    }
    return group == nullptr ? Status() : add_to_group(service, *group, sum);
  }

  Groups take_groups() { return std::move(groups_); }

 private:
  Status make_room(Accumulator& sum, const ScopeService& service) {
    const size_t stacks = service.dictionary.tree.stack_count();
    VESTA_TRY(cost_.add(stacks * sizeof(int64_t)));
    sum.weights.resize(stacks);
    return {};
  }

  Status add_counted(const ScopeService& service, const Piece& piece, Accumulator& sum) {
    const size_t before = sum.header.covered.byte_size();
    VESTA_TRY(add_piece(service, piece, sum));
    const size_t after = sum.header.covered.byte_size();
    // Twice: they are added to a group as well.
    return after > before ? cost_.add(2 * (after - before)) : Status();
  }

  Status add_piece(const ScopeService& service, const Piece& piece, Accumulator& sum) {
    if (piece.kind == Piece::Kind::kRaw) return add_profiles(service, piece, sum);
    const RollupOwner owner = is_of_service(piece.level)
                                  ? RollupOwner{service.partition, scope_.type}
                                  : RollupOwner{piece.series, 0};
    const Key key = rollup_key(scope_.tenant, piece.level, owner, piece.bucket);
    rollup_.seek(key.view());
    VESTA_TRY(rollup_.status());
    VESTA_TRY(cost_.step());
    if (!rollup_.valid() || rollup_.key() != key.view()) {
      // Ten minutes without a profile have no record; all else that is planned for has one.
      if (piece.level == Level::kServiceTenMinutes) return {};
      return damaged_record(*store_.database, {scope_.tenant, piece.bucket, piece.series, 0, 0});
    }
    if (!record_.parse(rollup_.value()) || !sum.add(record_, 0))
      return damaged_record(*store_.database, {scope_.tenant, piece.bucket, piece.series, 0, 0});
    rollup_.next();
    return {};
  }

  Status add_profiles(const ScopeService& service, const Piece& piece, Accumulator& sum) {
    return for_each_profile(
        raw_, scope_.tenant, piece, cost_,
        [&](const ProfileKey& key, std::string_view value) -> Status {
          if (!ids_.contains(key)) return {};
          VESTA_ASSIGN(const bool is_meant, totals_.passes(*store_.database, key));
          if (!is_meant) return {};
          if (!record_.parse(value)) return damaged_record(*store_.database, key);
          const bool is_all = test_ == nullptr && !totals_.cut().cuts();
          const bool good = is_all ? sum.add(record_, key.time_ns) : add_passing(service, key, sum);
          if (!good) return damaged_record(*store_.database, key);
          return {};
        });
  }

  bool add_passing(const ScopeService& service, const ProfileKey& key, Accumulator& sum) {
    ProfileCut& cut = totals_.cut();
    sum.header.add(record_.header(), key.time_ns, cut);
    if (!record_.read_rows(service.dictionary.tree.stack_count(), key.time_ns, rows_)) return false;
    for (const Row& row : rows_) {
      if (test_ != nullptr && !test_->passes(row.key)) continue;
      int64_t& weight = sum.weights[row.key.stack.index()];
      weight = saturating_add(weight, cut(row.value));
    }
    return true;
  }

  Status add_to_group(const ScopeService& service, const Labels& labels, Accumulator& sum) {
    if (sum.header.profiles == 0) return {};
    Group& group = groups_[service.is_whole ? group_labels(labels, request_.group_by) : labels];
    group.header.add(sum.header);
    if (request_.type.temporality() == Temporality::kInstant) {
      CarriedDivision divide(static_cast<int64_t>(sum.header.profiles));
      for (int64_t& weight : sum.weights)
        if (weight != 0) weight = divide(weight);
    }
    auto& [of, weights] = group.services[service.service];
    of = &service;
    if (weights.empty()) {
      VESTA_TRY(cost_.add(sum.weights.size() * sizeof(int64_t)));
      weights = sum.weights;
    } else {
      for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = saturating_add(weights[i], sum.weights[i]);
    }
    return {};
  }

  Store& store_;
  const SelectRequest& request_;
  QueryCost& cost_;
  const ProfileIds& ids_;
  const QueryScope& scope_;
  TotalTest totals_;
  Cursor raw_;
  Cursor rollup_;
  SampleTest* test_ = nullptr;
  RecordView record_;
  std::vector<Row> rows_;
  Groups groups_;
};

class SelectQuery {
 public:
  SelectQuery(Store& store, const SelectRequest& request)
      : store_(store), request_(request), cost_(request.budget), ids_(request.profile_ids) {}

  Result<std::vector<Selection>> run(std::string_view tenant) {
    ScopeOptions options;
    // What is kept beside the weights is in the profiles alone.
    options.rollups =
        request_.samples.empty() && ids_.empty() && !request_.totals && !request_.rates;
    options.looks_back = request_.rates.has_value();
    options.group_by = request_.group_by;
    VESTA_ASSIGN(scope_, QueryScope::open(store_, tenant, request_.type, request_.selector,
                                          request_.range, options));
    if (request_.group_by.empty()) groups_[{}];
    if (scope_.view != nullptr) VESTA_TRY(add_services());
    return answer();
  }

 private:
  Status add_services() {
    const size_t count = scope_.services.size();
    std::deque<SelectWorker> workers;
    for (size_t i = 0; i < threads_for(count); ++i)
      workers.emplace_back(store_, request_, ids_, scope_, cost_);
    VESTA_TRY(for_each_in_parallel(count, workers.size(), [&](size_t thread, size_t service) {
      return workers[thread].add_service(scope_.services[service]);
    }));
    for (SelectWorker& worker : workers) {
      for (auto& [labels, group] : worker.take_groups()) {
        Group& whole = groups_[labels];
        whole.header.add(group.header);
        whole.services.merge(group.services);  // each has been added up by one of them
      }
    }
    return {};
  }

  Result<std::vector<Selection>> answer() {
    VESTA_TRY(cost_.add(0));
    std::vector<Selection> out;
    for (auto& [labels, group] : groups_) {
      Selection& selection = out.emplace_back();
      selection.type = request_.type;
      selection.group = labels;
      selection.profiles = group.header.profiles;
      selection.period = group.header.period;
      selection.first_ns = group.header.first_ns;
      selection.last_ns = group.header.last_ns;
      selection.covered = std::move(group.header.covered);
      for (const auto& [reason, count] : group.header.losses)
        selection.losses.push_back({reason, count});
      for (auto& [name, service] : group.services) {
        auto& [of, weights] = service;
        if (std::ranges::all_of(weights, [](int64_t weight) { return weight == 0; })) continue;
        for (const int64_t weight : weights)
          selection.total = saturating_add(selection.total, weight);
        selection.services.push_back({name, of->dictionary.tree, std::move(weights)});
      }
    }
    return out;
  }

  Store& store_;
  const SelectRequest& request_;
  QueryCost cost_;
  const ProfileIds ids_;
  QueryScope scope_;
  Groups groups_;
};

}  // namespace

Result<std::vector<Selection>> select(Store& store, std::string_view tenant,
                                      const SelectRequest& request) {
  return SelectQuery(store, request).run(tenant);
}

}  // namespace vesta::rocks
