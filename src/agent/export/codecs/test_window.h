// A window as the agent makes it: one profile for each process, CPU time, resources in
// OpenTelemetry's words. Test code only.
#pragma once

#include <string>

#include "profile/dictionary_builder.h"
#include "profile/profile.h"

namespace vesta::agent::test {

inline constexpr int64_t kWindowTime = 1'800'000'000'000'000'000;
inline constexpr int64_t kPeriod = 10'101'010;

// Process i is called "service-i" and has 1 + i samples in work() under main(), of which the kernel
// runs the leaf, and one in a function with a name that is no UTF-8.
inline ProfileBatch window_of(size_t processes, int64_t time_ns = kWindowTime) {
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  Mapping program;
  program.start = 0x400000;
  program.limit = 0x500000;
  program.file = builder.string("/usr/bin/checkout");
  program.build_id = builder.string("a1b2c3d4e5f6a7b8c9d0a1b2c3d4e5f6a7b8c9d0");
  const MappingId mapping = builder.mapping(program);
  const auto native = [&](uint64_t address, std::string_view name) {
    const Line line{builder.function(name, "src/checkout.cc", 10), 0, 12};
    return builder.location({address, mapping, FrameKind::kNative, false}, std::span(&line, 1));
  };
  const LocationId main = native(0x401000, "main");
  const LocationId work = native(0x401100, "work<int>(char const*)");
  const LocationId odd = native(0x401200, "odd\xFFname");
  const LocationId kernel = builder.frame("do_syscall_64", "", 0, FrameKind::kKernel);
  const LocationId deep[] = {kernel, work, main};
  const LocationId flat[] = {odd, main};
  for (size_t i = 0; i < processes; ++i) {
    Profile profile;
    const Label labels[] = {builder.text_label("service.name", "service-" + std::to_string(i)),
                            builder.text_label("host.name", "node-1"),
                            builder.number_label("process.pid", static_cast<int64_t>(1000 + i)),
                            builder.text_label("k8s.pod.name", "pod-a,b}")};
    profile.resource = builder.label_set(labels);
    profile.name = builder.string("process_cpu");
    profile.sample_types = {{builder.string("samples"), builder.string("count")},
                            {builder.string("cpu"), builder.string("nanoseconds")}};
    profile.default_type = 1;
    profile.period_type = profile.sample_types[1];
    profile.period = kPeriod;
    profile.time_ns = time_ns;
    profile.duration_ns = 10'000'000'000;
    const Label thread[] = {builder.text_label("thread", "worker"),
                            builder.number_label("tid", 77)};
    const auto count = static_cast<int64_t>(i + 1);
    const int64_t values[] = {count, count * kPeriod};
    const int64_t one[] = {1, kPeriod};
    profile.add_sample(builder.stack(deep), values, builder.label_set(thread));
    profile.add_sample(builder.stack(flat), one);
    profile.add_loss(builder.string("ring full"), 2);
    batch.profiles.push_back(std::move(profile));
  }
  return batch;
}

}  // namespace vesta::agent::test
