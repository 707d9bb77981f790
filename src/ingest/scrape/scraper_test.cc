#include "ingest/scrape/scraper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "formats/common/compression.h"
#include "formats/pprof/writer.h"
#include "ingest/test_engine.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

using ::testing::HasSubstr;

template <class Condition>
bool eventually(Condition&& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

ScrapeJob job_of(std::vector<std::string> targets) {
  ScrapeJob job;
  job.name = "api";
  job.interval_ns = 50'000'000;
  job.profiles = default_scrape_profiles();
  job.static_targets.push_back({std::move(targets), {{"env", "prod"}}});
  return job;
}

std::string pprof(std::string_view type, std::string_view unit, int64_t value) {
  return gzip(write_pprof(test::batch_from({{"main;work", value}}, type, unit)));
}

TEST(Scraper, WritesWhatTargetsServe) {
  test::RecordingEngine engine;
  Ingest ingest(engine, {});
  std::atomic<int64_t> delay = 100;
  ScraperOptions options;
  options.threads = 4;
  options.fetch = [&](const std::string& url, int64_t) -> Result<std::string> {
    if (url.find("/profile?seconds=1") != std::string::npos) return pprof("cpu", "nanoseconds", 5);
    if (url.find("/goroutine") != std::string::npos) return pprof("goroutine", "count", 3);
    if (url.find("/mutex") != std::string::npos)
      return pprof("delay", "nanoseconds", delay.fetch_add(10));
    if (url.find("/block") != std::string::npos) return std::string("404 page not found");
    return Error{ErrorCode::kIo, "connection refused", ""};
  };
  {
    Scraper scraper(ingest, ScrapeConfig{{job_of({"a:6060"})}}, options);
    ASSERT_TRUE(eventually([&] {
      for (const TargetStatus& target : scraper.targets("anonymous")) {
        if (target.scrapes < 3) return false;
      }
      return true;
    }));
    const auto targets = scraper.targets("anonymous");
    ASSERT_EQ(targets.size(), 5u);
    for (const TargetStatus& target : targets) {
      EXPECT_EQ(target.job, "api");
      if (target.profile == "memory") {
        EXPECT_EQ(target.health, TargetHealth::kDown);
        EXPECT_THAT(target.last_error, HasSubstr("connection refused"));
        EXPECT_EQ(target.failures, target.scrapes);
      } else if (target.profile == "block") {
        EXPECT_EQ(target.health, TargetHealth::kDown);
        EXPECT_THAT(target.last_error, HasSubstr("pprof"));
      } else {
        EXPECT_EQ(target.health, TargetHealth::kUp) << target.last_error;
      }
      EXPECT_GT(target.last_scrape_ns, 0);
    }
  }
  const auto totals = engine.totals_by_series();
  const std::string labels = "{env=prod,instance=a:6060,job=api,service_name=api}";
  ASSERT_EQ(totals.size(), 3u);
  EXPECT_EQ(totals.at("process_cpu:cpu:nanoseconds::" + labels) % 5, 0);
  EXPECT_EQ(totals.at("goroutine:goroutine:count::" + labels) % 3, 0);
  // The first reading is not counted, and each later one only with what it added.
  EXPECT_EQ(totals.at("mutex:delay:nanoseconds::" + labels), delay - 110);
}

TEST(Scraper, StopsWhileTargetsAreSlow) {
  test::RecordingEngine engine;
  Ingest ingest(engine, {});
  ScrapeJob job = job_of({"192.0.2.1:9"});  // a network for documentation: nobody answers
  job.timeout_ns = 60'000'000'000;
  const auto start = std::chrono::steady_clock::now();
  { const Scraper scraper(ingest, ScrapeConfig{{job}}, {}); }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

TEST(Scraper, ManyTargetsShareAFewThreads) {
  test::RecordingEngine engine;
  engine.keep = false;
  Ingest ingest(engine, {});
  std::vector<std::string> addresses;
  for (int i = 0; i < 200; ++i) addresses.push_back("host" + std::to_string(i) + ":1");
  std::atomic<int> at_once = 0;
  std::atomic<int> most = 0;
  ScraperOptions options;
  options.threads = 3;
  options.fetch = [&](const std::string&, int64_t) -> Result<std::string> {
    most = std::max<int>(most, ++at_once);
    auto body = pprof("cpu", "nanoseconds", 5);
    --at_once;
    return body;
  };
  const Scraper scraper(ingest, ScrapeConfig{{job_of(addresses)}}, options);
  EXPECT_TRUE(eventually([&] {
    const auto targets = scraper.targets("anonymous");
    return std::ranges::all_of(targets, [](const TargetStatus& t) { return t.scrapes > 0; });
  }));
  EXPECT_LE(most, 3);
}

TEST(Scraper, TenantsSeeTheirOwnJobs) {
  test::RecordingEngine engine;
  Ingest ingest(engine, {});
  ScraperOptions options;
  options.threads = 1;
  options.fetch = [](const std::string&, int64_t) -> Result<std::string> {
    return Error{ErrorCode::kIo, "connection refused", ""};
  };
  ScrapeJob a = job_of({"a.internal:1"});
  a.tenant = "a";
  a.files.push_back({{"/nonexistent/of-a.json"}, 3600'000'000'000});
  ScrapeJob b = job_of({"b.internal:1"});
  b.tenant = "b";
  const Scraper scraper(ingest, ScrapeConfig{{a, b}}, options);
  ASSERT_EQ(scraper.targets("a").size(), 5U);
  for (const TargetStatus& target : scraper.targets("a"))
    EXPECT_THAT(target.url, HasSubstr("//a.internal"));
  for (const TargetStatus& target : scraper.targets("b"))
    EXPECT_THAT(target.url, HasSubstr("//b.internal"));
  EXPECT_EQ(scraper.discovery_problems("a").size(), 1U);
  EXPECT_TRUE(scraper.discovery_problems("b").empty());
  EXPECT_TRUE(scraper.targets("c").empty());
}

}  // namespace
}  // namespace vesta
