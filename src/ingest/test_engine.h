// An engine that only remembers what it was given, for tests of ingest. Any thread may write.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "store/engine.h"

namespace vesta::test {

struct WrittenBatch {
  std::string tenant;
  ProfileBatch batch;
  WriteOptions options;
};

// "process_cpu:cpu:nanoseconds:cpu:nanoseconds{a=b,service_name=x}" and the total of its values.
inline std::map<std::string, int64_t> series_totals(const ProfileBatch& batch) {
  std::map<std::string, int64_t> totals;
  const Dictionary& d = batch.dictionary;
  for (const Profile& p : batch.profiles) {
    std::map<std::string, std::string> labels;
    for (const Label& label : d.label_sets[p.resource])
      labels[std::string(d.string(label.key))] = d.string(label.text);
    std::string text;
    for (const auto& [name, value] : labels)
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
    for (size_t type = 0; type < p.sample_types.size(); ++type) {
      const std::string key =
          fmt::format("{}:{}:{}:{}:{}{{{}}}", d.string(p.name), d.string(p.sample_types[type].type),
                      d.string(p.sample_types[type].unit), d.string(p.period_type.type),
                      d.string(p.period_type.unit), text);
      totals[key] += total_of(p, type);
    }
  }
  return totals;
}

class RecordingEngine : public Engine {
 public:
  Result<WriteReceipt> write(std::string_view tenant, const ProfileBatch& batch,
                             const WriteOptions& options) override {
    const MutexLock lock(mutex_);
    if (!problem.message.empty()) return problem;
    if (keep) written.push_back({std::string(tenant), batch, options});
    WriteReceipt receipt;
    for (const Profile& profile : batch.profiles) {
      receipt.profiles += profile.sample_types.size();
      receipt.samples += profile.samples.size();
    }
    return receipt;
  }
  Result<std::vector<SeriesInfo>> series(std::string_view, const Selector&, TimeRange) override {
    return known_series;
  }
  Result<std::vector<std::string>> label_names(std::string_view, const Selector&,
                                               TimeRange) override {
    return std::vector<std::string>();
  }
  Result<std::vector<std::string>> label_values(std::string_view, std::string_view, const Selector&,
                                                TimeRange, std::string_view, size_t) override {
    return std::vector<std::string>();
  }
  Result<std::vector<std::string>> sample_label_names(std::string_view, const Selector&,
                                                      TimeRange) override {
    return std::vector<std::string>();
  }
  Result<std::vector<SampleLabelSets>> sample_label_sets(std::string_view,
                                                         const SampleLabelsRequest&) override {
    return std::vector<SampleLabelSets>();
  }
  Result<std::vector<Selection>> select(std::string_view, const SelectRequest&) override {
    return std::vector<Selection>();
  }
  Result<std::vector<TotalsSeries>> totals(std::string_view, const TotalsRequest&) override {
    return std::vector<TotalsSeries>();
  }
  Result<std::vector<ProfilePoint>> points(std::string_view, const PointsRequest&) override {
    return std::vector<ProfilePoint>();
  }
  Result<ProfileBatch> samples(std::string_view, const SamplesRequest&) override {
    return ProfileBatch();
  }
  Result<uint64_t> remove(std::string_view, const Selector&, TimeRange) override {
    return uint64_t{0};
  }
  std::vector<std::string> tenants() override { return {}; }
  Status set_retention(std::string_view, const RetentionPolicy&) override { return {}; }
  Status apply_retention(int64_t) override { return {}; }
  Status maintain() override { return {}; }
  Status flush() override {
    ++flushes;
    return {};
  }
  Status backup(const std::string&) override { return {}; }
  EngineStats stats() override { return {}; }
  EngineStats tenant_stats(std::string_view) override {
    EngineStats stats;
    stats.series = series_count;
    return stats;
  }

  // All series of all batches.
  std::map<std::string, int64_t> totals_by_series() const {
    std::map<std::string, int64_t> all;
    for (const WrittenBatch& each : written) {
      for (const auto& [name, total] : series_totals(each.batch)) all[name] += total;
    }
    return all;
  }

  std::vector<WrittenBatch> written;
  Error problem;  // what writes answer, when it says something
  bool keep = true;
  uint64_t series_count = 0;
  std::vector<SeriesInfo> known_series;
  int flushes = 0;

 private:
  Mutex mutex_;
};

}  // namespace vesta::test
