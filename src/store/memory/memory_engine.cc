#include "store/memory/memory_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "base/hash.h"
#include "profile/content_hash.h"
#include "store/memory/memory_answers.h"
#include "store/memory/memory_tables.h"
#include "store/series_labels.h"

namespace vesta {
namespace {

using memory::SampleKey;
using memory::SampleLabels;
using memory::Service;
using memory::StoredProfile;
using memory::StoredSeries;
using memory::Tenant;

constexpr int64_t kHourNs = int64_t{3'600} * 1'000'000'000;

int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

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
  number(profile.losses.size());
  for (const auto& [reason, count] : profile.losses) text(reason), number(count);
  for (const auto& [sample, value] : profile.samples) {
    number(sample.stack);
    number(sample.labels.size());
    for (const memory::SampleLabel& label : sample.labels) {
      text(label.key);
      number(label.kind);
      text(label.text);
      text(label.unit);
      number(label.number);
    }
    number(sample.link);
    number(sample.time_ns);
    number(value);
  }
  const Hash128 hash = hash128(bytes);
  return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

// From when on profiles of the service are kept.
int64_t kept_from(const RetentionPolicy& policy, std::string_view service, int64_t now_ns) {
  int64_t keep_ns = 0;
  for (const RetentionRule& rule : policy.rules) {
    if (rule.service == service) {
      keep_ns = rule.keep_ns;
      break;
    }
    if (rule.service.empty()) keep_ns = rule.keep_ns;
  }
  return keep_ns <= 0 ? INT64_MIN : saturating_subtract(now_ns, keep_ns);
}

// What one would pay for the profile without compression.
uint64_t byte_size(const StoredProfile& profile) {
  return sizeof(StoredProfile) + profile.samples.size() * (sizeof(SampleKey) + sizeof(int64_t));
}

class MemoryEngine final : public Engine {
 public:
  Result<WriteReceipt> write(std::string_view tenant, const ProfileBatch& batch,
                             const WriteOptions& options) override {
    const std::lock_guard lock(mutex_);
    Tenant& to = tenant_named(tenant);
    const int64_t now_ns = options.now_ns != 0 ? options.now_ns : clock_ns();
    WriteReceipt receipt;
    const Stacks stacks{batch.dictionary, stack_hashes(batch.dictionary)};
    for (const Profile& profile : batch.profiles) {
      for (size_t type = 0; type < profile.sample_types.size(); ++type)
        write_type(to, stacks, profile, type, now_ns, receipt);
    }
    return receipt;
  }

  Result<std::vector<SeriesInfo>> series(std::string_view tenant, const Selector& selector,
                                         TimeRange range) override {
    const std::lock_guard lock(mutex_);
    std::vector<SeriesInfo> answer;
    for_each_series(tenant, selector, range, [&](const Labels& labels, const StoredSeries& found) {
      answer.push_back(
          {labels, found.profiles.begin()->first.first, found.profiles.rbegin()->first.first});
    });
    return answer;
  }

  Result<std::vector<std::string>> label_names(std::string_view tenant, const Selector& selector,
                                               TimeRange range) override {
    const std::lock_guard lock(mutex_);
    std::set<std::string> names;
    for_each_series(tenant, selector, range, [&](const Labels& labels, const StoredSeries&) {
      for (const auto& [name, value] : labels) names.insert(name);
    });
    return std::vector<std::string>(names.begin(), names.end());
  }

  Result<std::vector<std::string>> label_values(std::string_view tenant, std::string_view name,
                                                const Selector& selector, TimeRange range,
                                                std::string_view prefix, size_t limit) override {
    const std::lock_guard lock(mutex_);
    std::set<std::string> values;
    for_each_series(tenant, selector, range, [&](const Labels& labels, const StoredSeries&) {
      const std::string_view value = label_value(labels, name);
      if (!value.empty() && value.starts_with(prefix)) values.emplace(value);
    });
    std::vector<std::string> answer(values.begin(), values.end());
    if (limit != 0 && answer.size() > limit) answer.resize(limit);
    return answer;
  }

  Result<std::vector<Selection>> select(std::string_view tenant,
                                        const SelectRequest& request) override {
    const std::lock_guard lock(mutex_);
    return memory::select(known_tenant(tenant), request);
  }
  Result<std::vector<TotalsSeries>> totals(std::string_view tenant,
                                           const TotalsRequest& request) override {
    const std::lock_guard lock(mutex_);
    return memory::totals(known_tenant(tenant), request);
  }
  Result<std::vector<ProfilePoint>> points(std::string_view tenant,
                                           const PointsRequest& request) override {
    const std::lock_guard lock(mutex_);
    return memory::points(known_tenant(tenant), request);
  }
  Result<ProfileBatch> samples(std::string_view tenant, const SamplesRequest& request) override {
    const std::lock_guard lock(mutex_);
    return memory::samples(known_tenant(tenant), request);
  }

  Result<uint64_t> remove(std::string_view tenant, const Selector& selector,
                          TimeRange range) override {
    const std::lock_guard lock(mutex_);
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
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, tenant] : tenants_) names.push_back(name);
    return names;
  }

  Status set_retention(std::string_view tenant, const RetentionPolicy& policy) override {
    const std::lock_guard lock(mutex_);
    Tenant& to = tenant_named(tenant);
    to.retention = policy;
    apply_to(to, clock_ns());
    return {};
  }

