// All exporters of an agent: every batch goes to each. They can be exchanged while batches come.
// Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "agent/config/agent_config.h"
#include "agent/export/exporter.h"
#include "agent/export/make_exporter.h"
#include "agent/export/outage.h"
#include "base/log.h"
#include "base/mutex.h"

namespace vesta::agent {

class Exporters {
 public:
  // `log` must outlive it.
  Exporters(ExportEnvironment environment, Log& log)
      : environment_(std::move(environment)), log_(log) {}

  // One that is not configured, and that stays.
  void add(std::unique_ptr<Exporter> exporter);
  // Starts those that are new, ends those that are no more, leaves the others alone. What a
  // finished one had queued stays on disk, for the next of that name. On an error nothing changes.
  Status configure(const std::vector<ExporterConfig>& configs, int64_t upload_interval_ns);

  // To all. Those that could not take it have counted it as lost; that is logged, but not each
  // time.
  void take(const ProfileBatch& batch);
  // As above, with an error when one did not take it.
  Status take_all(const ProfileBatch& batch);

  void flush(std::chrono::steady_clock::time_point deadline);
  std::vector<std::pair<std::string, ExporterStats>> stats() const;
  bool empty() const;

  // To be called now and then: logs once when the other side of an exporter is away, and when it is
  // back.
  void watch();
  // A line for each exporter whose other side is away.
  std::vector<std::string> outages() const;

 private:
  struct Entry {
    ExporterConfig config;
    bool is_configured = true;
    std::shared_ptr<Exporter> exporter;
    UnixNs complained;
    OutageWatch outage;
    std::string last_error;  // of the outage
  };
  std::vector<std::shared_ptr<Exporter>> exporters() const;
  void complain(Entry& entry, const Error& error);
  void say(const Entry& entry, const OutageEvent& event, const ExporterStats& stats);

  ExportEnvironment environment_;
  Log& log_;
  Mutex taking_;  // take() of one exporter is called one at a time
  mutable Mutex mutex_;
  std::vector<Entry> entries_ GUARDED_BY(mutex_);
};

}  // namespace vesta::agent
