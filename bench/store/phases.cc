#include "phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "fleet/fleet.h"
#include "formats/common/compression.h"
#include "formats/pprof/reader.h"
#include "formats/pprof/writer.h"
#include "measure.h"
#include "profile/merge/content_hash.h"
#include "queries.h"
#include "store/engine.h"
#include "store/rocksdb/rocksdb_engine.h"

namespace vesta::bench {
namespace {

constexpr std::string_view kTenant = "bench";
constexpr int64_t kAfterAllNs = kFleetStartNs + int64_t{60} * 86'400 * 1'000'000'000;

void report(std::string_view name, double value) {
  fmt::print("{} {:.6f}\n", name, value);
  std::fflush(stdout);
}

template <class T>
T value_or_exit(Result<T> result) {
  if (result) return std::move(result).value();
  fmt::print(stderr, "{} {}\n", result.error().message, result.error().hint);
  std::exit(1);
}
void check(const Status& status) {
  if (status) return;
  fmt::print(stderr, "{} {}\n", status.error().message, status.error().hint);
  std::exit(1);
}

std::unique_ptr<Engine> open(const std::string& directory, bool background = true,
                             UnixClock clock = {}) {
  RocksdbOptions options;
  options.directory = directory;
  options.background = background;
  options.clock = std::move(clock);
  return value_or_exit(open_rocksdb_engine(options));
}

// What the profiles of the fleet look like.
int shape(const std::vector<std::string>&) {
  const Fleet fleet({.services = 4});
  constexpr uint64_t kCount = 200;
  double samples = 0;
  double locations = 0;
  double functions = 0;
  double depth = 0;
  double raw = 0;
  double packed = 0;
  for (uint64_t i = 0; i < kCount; ++i) {
    ProfileBatch batch = fleet.profile(static_cast<uint32_t>(i % 4), 0, kFleetStartNs, i);
    const Dictionary& d = batch.dictionary;
    samples += static_cast<double>(batch.profiles[0].samples.size());
    locations += static_cast<double>(d.locations.size() - 1);
    functions += static_cast<double>(d.functions.size() - 1);
    depth += static_cast<double>(d.stacks.item_count()) / static_cast<double>(d.stacks.size() - 1);
    batch.profiles[0].resource = {};
    const std::string bytes = write_pprof(batch);
    raw += static_cast<double>(bytes.size());
    packed += static_cast<double>(gzip(bytes).size());
  }
  report("samples", samples / kCount);
  report("depth", depth / kCount);
  report("locations", locations / kCount);
  report("functions", functions / kCount);
  report("raw_bytes", raw / kCount);
  report("gzip_bytes", packed / kCount);
  return 0;
}

// DIRECTORY SECONDS THREADS: single profiles, each acknowledged when it is safe.
int acknowledge(const std::vector<std::string>& arguments) {
  const std::string& directory = arguments.at(0);
  const double seconds = std::stod(arguments.at(1));
  const int threads = std::stoi(arguments.at(2));
  const Fleet fleet({.services = 2});
  const auto engine = open(directory);
  constexpr uint64_t kDifferent = 64;
  std::vector<std::vector<ProfileBatch>> batches(static_cast<size_t>(threads));
  for (uint32_t pod = 0; pod < batches.size(); ++pod) {
    for (uint64_t i = 0; i < kDifferent; ++i)
      batches[pod].push_back(fleet.profile(pod % 2, pod, kFleetStartNs, i));
  }
  std::mutex mutex;
  std::vector<double> latencies_ms;
  const Stopwatch watch;
  {
    std::vector<std::jthread> writers;
    for (std::vector<ProfileBatch>& own : batches) {
      writers.emplace_back([&] {
        std::vector<double> mine;
        for (uint64_t i = 0; i < 2 * kDifferent || watch.seconds() < seconds; ++i) {
          ProfileBatch& batch = own[i % kDifferent];
          batch.profiles[0].time_ns = kFleetStartNs + static_cast<int64_t>(i) * 1'000'000'000;
          const Stopwatch one;
          value_or_exit(engine->write(kTenant, batch, {}));
          if (i >= kDifferent) mine.push_back(one.milliseconds());  // its stacks are known by then
        }
        const std::lock_guard lock(mutex);
        latencies_ms.insert(latencies_ms.end(), mine.begin(), mine.end());
      });
    }
  }
  report("p50_ms", quantile(latencies_ms, 0.5));
  report("p99_ms", quantile(latencies_ms, 0.99));
  report("profiles_per_s", static_cast<double>(latencies_ms.size()) / watch.seconds());
  return 0;
}

// DIRECTORY COUNT: gzip, pprof, store; durable, batches of ten as a busy server has them. Forty
// pods send a profile each 10 s, 14,400 an hour, and the store's clock goes with them, so that each
// hour is rolled up once, as on a server. What is not rolled up yet at the end is, within what is
// measured.
int from_pprof(const std::vector<std::string>& arguments) {
  const std::string& directory = arguments.at(0);
  const uint64_t count = std::stoull(arguments.at(1));
  const Fleet fleet({.services = 4});
  constexpr uint64_t kDifferent = 160;
  constexpr uint64_t kPods = 40;  // ten of each service
  std::vector<std::string> bodies;
  double bytes = 0;
  for (uint64_t i = 0; i < kDifferent; ++i) {
    bodies.push_back(fleet.gzip_pprof(static_cast<uint32_t>(i % 4), 0, kFleetStartNs, i));
    bytes += static_cast<double>(bodies.back().size());
  }
  std::atomic<int64_t> now_ns = kFleetStartNs;
  const auto engine = open(directory, true, [&] { return UnixNs(now_ns.load()); });
  uint64_t samples = 0;
  double decoding = 0;
  double cpu = 0;
  double wall = 0;
  for (uint64_t i = 0; i < count + kDifferent; ++i) {
    const double before = process_cpu_seconds();
    const double thread_before = thread_cpu_seconds();
    const Stopwatch watch;
    const std::string raw = value_or_exit(gunzip(bodies[i % kDifferent], 1U << 30));
    ProfileBatch batch = value_or_exit(read_pprof(raw));
    const double decoded = thread_cpu_seconds();
    batch.profiles[0].name = batch.dictionary.strings.add("process_cpu");
    Fleet::set_labels(batch, batch.profiles[0], fleet.service_name(static_cast<uint32_t>(i % 4)),
                      static_cast<uint32_t>(i / 4 % 10));
    batch.profiles[0].time_ns =
        kFleetStartNs + static_cast<int64_t>(i / kPods) * Fleet::kIntervalNs;
    now_ns = batch.profiles[0].time_ns;
    const WriteReceipt receipt = value_or_exit(
        engine->write(kTenant, batch, {.durable = i % 10 == 9, .now_ns = 0, .piece_of = {}}));
    if (i < kDifferent) continue;  // the first of each bring new stacks
    samples += receipt.samples;
    decoding += decoded - thread_before;
    cpu += process_cpu_seconds() - before;
    wall += watch.seconds();
  }
  const double cpu_before_rest = process_cpu_seconds();
  now_ns = kAfterAllNs;
  check(engine->maintain());
  check(engine->flush());
  cpu += process_cpu_seconds() - cpu_before_rest;
  double hashing = 0;
  for (const std::string& body : bodies) {
    const ProfileBatch batch = value_or_exit(read_pprof(value_or_exit(gunzip(body, 1U << 30))));
    const double before = thread_cpu_seconds();
    if (stack_hashes(batch.dictionary).empty()) return 1;
    hashing += thread_cpu_seconds() - before;
  }
  const auto n = static_cast<double>(count);
  report("hash_us", hashing / kDifferent * 1e6);
  report("gzip_bytes", bytes / kDifferent);
  report("samples", static_cast<double>(samples) / n);
  report("profiles_per_core_s", n / cpu);
  report("profiles_per_s", n / wall);
  report("decode_us", decoding / n * 1e6);
  report("store_us", (cpu - decoding) / n * 1e6);
  return 0;
}

// DIRECTORY SERVICES PODS FIRST_INTERVAL INTERVALS: fills the store, then does all due work.
int load(const std::vector<std::string>& arguments) {
  const std::string& directory = arguments.at(0);
  const auto services = static_cast<uint32_t>(std::stoul(arguments.at(1)));
  const auto pods = static_cast<uint32_t>(std::stoul(arguments.at(2)));
  const uint64_t first = std::stoull(arguments.at(3));
  const uint64_t end = first + std::stoull(arguments.at(4));
  constexpr uint64_t kAtOnce = 60;  // ten minutes
  const Fleet fleet({.services = services, .pods = pods});
  // With a batch in it: what makes the load is no part of the store.
  const uint64_t resident_before = [&] {
    const ProfileBatch batch = fleet.batch(0, kFleetStartNs, first, std::min(kAtOnce, end - first));
    return resident_bytes();
  }();
  const auto engine = open(directory, false);
  uint64_t samples = 0;
  uint64_t profiles = 0;
  uint64_t resident = 0;
  const double cpu_before = process_cpu_seconds();
  double generating = 0;
  const Stopwatch watch;
  for (uint64_t at = first; at < end; at += kAtOnce) {
    for (uint32_t service = 0; service < services; ++service) {
      const double before = thread_cpu_seconds();
      const ProfileBatch batch =
          fleet.batch(service, kFleetStartNs, at, std::min(kAtOnce, end - at));
      generating += thread_cpu_seconds() - before;
      const WriteReceipt receipt = value_or_exit(
          engine->write(kTenant, batch, {.durable = false, .now_ns = 0, .piece_of = {}}));
      samples += receipt.samples;
      profiles += receipt.profiles;
    }
    resident = std::max(resident, resident_bytes() - resident_before);
    // As the background thread would.
    if ((at - first) / kAtOnce % 36 == 35) {
      check(engine->flush());
      if (arguments.size() > 5) check(engine->maintain());
    }
  }
  check(engine->flush());
  report("profiles", static_cast<double>(profiles));
  report("samples", static_cast<double>(samples));
  report("write_cpu_s", process_cpu_seconds() - cpu_before - generating);
  report("write_wall_s", watch.seconds());
  report("plain_bytes", static_cast<double>(directory_bytes(directory)));
  check(engine->maintain());
  check(engine->flush());
  report("cpu_s", process_cpu_seconds() - cpu_before - generating);
  resident = std::max(resident, resident_bytes() - resident_before);
  report("resident_bytes", static_cast<double>(resident));
  const EngineStats stats = engine->stats();
  report("stacks", static_cast<double>(stats.stacks));
  report("series", static_cast<double>(stats.series));
  for (const auto& [name, value] : stats.details) report("detail_" + name, value);
  return 0;
}

// DIRECTORY QUERY SERVICES INTERVALS: opens the store and asks once, then again.
int query(const std::vector<std::string>& arguments) {
  const Stopwatch opening;
  const auto engine = open(arguments.at(0));
  report("open_ms", opening.milliseconds());
  const QueryScope scope{std::string(kTenant), kFleetStartNs,
                         kFleetStartNs + std::stoll(arguments.at(3)) * Fleet::kIntervalNs};
  double best = 0;
  double best_cpu = 0;
  for (int i = 0; i < 6; ++i) {
    const Stopwatch watch;
    const double cpu_before = thread_cpu_seconds();
    const double total = value_or_exit(run_query(*engine, arguments.at(1), scope));
    const double ms = watch.milliseconds();
    const double cpu_ms = (thread_cpu_seconds() - cpu_before) * 1e3;
    if (i == 0) {
      report("cold_ms", ms);
      report("total", total);
    }
    best = i == 1 ? ms : std::min(best, ms);
    best_cpu = i == 1 ? cpu_ms : std::min(best_cpu, cpu_ms);
  }
  report("warm_ms", best);
  report("warm_cpu_ms", best_cpu);
  report("resident_bytes", static_cast<double>(resident_bytes()));
  return 0;
}

// DIRECTORY SERIES: label values of as many series.
int labels(const std::vector<std::string>& arguments) {
  const uint64_t count = std::stoull(arguments.at(1));
  {
    const auto engine = open(arguments.at(0));
    constexpr uint64_t kAtOnce = 1000;
    for (uint64_t first = 0; first < count; first += kAtOnce) {
      ProfileBatch batch;
      Dictionary& d = batch.dictionary;
      const SampleType cpu{d.strings.add("cpu"), d.strings.add("nanoseconds"),
                           Temporality::kCumulative};
      const std::string service = fmt::format("service-{:03}", first / kAtOnce % 100);
      for (uint64_t i = first; i < first + kAtOnce; ++i) {
        Profile profile;
        profile.name = d.strings.add("process_cpu");
        profile.sample_types = {cpu};
        profile.period_type = cpu;
        profile.time_ns = kFleetStartNs;
        const int64_t value = 1;
        profile.add_sample(StackId(), {&value, 1});
        Fleet::set_labels(batch, profile, service, static_cast<uint32_t>(i));
        batch.profiles.push_back(std::move(profile));
      }
      value_or_exit(engine->write(kTenant, batch, {.durable = false, .now_ns = 0, .piece_of = {}}));
    }
    check(engine->flush());
  }
  const Stopwatch opening;
  const auto engine = open(arguments.at(0));
  report("open_ms", opening.milliseconds());
  report("series", static_cast<double>(engine->stats().series));
  const TimeRange day{kFleetStartNs, kFleetStartNs + int64_t{86'400} * 1'000'000'000};
  const auto measure = [&](const char* name, const char* label, std::string_view selector,
                           size_t limit) {
    const Selector parsed = value_or_exit(parse_selector(selector)).selector;
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) {
      const Stopwatch watch;
      value_or_exit(engine->label_values(kTenant, label, parsed, day, {}, limit));
      times.push_back(watch.milliseconds());
    }
    report(name, quantile(times, 0));
  };
  measure("services_ms", "service_name", "{}", 0);
  measure("zones_ms", "zone", R"({service_name="service-007"})", 0);
  measure("pods_of_service_ms", "pod", R"({service_name="service-007"})", 1000);
  measure("first_pods_ms", "pod", "{}", 1000);
  report("resident_bytes", static_cast<double>(resident_bytes()));
  return 0;
}

// DIRECTORY: writes until it is killed.
int hold(const std::vector<std::string>& arguments) {
  const Fleet fleet({.services = 1});
  const auto engine = open(arguments.at(0));
  for (uint64_t i = 0;; ++i) {
    value_or_exit(engine->write(
        kTenant, fleet.profile(0, static_cast<uint32_t>(i % 10), kAfterAllNs, i), {}));
    if (i == 20) report("ready", 1);
  }
}

}  // namespace

int run_phase(const std::string& name, const std::vector<std::string>& arguments) {
  static const std::map<std::string, int (*)(const std::vector<std::string>&)> kPhases = {
      {"shape", shape}, {"ack", acknowledge}, {"pprof", from_pprof}, {"load", load},
      {"query", query}, {"labels", labels},   {"hold", hold}};
  const auto found = kPhases.find(name);
  if (found == kPhases.end()) {
    fmt::print(stderr, "there is no phase '{}'\n", name);
    return 2;
  }
  return found->second(arguments);
}

}  // namespace vesta::bench
