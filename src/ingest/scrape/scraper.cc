#include "ingest/scrape/scraper.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/hash.h"
#include "base/mutex.h"
#include "base/time.h"
#include "formats/pprof/reader.h"
#include "ingest/scrape/fetch.h"
#include "ingest/unpack.h"

namespace vesta {
namespace {

constexpr size_t kMaxError = 400;

// A recording ends a second before the next one begins.
int64_t recording_seconds(const ScrapeJob& job) {
  return std::max<int64_t>(1, job.interval_ns / kSecond - 1);
}

// Errors about what a target sent may name parts of it.
std::string printable(std::string text) {
  text.resize(std::min(text.size(), kMaxError));
  for (char& c : text) {
    if (c < ' ' || c >= 0x7F) c = '?';
  }
  return text;
}

std::string profile_url(const ScrapeTarget& target, const ScrapeProfile& profile,
                        const ScrapeJob& job) {
  std::string url = target.url + profile.path;
  if (profile.seconds) {
    url += url.find('?') == std::string::npos ? '?' : '&';
    url += fmt::format("seconds={}", recording_seconds(job));
  }
  return url;
}

}  // namespace

struct Scraper::Loop {
  Loop(const ScrapeJob& its_job, ScrapeProfile its_profile, ScrapeTarget its_target)
      : job(its_job), profile(std::move(its_profile)), target(std::move(its_target)) {}

  const ScrapeJob& job;
  ScrapeProfile profile;
  ScrapeTarget target;
  TargetStatus status;                // guarded by Scraper::mutex_
  std::atomic<bool> is_gone = false;  // not a target any more
};

Scraper::Scraper(Ingest& ingest, ScrapeConfig config, ScraperOptions options)
    : ingest_(ingest), config_(std::move(config)), options_(std::move(options)) {
  refresh_targets();
  const size_t count = std::max<size_t>(1, options_.threads);
  threads_.reserve(count);
  for (size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
}

Scraper::~Scraper() {
  stop();
}

void Scraper::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    for (const auto& [key, loop] : loops_) loop->is_gone = true;
  }
  changed_.notify_all();
  threads_.clear();
}

std::vector<TargetStatus> Scraper::targets(std::string_view tenant) const {
  const MutexLock lock(mutex_);
  std::vector<TargetStatus> own;
  for (const auto& [key, loop] : loops_) {
    if (loop->job.tenant == tenant) own.push_back(loop->status);
  }
  return own;
}

std::vector<Error> Scraper::discovery_problems(std::string_view tenant) const {
  const MutexLock lock(mutex_);
  const auto own = problems_.find(tenant);
  return own == problems_.end() ? std::vector<Error>() : own->second;
}

void Scraper::refresh_targets() {
  std::map<std::string, std::vector<Error>, std::less<>> problems;
  std::map<std::string, std::shared_ptr<Loop>> wanted;
  int64_t refresh_ns = 3600 * kSecond;
  for (const ScrapeJob& job : config_.jobs) {
    for (const FileDiscovery& files : job.files)
      refresh_ns = std::min(refresh_ns, files.refresh_ns);
    for (ScrapeTarget& target : find_targets(job, problems[job.tenant])) {
      for (const ScrapeProfile& profile : job.profiles) {
        if (!profile.enabled) continue;
        std::string key = fmt::format("{}\n{}\n{}", job.name, target.url, profile.name);
        for (const auto& [name, value] : target.labels) key += fmt::format("\n{}={}", name, value);
        auto loop = std::make_shared<Loop>(job, profile, target);
        loop->status.job = job.name;
        loop->status.url = profile_url(target, profile, job);
        loop->status.profile = profile.name;
        loop->status.labels = target.labels;
        wanted.emplace(std::move(key), std::move(loop));
      }
    }
  }
  const MutexLock lock(mutex_);
  const auto now = Clock::now();
  refresh_due_ = now + std::chrono::nanoseconds(refresh_ns);
  problems_ = std::move(problems);
  for (auto& [key, loop] : wanted) {
    const auto known = loops_.find(key);
    if (known != loops_.end()) {
      loop = known->second;
      loops_.erase(known);
      continue;
    }
    // Spread over the interval, always at the same place.
    const auto spread = static_cast<int64_t>(
        hash64(key) % static_cast<uint64_t>(std::max<int64_t>(1, loop->job.interval_ns)));
    due_.emplace(now + std::chrono::nanoseconds(spread), loop);
  }
  for (const auto& [key, loop] : loops_) loop->is_gone = true;
  std::erase_if(due_, [](const auto& entry) { return entry.second->is_gone.load(); });
  loops_ = std::move(wanted);
}

