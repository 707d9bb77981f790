// Labels of samples: asked of the dictionaries of services, without a look at any profile.
#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

#include "base/mutex.h"
#include "store/query_cost.h"
#include "store/rocksdb/format/dictionary_chunk.h"
#include "store/rocksdb/query/query_scope.h"
#include "store/rocksdb/query/reader.h"
#include "store/rocksdb/series_posting.h"
#include "store/sample_labels.h"

namespace vesta::rocks {
namespace {

// Services with a series that matches, by name.
std::map<std::string, PartitionNumber> services_of(Tenant& tenant, const Selector& selector,
                                                   TimeRange range) {
  std::map<std::string, PartitionNumber> services;
  const ReaderLock lock(tenant.index_mutex);
  SeriesSet found = tenant.index.active(first_hour(range), last_hour(range));
  if (!selector.empty()) found &= tenant.index.match(selector);
  std::set<PartitionNumber> partitions;
  for (const SeriesNumber number : found) partitions.insert(tenant.index.series(number).partition);
  for (const PartitionNumber number : partitions)
    services.emplace(tenant.services.at(number), number);
  return services;
}

// The sets of a dictionary, as far as they are asked for.
class SetsOfService {
 public:
  SetsOfService(const DictionarySnapshot& dictionary, const SampleLabelsRequest& request)
      : dictionary_(dictionary), request_(request) {}

  Status add(const std::vector<StoredLabel>& set) {
    // Texts are compared by their numbers: there may be a set for each thread that ever ran.
    key_.clear();
    for (const StoredLabel& label : set) {
      if (is_wanted(label)) key_.emplace_back(label.key, label.kind, label.text, label.number);
    }
    if (key_.empty() || seen_.contains(key_)) return {};
    if (seen_.size() >= request_.limit) {
      return Error{ErrorCode::kLimit,
                   fmt::format("samples have more than {} values of these labels", request_.limit),
                   "narrow the selector"};
    }
    seen_.insert(key_);
    return {};
  }

  std::vector<Labels> take() const {
    std::set<Labels> sets;
    for (const Key& key : seen_) {
      Labels labels;
      for (const auto& [name, kind, text, number] : key) {
        labels.emplace_back(dictionary_.tree.string(name),
                            kind == LabelKind::kString ? std::string(dictionary_.tree.string(text))
                                                       : std::to_string(number));
      }
      std::ranges::sort(labels);
      std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
      if (!labels.empty()) sets.insert(std::move(labels));
    }
    return {sets.begin(), sets.end()};
  }

 private:
  using Key = std::vector<std::tuple<TreeString, LabelKind, TreeString, int64_t>>;

  bool is_wanted(const StoredLabel& label) {
    const auto [known, is_new] = wanted_.try_emplace(std::pair(label.key, label.kind), false);
    if (is_new) {
      const std::string_view name = dictionary_.tree.string(label.key);
      known->second = names_something(label.kind, name) &&
                      std::ranges::find(request_.names, name) != request_.names.end();
    }
    return known->second;
  }

  const DictionarySnapshot& dictionary_;
  const SampleLabelsRequest& request_;
  std::map<std::pair<TreeString, LabelKind>, bool> wanted_;
  std::set<Key> seen_;
  Key key_;  // scratch
};

}  // namespace

Result<std::vector<std::string>> sample_label_names(Store& store, std::string_view tenant_name,
                                                    const Selector& selector, TimeRange range) {
  std::vector<std::string> answer;
  Tenant* tenant = store.tenants.find(tenant_name);
  if (tenant == nullptr || range.empty()) return answer;
  const auto gate = tenant->gate.enter();
  std::set<std::string> names;
  for (const auto& [service, number] : services_of(*tenant, selector, range)) {
    VESTA_ASSIGN(auto of_service,
                 store.dictionaries.partition(tenant->id, number)->sample_label_names());
    names.insert(of_service.begin(), of_service.end());
  }
  store.dictionaries.shrink();
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::vector<SampleLabelSets>> sample_label_sets(Store& store, std::string_view tenant_name,
                                                       const SampleLabelsRequest& request) {
  std::vector<SampleLabelSets> answer;
  Tenant* tenant = store.tenants.find(tenant_name);
  if (tenant == nullptr || request.range.empty() || request.names.empty()) return answer;
  QueryCost cost(request.budget);
  const auto gate = tenant->gate.enter();
  for (const auto& [service, number] : services_of(*tenant, request.selector, request.range)) {
    const auto partition = store.dictionaries.partition(tenant->id, number);
    VESTA_ASSIGN(const bool has_labels, partition->has_sample_labels());
    if (!has_labels) continue;
    VESTA_ASSIGN(const DictionarySnapshot dictionary, partition->snapshot());
    SetsOfService found(dictionary, request);
    for (LabelSetNumber set = 1; set < dictionary.label_sets.size(); ++set) {
      VESTA_TRY(cost.step());
      if (!request.samples.empty() && !matches(request.samples, sample_labels(dictionary, set)))
        continue;
      VESTA_TRY(found.add(dictionary.label_sets[set]));
    }
    SampleLabelSets sets{service, found.take()};
    for (const Labels& labels : sets.sets) VESTA_TRY(cost.add(64 * labels.size()));
    if (!sets.sets.empty()) answer.push_back(std::move(sets));
  }
  store.dictionaries.shrink();
  return answer;
}

}  // namespace vesta::rocks