  Status apply_retention(int64_t now_ns) override {
    const std::lock_guard lock(mutex_);
    for (auto& [name, tenant] : tenants_) apply_to(tenant, now_ns);
    return {};
  }

  Status maintain() override { return {}; }
  Status flush() override { return {}; }

  Status backup(const std::string&) override {
    return Error{ErrorCode::kUnsupported, "a store in memory cannot be backed up",
                 "start the server with --data DIR"};
  }

  EngineStats stats() override {
    const std::lock_guard lock(mutex_);
    EngineStats sum;
    for (const auto& [name, tenant] : tenants_) add_stats(tenant, sum);
    return sum;
  }
  EngineStats tenant_stats(std::string_view tenant) override {
    const std::lock_guard lock(mutex_);
    EngineStats sum;
    add_stats(known_tenant(tenant), sum);
    return sum;
  }

 private:
  Tenant& tenant_named(std::string_view name) {
    return tenants_.try_emplace(std::string(name)).first->second;
  }
  const Tenant& known_tenant(std::string_view name) const {
    static const Tenant kEmpty;
    const auto found = tenants_.find(name);
    return found == tenants_.end() ? kEmpty : found->second;
  }

  template <class Visit>
  void for_each_series(std::string_view tenant, const Selector& selector, TimeRange range,
                       Visit&& visit) const {
    if (range.empty()) return;
    for (const auto& [labels, series] : known_tenant(tenant).series) {
      const auto at = series.profiles.lower_bound({range.start_ns, ""});
      if (at == series.profiles.end() || at->first.first >= range.end_ns) continue;
      if (matches(selector, labels)) visit(labels, series);
    }
  }

  struct Stacks {
    const Dictionary& dictionary;
    std::vector<Hash128> hashes;  // of its stacks
  };

  static void write_type(Tenant& tenant, const Stacks& stacks, const Profile& profile, size_t type,
                         int64_t now_ns, WriteReceipt& receipt) {
    const Dictionary& dictionary = stacks.dictionary;
    const ProfileType profile_type = profile_type_of(dictionary, profile, type);
    const Labels labels = series_labels(dictionary, profile, profile_type);
    const std::string service(label_value(labels, kServiceLabel));
    if (profile.time_ns < kept_from(tenant.retention, service, now_ns)) {
      ++receipt.expired;
      return;
    }
    auto& of_service = tenant.services[service];
    if (of_service == nullptr) of_service = std::make_unique<Service>();
    const size_t stacks_before = of_service->tree.stack_count();
    StoredProfile stored = stored_profile(*of_service, stacks, profile, type);
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
      return;
    }
    ++receipt.profiles;
    receipt.samples += samples;
  }

  static StoredProfile stored_profile(Service& service, const Stacks& stacks,
                                      const Profile& profile, size_t type) {
    const Dictionary& dictionary = stacks.dictionary;
    StoredProfile stored{profile.time_ns, profile.duration_ns, profile.period, {}, {}, 0};
    for (const Loss& loss : profile.losses)
      stored.losses[std::string(dictionary.string(loss.reason))] += loss.count;
    const Samples& samples = profile.samples;
    for (size_t row = 0; row < samples.size(); ++row) {
      const int64_t value = profile.value(row, type);
      if (value == 0) continue;
      const StackId stack = samples.stacks[row];
      const StackNumber number =
          service.writer.number(service.numbers, stacks.hashes[stack.index()], dictionary, stack);
      int64_t& sum =
          stored.samples[{number, sample_labels(dictionary, samples.label_set(row)),
                          dictionary.links[samples.link(row).index()], samples.time_ns(row)}];
      sum = saturating_add(sum, value);
    }
    std::erase_if(stored.samples, [](const auto& sample) { return sample.second == 0; });
    for (const auto& [sample, value] : stored.samples)
      stored.total = saturating_add(stored.total, value);
    return stored;
  }

  static void drop_empty_series(Tenant& tenant) {
    std::erase_if(tenant.series, [](const auto& entry) { return entry.second.profiles.empty(); });
  }

  void apply_to(Tenant& tenant, int64_t now_ns) {
    for (auto& [labels, series] : tenant.series) {
      const int64_t from = kept_from(tenant.retention, series.service, now_ns);
      auto& profiles = series.profiles;
      profiles.erase(profiles.begin(), profiles.lower_bound({from, ""}));
    }
    drop_empty_series(tenant);
    if (tenant.retention.max_bytes != 0) shrink_to(tenant.retention.max_bytes);
  }

  // Drops the oldest hours of all tenants until the rest fits.
  void shrink_to(uint64_t max_bytes) {
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
    return time_ns / kHourNs - (time_ns % kHourNs < 0 ? 1 : 0);
  }

  static void add_stats(const Tenant& tenant, EngineStats& sum) {
    for (const auto& [name, service] : tenant.services) {
      sum.stacks += service->tree.stack_count();
      sum.nodes += service->tree.node_count();
      sum.memory_bytes += service->tree.byte_size();
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

  std::mutex mutex_;
  std::map<std::string, Tenant, std::less<>> tenants_;  // guarded by mutex_
};

}  // namespace

std::unique_ptr<Engine> make_memory_engine() {
  return std::make_unique<MemoryEngine>();
}

}  // namespace vesta