void Scraper::work() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    const auto now = Clock::now();
    if (now >= refresh_due_) {
      refresh_due_ = Clock::time_point::max();  // mine
      lock.unlock();
      refresh_targets();
      lock.lock();
      changed_.notify_all();
      continue;
    }
    if (due_.empty() || due_.begin()->first > now) {
      const auto next = due_.empty() ? refresh_due_ : std::min(refresh_due_, due_.begin()->first);
      // The end of time overflows in the arithmetic of waiting.
      changed_.wait_until(lock, std::min(next, now + std::chrono::hours(1)));
      continue;
    }
    const auto due = due_.begin()->first;
    const std::shared_ptr<Loop> loop = due_.begin()->second;
    due_.erase(due_.begin());
    lock.unlock();
    scrape(*loop);
    lock.lock();
    if (loop->is_gone || stopping_) continue;
    // One that is late does not catch up: it would ask the program twice in a row.
    due_.emplace(std::max(Clock::now(), due + std::chrono::nanoseconds(loop->job.interval_ns)),
                 loop);
    changed_.notify_one();
  }
}

void Scraper::scrape(Loop& loop) {
  const int64_t start_ns = ingest_.now_ns();
  const auto begin = Clock::now();
  const Status status = fetch_and_write(loop);
  const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
  if (!status) ingest_.counters().count_refusal(IngestProtocol::kScrape, status.error().code);
  const MutexLock lock(mutex_);
  TargetStatus& state = loop.status;
  state.health = status ? TargetHealth::kUp : TargetHealth::kDown;
  state.last_error.clear();
  if (!status) {
    const Error& error = status.error();
    state.last_error =
        printable(error.hint.empty() ? error.message : error.message + "; " + error.hint);
    ++state.failures;
  }
  state.last_scrape_ns = start_ns;
  state.last_duration_ns = took.count();
  ++state.scrapes;
}

Status Scraper::fetch_and_write(const Loop& loop) {
  const ScrapeJob& job = loop.job;
  const std::string url = profile_url(loop.target, loop.profile, job);
  const int64_t timeout_ns =
      job.timeout_ns + (loop.profile.seconds ? recording_seconds(job) * kSecond : 0);
  const TenantLimits& limits = ingest_.limits(job.tenant);
  HttpCall call;
  call.url = url;
  call.max_bytes = limits.max_body_bytes;
  call.timeout = std::chrono::milliseconds(timeout_ns / 1'000'000);
  if (!job.bearer_token.empty())
    call.headers.emplace_back("Authorization", "Bearer " + job.bearer_token);
  call.is_cancelled = [&loop] { return loop.is_gone.load(); };
  VESTA_ASSIGN(const std::string body,
               options_.fetch ? options_.fetch(url, timeout_ns) : fetch_profile(std::move(call)));
  auto& counts = ingest_.counters().of(IngestProtocol::kScrape);
  counts.requests.fetch_add(1, std::memory_order_relaxed);
  counts.bytes.fetch_add(body.size(), std::memory_order_relaxed);

  MemoryAccount account(options_.memory);
  const MemoryAccount::Scope current(account);
  VESTA_TRY(account.take(body.size()));
  const ReadOptions options = ingest_.read_options(job.tenant);
  VESTA_ASSIGN(const Unpacked unpacked, Unpacked::make(body, options.max_decoded_bytes));
  VESTA_ASSIGN(ProfileBatch batch, read_pprof(unpacked.bytes(), options));
  IngestHints hints;
  hints.protocol = IngestProtocol::kScrape;
  hints.labels.assign(loop.target.labels.begin(), loop.target.labels.end());
  hints.labels.emplace_back("__name__", loop.profile.name);
  hints.service = job.name;
  hints.delta = loop.profile.delta ? DeltaMode::kIfCumulative : DeltaMode::kNever;
  hints.decoded_bytes = unpacked.bytes().size();
  VESTA_TRY(ingest_.write(job.tenant, std::move(batch), hints));
  return {};
}

}  // namespace vesta
