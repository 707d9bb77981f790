// What it costs to take in a profile, from the bytes of a request to a written batch, by stage: the
// figures that a core's share of ingest follows from. CPU time, so that a busy machine does not
// change them much. Prints a markdown table. Target: 1 500 profiles per second and core, store
// included.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "formats/common/compression.h"
#include "formats/pprof/reader.h"
#include "formats/protobuf/wire.h"
#include "ingest/test_engine.h"
#include "server/ingest/test_server.h"
#include "synthetic_pprof.h"

namespace {

using namespace vesta;

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Runs for about a second; returns how often per second of CPU time.
template <class Run>
double per_second(Run&& run) {
  run(0);
  const double start = cpu_seconds();
  size_t count = 0;
  double took = 0;
  while (took < 1) {
    for (int i = 0; i < 20; ++i) run(++count);
    took = cpu_seconds() - start;
  }
  return static_cast<double>(count) / took;
}

std::string push_request(std::string_view profile, size_t number) {
  const auto label = [](std::string_view name, std::string_view value) {
    WireWriter out;
    out.bytes(1, name);
    out.bytes(2, value);
    return out;
  };
  WireWriter sample;
  sample.bytes(1, profile);
  WireWriter series;
  series.message(1, label("__name__", "process_cpu"));
  series.message(1, label("service_name", "checkout"));
  series.message(1, label("pod", fmt::format("checkout-{}", number % 10)));
  series.message(1, label("namespace", "shop"));
  series.message(2, sample);
  WireWriter request;
  request.message(1, series);
  return request.take();
}

void print(std::string_view stage, double rate) {
  fmt::print("| {} | {:.0f} | {:.0f} |\n", stage, rate, 1e6 / rate);
}

}  // namespace

int main() {
  SyntheticShape shape;
  shape.samples = 600;
  shape.locations = 3'000;
  shape.depth = 40;
  shape.label_every = 0;
  const std::string raw = make_synthetic_pprof(shape);
  const std::string packed = gzip(raw);
  fmt::print("{} stacks, {} bytes, {} with gzip\n\n", shape.samples, raw.size(), packed.size());
  fmt::print("| Stage | Profiles per core-second | µs each |\n|---|---|---|\n");
  ReadOptions options;
  print("unpack", per_second([&](size_t) { (void)gunzip(packed, 1 << 24); }));
  print("decode", per_second([&](size_t) { (void)read_pprof(raw, options); }));

  constexpr std::string_view kPush = "/push.v1.PusherService/Push";
  test::RecordingEngine nothing;
  nothing.keep = false;
  IngestOptions any_time;
  any_time.limits.max_age_ns = 0;
  server::test::IngestServer without_store(nothing, any_time);
  print("Push without a store", per_second([&](size_t number) {
          const auto answer = without_store.call(kPush, push_request(packed, number));
          if (answer.ok()) return;
          fmt::print(stderr, "{}\n", answer.error().message);
          std::exit(1);
        }));
  return 0;
}
