#include "store/memory/memory_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "profile/merge/content_hash.h"
#include "store/memory/memory_answers.h"
#include "store/memory/memory_tables.h"
#include "store/retention.h"
#include "store/series_labels.h"

namespace vesta {
namespace {

using memory::SampleLabels;
using memory::Service;
using memory::StoredProfile;
using memory::StoredSample;
using memory::StoredSeries;
using memory::Tenant;

// Rows that are read without a look at whether the write is still wanted.
constexpr size_t kRowsBetweenStops = 4096;

SampleLabels sample_labels(const Dictionary& dictionary, LabelSetId id) {
  SampleLabels labels;
  for (const Label& label : dictionary.label_sets[id]) {
    labels.push_back({std::string(dictionary.string(label.key)), label.kind,
                      std::string(dictionary.string(label.text)),
                      std::string(dictionary.string(label.unit)), label.number});
  }
  std::ranges::sort(labels);
  return labels;
}

// Of the whole content, each part with its length before it, so that no two contents look alike.
std::string profile_id(const Labels& labels, const StoredProfile& profile) {
  std::string bytes;
  const auto number = [&](const auto& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  const auto text = [&](std::string_view value) {
    number(value.size());
    bytes += value;
  };
  number(labels.size());
  for (const auto& [name, value] : labels) text(name), text(value);
  number(profile.time_ns);
  number(profile.duration_ns);
  number(profile.period);
  number(profile.origin);
  number(profile.losses.size());
  for (const auto& [reason, count] : profile.losses) text(reason), number(count);
  // Numbers of stacks and of label sets are those of the service: equal ones mean equal content.
  number(hash128({reinterpret_cast<const char*>(profile.samples.data()),
                  profile.samples.size() * sizeof(StoredSample)}));
  const Hash128 hash = hash128(bytes);
  return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

// What one would pay for the profile without compression.
uint64_t byte_size(const StoredProfile& profile) {
  return sizeof(StoredProfile) + profile.samples.size() * sizeof(StoredSample);
}

// What a label set takes in memory, beside its texts: the set, its number, and its place in a tree.
constexpr uint64_t kLabelSetBytes = 96;

uint64_t byte_size(const memory::LabelSets& sets) {
  uint64_t bytes = 0;
  for (const auto& [labels, number] : sets.in_order())
    bytes += kLabelSetBytes + labels.size() * sizeof(memory::SampleLabel);
  return bytes;
}

// Numbers of a service's stacks and label sets for those of a batch, found when they are needed.
class BatchNumbers {
 public:
  explicit BatchNumbers(const Dictionary& dictionary)
      : dictionary_(dictionary),
        hashes_(stack_hashes(dictionary)),
        stacks_(dictionary.stacks.size()),
        label_sets_(dictionary.label_sets.size()) {}

  const Dictionary& dictionary() const { return dictionary_; }

  void use(Service& service) {
    if (service_ == &service) return;
    service_ = &service;
    frames_ = {};
    ++turn_;
  }
  StackNumber stack(StackId id) {
    Known& known = stacks_[id.index()];
    if (known.turn != turn_) {
      known = {turn_, service_->writer
                          .number(service_->numbers, hashes_[id.index()], dictionary_, id, frames_)
                          .value};
    }
    return StackNumber(known.number);
  }
  uint32_t label_set(LabelSetId id) {
    Known& known = label_sets_[id.index()];
    if (known.turn != turn_)
      known = {turn_, service_->label_sets.number(sample_labels(dictionary_, id))};
    return known.number;
  }

 private:
  struct Known {
    uint32_t turn = 0;
    uint32_t number = 0;
  };

  const Dictionary& dictionary_;
  const std::vector<Hash128> hashes_;
  Service* service_ = nullptr;
  uint32_t turn_ = 0;
  StackTreeWriter::LocationFrames frames_;  // in the tree of the service
  std::vector<Known> stacks_;
  std::vector<Known> label_sets_;
};

class MemoryEngineInMaps final : public MemoryEngine {
 public:
  explicit MemoryEngineInMaps(std::function<bool()> stop) : stop_(std::move(stop)) {}

  Result<WriteReceipt> write(std::string_view tenant, const ProfileBatch& batch,
                             const WriteOptions& options) override {
    const MutexLock lock(mutex_);
    Tenant& to = tenant_named(tenant);
    const int64_t now_ns = options.now_ns != 0 ? options.now_ns : unix_now().ns;
    WriteReceipt receipt;
    BatchNumbers numbers(batch.dictionary);
    for (size_t p = 0; p < batch.profiles.size(); ++p) {
      const Profile& profile = batch.profiles[p];
      for (size_t type = 0; type < profile.sample_types.size(); ++type) {
        VESTA_TRY(write_type(to, numbers, {profile, options.origin_of(p), type}, now_ns, receipt));
      }
    }
    return receipt;
  }

  Result<std::vector<SeriesInfo>> series(std::string_view tenant, const Selector& selector,
                                         TimeRange range) override {
    const MutexLock lock(mutex_);
    std::vector<SeriesInfo> answer;
    for_each_series(tenant, selector, range, [&](const Labels& labels, const StoredSeries& found) {
      answer.push_back(
          {labels, found.profiles.begin()->first.first, found.profiles.rbegin()->first.first});
    });
    return answer;
  }

  Result<std::vector<std::string>> label_names(std::string_view tenant, const Selector& selector,
                                               TimeRange range) override {
    const MutexLock lock(mutex_);
    std::set<std::string> names;
    for_each_series(tenant, selector, range, [&](const Labels& labels, const StoredSeries&) {
      for (const auto& [name, value] : labels) names.insert(name);
    });
    return std::vector<std::string>(names.begin(), names.end());
  }

  Result<std::vector<std::string>> label_values(std::string_view tenant, std::string_view name,
                                                const Selector& selector, TimeRange range,
                                                std::string_view prefix, size_t limit) override {
    const MutexLock lock(mutex_);
    std::set<std::string> values;
    for_each_series(tenant, selector, range, [&](const Labels& labels, const StoredSeries&) {
      const std::string_view value = label_value(labels, name);
      if (!value.empty() && value.starts_with(prefix)) values.emplace(value);
    });
    std::vector<std::string> answer(values.begin(), values.end());
    if (limit != 0 && answer.size() > limit) answer.resize(limit);
    return answer;
  }

  Result<std::vector<std::string>> sample_label_names(std::string_view tenant,
                                                      const Selector& selector,
                                                      TimeRange range) override {
    const MutexLock lock(mutex_);
    return memory::sample_label_names(known_tenant(tenant), services_of(tenant, selector, range));
  }
  Result<std::vector<SampleLabelSets>> sample_label_sets(
      std::string_view tenant, const SampleLabelsRequest& request) override {
    const MutexLock lock(mutex_);
    if (request.names.empty()) return std::vector<SampleLabelSets>();
    return memory::sample_label_sets(known_tenant(tenant),
                                     services_of(tenant, request.selector, request.range), request);
  }

  Result<std::vector<Selection>> select(std::string_view tenant,
                                        const SelectRequest& request) override {
    const MutexLock lock(mutex_);
    return memory::select(known_tenant(tenant), request);
  }
  Result<std::vector<TotalsSeries>> totals(std::string_view tenant,
                                           const TotalsRequest& request) override {
    const MutexLock lock(mutex_);
    return memory::totals(known_tenant(tenant), request);
  }
  Result<std::vector<ProfilePoint>> points(std::string_view tenant,
                                           const PointsRequest& request) override {
    const MutexLock lock(mutex_);
    return memory::points(known_tenant(tenant), request);
  }
  Result<ProfileBatch> samples(std::string_view tenant, const SamplesRequest& request) override {
    const MutexLock lock(mutex_);
    return memory::samples(known_tenant(tenant), request);
  }

  MemoryContents contents(std::string_view tenant) override {
    const MutexLock lock(mutex_);
    return memory::contents(known_tenant(tenant));
  }

  Result<uint64_t> remove(std::string_view tenant, const Selector& selector,
                          TimeRange range) override {
    const MutexLock lock(mutex_);
    const auto found = tenants_.find(tenant);
    if (found == tenants_.end()) return uint64_t{0};
    uint64_t touched = 0;
    for (auto& [labels, series] : found->second.series) {
      if (!matches(selector, labels)) continue;
      const size_t before = series.profiles.size();
      std::erase_if(series.profiles,
                    [&](const auto& entry) { return range.contains(entry.first.first); });
      if (series.profiles.size() != before) ++touched;
    }
    drop_empty_series(found->second);
    return touched;
  }

  std::vector<std::string> tenants() override {
    const MutexLock lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, tenant] : tenants_) names.push_back(name);
    return names;
  }

  Status set_retention(std::string_view tenant, const RetentionPolicy& policy) override {
    const MutexLock lock(mutex_);
    Tenant& to = tenant_named(tenant);
    to.retention = policy;
    apply_to(to, unix_now().ns);
    return {};
  }

  Status apply_retention(int64_t now_ns) override {
    const MutexLock lock(mutex_);
    for (auto& [name, tenant] : tenants_) apply_to(tenant, now_ns);
    return {};
  }

  Status maintain() override { return {}; }
  Status flush() override { return {}; }

  Status backup(const std::string&) override {
    return Error{ErrorCode::kUnsupported, "cannot back up an in-memory store",
                 "start the server with --data DIR"};
  }

  EngineStats stats() override {
    const MutexLock lock(mutex_);
    EngineStats sum;
    for (const auto& [name, tenant] : tenants_) add_stats(tenant, sum);
    return sum;
  }
  EngineStats tenant_stats(std::string_view tenant) override {
    const MutexLock lock(mutex_);
    EngineStats sum;
    add_stats(known_tenant(tenant), sum);
    return sum;
  }

 private:
  Tenant& tenant_named(std::string_view name) REQUIRES(mutex_) {
    return tenants_.try_emplace(std::string(name)).first->second;
  }
  const Tenant& known_tenant(std::string_view name) const REQUIRES(mutex_) {
    static const Tenant kEmpty;
    const auto found = tenants_.find(name);
    return found == tenants_.end() ? kEmpty : found->second;
  }

  template <class Visit>
  void for_each_series(std::string_view tenant, const Selector& selector, TimeRange range,
                       Visit&& visit) const REQUIRES(mutex_) {
    if (range.empty()) return;
    for (const auto& [labels, series] : known_tenant(tenant).series) {
      const auto at = series.profiles.lower_bound({range.start_ns, ""});
      if (at == series.profiles.end() || at->first.first >= range.end_ns) continue;
      if (matches(selector, labels)) visit(labels, series);
    }
  }

  // Those that have a matching series.
  std::set<std::string> services_of(std::string_view tenant, const Selector& selector,
                                    TimeRange range) const REQUIRES(mutex_) {
    std::set<std::string> services;
    for_each_series(tenant, selector, range, [&](const Labels&, const StoredSeries& found) {
      services.insert(found.service);
    });
    return services;
  }

  // One type of a profile.
  struct Written {
    const Profile& profile;
    PieceOrigin origin;
    size_t type;
  };

  Status write_type(Tenant& tenant, BatchNumbers& numbers, const Written& written, int64_t now_ns,
                    WriteReceipt& receipt) const {
    const Dictionary& dictionary = numbers.dictionary();
    const Profile& profile = written.profile;
    const ProfileType profile_type = profile_type_of(dictionary, profile, written.type);
    const Labels labels = series_labels(dictionary, profile, profile_type);
    const std::string service(label_value(labels, kServiceLabel));
    if (profile.time_ns < kept_from(tenant.retention, service, now_ns)) {
      ++receipt.expired;
      return {};
    }
    auto& of_service = tenant.services[service];
    if (of_service == nullptr) of_service = std::make_unique<Service>();
    const size_t stacks_before = of_service->tree.stack_count();
    numbers.use(*of_service);
    VESTA_ASSIGN(StoredProfile stored, stored_profile(numbers, written));
    receipt.new_stacks += of_service->tree.stack_count() - stacks_before;

    const auto [at, is_new_series] = tenant.series.try_emplace(labels);
    StoredSeries& series = at->second;
    series.type = profile_type;
    series.service = service;
    receipt.new_series += is_new_series ? 1 : 0;
    const size_t samples = stored.samples.size();
    const std::pair key{stored.time_ns, profile_id(labels, stored)};
    if (!series.profiles.try_emplace(key, std::move(stored)).second) {
      ++receipt.duplicates;
      return {};
    }
    ++receipt.profiles;
    receipt.samples += samples;
    return {};
  }

  Result<StoredProfile> stored_profile(BatchNumbers& numbers, const Written& written) const {
    const Dictionary& dictionary = numbers.dictionary();
    const Profile& profile = written.profile;
    StoredProfile stored;
    stored.time_ns = profile.time_ns;
    stored.duration_ns = profile.duration_ns;
    stored.period = profile.period;
    stored.origin = written.origin;
    for (const Loss& loss : profile.losses)
      stored.losses[std::string(dictionary.string(loss.reason))] += loss.count;
    const Samples& samples = profile.samples;
    size_t with_value = 0;
    for (size_t row = 0; row < samples.size(); ++row)
      with_value += profile.value(row, written.type) != 0 ? 1 : 0;
    stored.samples.reserve(with_value);
    for (size_t row = 0; row < samples.size(); ++row) {
      if (row % kRowsBetweenStops == 0) VESTA_TRY(check_stop());
      const int64_t value = profile.value(row, written.type);
      if (value == 0) continue;
      stored.samples.push_back(
          {{numbers.stack(samples.stacks[row]), numbers.label_set(samples.label_set(row)),
            dictionary.links[samples.link(row).index()], samples.time_ns(row)},
           value});
    }
    memory::add_up_alike(stored.samples);
    for (const StoredSample& sample : stored.samples)
      stored.total = saturating_add(stored.total, sample.value);
    return stored;
  }

  Status check_stop() const {
    if (!stop_ || !stop_()) return {};
    return Error{ErrorCode::kUnavailable, "the write was cancelled", ""};
  }

  static void drop_empty_series(Tenant& tenant) {
    std::erase_if(tenant.series, [](const auto& entry) { return entry.second.profiles.empty(); });
  }

  void apply_to(Tenant& tenant, int64_t now_ns) REQUIRES(mutex_) {
    for (auto& [labels, series] : tenant.series) {
      const int64_t from = kept_from(tenant.retention, series.service, now_ns);
      auto& profiles = series.profiles;
      profiles.erase(profiles.begin(), profiles.lower_bound({from, ""}));
    }
    drop_empty_series(tenant);
    if (tenant.retention.max_bytes != 0) shrink_to(tenant.retention.max_bytes);
  }

  // Drops the oldest hours of all tenants until the rest fits.
  void shrink_to(uint64_t max_bytes) REQUIRES(mutex_) {
    std::map<int64_t, uint64_t> by_hour;
    uint64_t bytes = 0;
    for (const auto& [name, tenant] : tenants_) {
      for (const auto& [labels, series] : tenant.series) {
        for (const auto& [key, profile] : series.profiles) {
          by_hour[hour_of(profile.time_ns)] += byte_size(profile);
          bytes += byte_size(profile);
        }
      }
    }
    int64_t first_kept = INT64_MIN;
    for (const auto& [hour, size] : by_hour) {
      if (bytes <= max_bytes) break;
      bytes -= size;
      first_kept = hour + 1;
    }
    for (auto& [name, tenant] : tenants_) {
      for (auto& [labels, series] : tenant.series) {
        std::erase_if(series.profiles,
                      [&](const auto& entry) { return hour_of(entry.first.first) < first_kept; });
      }
      drop_empty_series(tenant);
    }
  }

  static int64_t hour_of(int64_t time_ns) {
    return time_ns / kHour - (time_ns % kHour < 0 ? 1 : 0);
  }

  static void add_stats(const Tenant& tenant, EngineStats& sum) {
    for (const auto& [name, service] : tenant.services) {
      sum.stacks += service->tree.stack_count();
      sum.nodes += service->tree.node_count();
      sum.memory_bytes += service->tree.byte_size() + byte_size(service->label_sets);
    }
    for (const auto& [labels, series] : tenant.series) {
      const int64_t first = series.profiles.begin()->first.first;
      const int64_t last = series.profiles.rbegin()->first.first;
      sum.oldest_ns = sum.series == 0 ? first : std::min(sum.oldest_ns, first);
      sum.newest_ns = sum.series == 0 ? last : std::max(sum.newest_ns, last);
      ++sum.series;
      for (const auto& [key, profile] : series.profiles) sum.memory_bytes += byte_size(profile);
    }
    sum.disk_bytes = sum.memory_bytes;
  }

  const std::function<bool()> stop_;
  Mutex mutex_;
  std::map<std::string, Tenant, std::less<>> tenants_ GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<MemoryEngine> make_memory_engine(std::function<bool()> stop) {
  return std::make_unique<MemoryEngineInMaps>(std::move(stop));
}

}  // namespace vesta
