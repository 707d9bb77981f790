// Fetches profiles from programs that serve them, as Go's /debug/pprof does, and writes them. Owns
// its threads from start to destruction; refers to the ingest, which must outlive it. Any thread
// may ask for the targets.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/memory_account.h"
#include "base/mutex.h"
#include "base/result.h"
#include "ingest/ingest.h"
#include "ingest/scrape/scrape_config.h"
#include "ingest/scrape/targets.h"

namespace vesta {

enum class TargetHealth : uint8_t { kUnknown, kUp, kDown };

// One profile of one target.
struct TargetStatus {
  std::string job;
  std::string url;
  std::string profile;
  Labels labels;
  TargetHealth health = TargetHealth::kUnknown;
  std::string last_error;
  int64_t last_scrape_ns = 0;  // Unix time of its start; 0 = not yet
  int64_t last_duration_ns = 0;
  uint64_t scrapes = 0;
  uint64_t failures = 0;
};

struct ScraperOptions {
  // How many programs are asked at once. A CPU profile keeps one busy for almost a whole interval.
  size_t threads = 32;
  // For what is fetched, unpacked and built; null = no bound. Must outlive the scraper.
  MemoryBudget* memory = nullptr;
  // Instead of fetching by HTTP; for tests.
  std::function<Result<std::string>(const std::string& url, int64_t timeout_ns)> fetch;
};

class Scraper {
 public:
  Scraper(Ingest& ingest, ScrapeConfig config, ScraperOptions options = {});
  ~Scraper();
  Scraper(const Scraper&) = delete;
  Scraper& operator=(const Scraper&) = delete;

  // Ends transfers that are under way, and fetches nothing more. What is known stays.
  void stop();

  // Of the tenant's jobs: by job, then URL, then profile.
  std::vector<TargetStatus> targets(std::string_view tenant) const;
  // Of files with targets of the tenant's jobs, as of the last look.
  std::vector<Error> discovery_problems(std::string_view tenant) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Loop;

  void work();
  void refresh_targets();
  void scrape(Loop& loop);
  Status fetch_and_write(const Loop& loop);

  Ingest& ingest_;
  const ScrapeConfig config_;
  const ScraperOptions options_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::map<std::string, std::shared_ptr<Loop>> loops_ GUARDED_BY(mutex_);
  std::multimap<Clock::time_point, std::shared_ptr<Loop>> due_ GUARDED_BY(mutex_);
  Clock::time_point refresh_due_ GUARDED_BY(mutex_);
  // By tenant.
  std::map<std::string, std::vector<Error>, std::less<>> problems_ GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;
};

}  // namespace vesta
