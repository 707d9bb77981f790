#include "agent/app/exporters.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/units.h"

namespace vesta::agent {
namespace {

constexpr int64_t kComplainNs = kMinute;

const std::string& destination(const ExporterConfig& config) {
  return config.endpoint.empty() ? config.directory : config.endpoint;
}

}  // namespace

void Exporters::add(std::unique_ptr<Exporter> exporter) {
  const MutexLock lock(mutex_);
  Entry& entry = entries_.emplace_back();
  entry.is_configured = false;
  entry.exporter = std::move(exporter);
}

Status Exporters::configure(const std::vector<ExporterConfig>& configs,
                            int64_t upload_interval_ns) {
  const MutexLock taking(taking_);
  const int64_t interval_before = environment_.upload_interval_ns;
  const bool same_interval = interval_before == upload_interval_ns;
  environment_.upload_interval_ns = upload_interval_ns;
  std::vector<Entry> kept;
  std::vector<Entry> gone;
  {
    const MutexLock lock(mutex_);
    for (Entry& entry : entries_) {
      const bool stays =
          !entry.is_configured ||
          (same_interval && std::ranges::find(configs, entry.config) != configs.end());
      (stays ? kept : gone).push_back(std::move(entry));
    }
    entries_ = kept;
  }
  // Two must not have the same queue open.
  std::vector<ExporterConfig> before;
  before.reserve(gone.size());
  for (Entry& entry : gone) before.push_back(entry.config);
  gone.clear();
  std::vector<Entry> started;
  Status problem;
  for (const ExporterConfig& config : configs) {
    if (std::ranges::any_of(kept,
                            [&](const Entry& e) { return e.is_configured && e.config == config; }))
      continue;
    auto made = make_exporter(config, environment_);
    if (!made.ok()) {
      problem = made.error();
      break;
    }
    Entry& entry = started.emplace_back();
    entry.config = config;
    entry.exporter = std::move(*made);
  }
  if (!problem.ok()) {
    started.clear();
    environment_.upload_interval_ns = interval_before;
    for (const ExporterConfig& config : before) {
      auto made = make_exporter(config, environment_);
      if (!made.ok()) {
        log_.error("cannot restart an exporter that worked before",
                   {{"exporter", config.name}, {"why", made.error().message}});
        continue;
      }
      Entry& entry = started.emplace_back();
      entry.config = config;
      entry.exporter = std::move(*made);
    }
  }
  const MutexLock lock(mutex_);
  for (Entry& entry : started) entries_.push_back(std::move(entry));
  return problem;
}

void Exporters::complain(Entry& entry, const Error& error) {
  const UnixNs now = unix_now();
  if (now - entry.complained < kComplainNs) return;
  entry.complained = now;
  log_.warn("profiles were lost while exporting",
            {{"exporter", entry.exporter->name()}, {"why", error.message}, {"hint", error.hint}});
}

void Exporters::take(const ProfileBatch& batch) {
  (void)take_all(batch);
}

Status Exporters::take_all(const ProfileBatch& batch) {
  const MutexLock taking(taking_);
  Status out;
  const std::vector<std::shared_ptr<Exporter>> all = exporters();
  for (size_t i = 0; i < all.size(); ++i) {
    const Status taken = all[i]->take(batch);
    if (taken.ok()) continue;
    const MutexLock lock(mutex_);
    complain(entries_[i], taken.error());  // only configure() changes the list, and it is waiting
    if (out.ok()) out = taken;
  }
  return out;
}

std::vector<std::shared_ptr<Exporter>> Exporters::exporters() const {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<Exporter>> all;
  all.reserve(entries_.size());
  for (const Entry& entry : entries_) all.push_back(entry.exporter);
  return all;
}

void Exporters::flush(std::chrono::steady_clock::time_point deadline) {
  for (const auto& exporter : exporters()) exporter->flush(deadline);
}

std::vector<std::pair<std::string, ExporterStats>> Exporters::stats() const {
  const MutexLock lock(mutex_);
  std::vector<std::pair<std::string, ExporterStats>> out;
  for (const Entry& entry : entries_)
    out.emplace_back(entry.exporter->name(), entry.exporter->stats());
  return out;
}

void Exporters::watch() {
  const MutexLock lock(mutex_);
  for (Entry& entry : entries_) {
    const ExporterStats stats = entry.exporter->stats();
    const OutageEvent event = entry.outage.update(stats, unix_now());
    if (entry.outage.is_away() && !stats.last_error.empty()) entry.last_error = stats.last_error;
    say(entry, event, stats);
  }
}

void Exporters::say(const Entry& entry, const OutageEvent& event, const ExporterStats& stats) {
  const auto bytes = [](uint64_t count) {
    return format_value(static_cast<int64_t>(count), "bytes");
  };
  const auto time = [](int64_t ns) { return format_value(ns, "nanoseconds"); };
  const std::string& name = entry.exporter->name();
  const ExporterConfig& config = entry.config;
  switch (event.kind) {
    case OutageEvent::Kind::kNone:
      return;
    case OutageEvent::Kind::kBegan:
      log_.warn("cannot reach the server; profiles wait on disk",
                {{"exporter", name},
                 {"endpoint", destination(config)},
                 {"why", stats.last_error},
                 {"queue.max_bytes", bytes(config.queue_bytes)},
                 {"queue.max_age", time(config.queue_age_ns)}});
      return;
    case OutageEvent::Kind::kDropping:
      log_.warn("the queue is full while the server is unreachable; dropping the oldest profiles",
                {{"exporter", name},
                 {"queued", std::to_string(stats.queued)},
                 {"queued_bytes", bytes(stats.queued_bytes)},
                 {"expired", std::to_string(stats.expired)}});
      return;
    case OutageEvent::Kind::kEnded:
      log_.info("the server is reachable again; sent the waiting profiles",
                {{"exporter", name},
                 {"endpoint", destination(config)},
                 {"away", time(event.duration_ns)},
                 {"sent", std::to_string(event.sent)},
                 {"expired", std::to_string(event.expired)},
                 {"rejected", std::to_string(event.rejected)}});
      return;
  }
}

std::vector<std::string> Exporters::outages() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> out;
  for (const Entry& entry : entries_) {
    if (!entry.outage.is_away()) continue;
    out.push_back(fmt::format("{}: {} is unreachable since {}: {}; profiles wait on disk",
                              entry.exporter->name(), destination(entry.config),
                              utc_text(entry.outage.since()), entry.last_error));
  }
  return out;
}

bool Exporters::empty() const {
  const MutexLock lock(mutex_);
  return entries_.empty();
}

}  // namespace vesta::agent
