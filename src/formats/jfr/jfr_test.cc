#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "formats/jfr/test_batch.h"

namespace vesta::jfr {
namespace {

using testing::HasSubstr;

TEST(Jfr, KnowsItsMagic) {
  EXPECT_TRUE(looks_like_jfr(small_chunk().finish()));
  EXPECT_FALSE(looks_like_jfr(""));
  EXPECT_FALSE(looks_like_jfr("FLR"));
  EXPECT_FALSE(looks_like_jfr("FLRX and more"));
}

TEST(Jfr, ReadsExecutionSamplesAsCpuTime) {
  for (const bool compressed : {true, false}) {
    const ProfileBatch batch = read_ok(small_chunk(compressed).finish());
    ASSERT_EQ(batch.profiles.size(), 1u);
    const Profile& cpu = batch.profiles[0];
    const Dictionary& d = batch.dictionary;
    EXPECT_EQ(d.string(cpu.name), "process_cpu");
    EXPECT_EQ(d.string(cpu.sample_types[0].type), "cpu");
    EXPECT_EQ(d.string(cpu.sample_types[0].unit), "nanoseconds");
    EXPECT_EQ(d.string(cpu.period_type.type), "cpu");
    EXPECT_EQ(cpu.period, 20'000'000);
    EXPECT_EQ(total(batch, "cpu"), 60'000'000);
    EXPECT_EQ(total(batch, "samples"), 3);
    EXPECT_EQ(cpu.time_ns, 1'700'000'000'000'000'000);
    EXPECT_EQ(cpu.duration_ns, 10'000'000'000);
    ASSERT_EQ(cpu.samples.size(), 2u);
    EXPECT_EQ(folded(batch, cpu, 0), "com.example.Main.main;com.example.Main.work");
    EXPECT_EQ(cpu.value(0, 0), 40'000'000);
    EXPECT_EQ(label(batch, cpu.samples.label_set(0), "thread"), "worker-1");
    const LocationId leaf = d.stacks[cpu.samples.stacks[0]][0];
    EXPECT_EQ(d.location(leaf).kind, FrameKind::kJvm);
    EXPECT_EQ(d.lines[leaf][0].line, 42);
    EXPECT_EQ(d.string(d.function(d.lines[leaf][0].function).system_name),
              "com/example/Main.work(I)J");
  }
}

TEST(Jfr, KeepsTimesOnlyWhenAsked) {
  ChunkOptions options;
  options.start_ticks = 1000;
  options.ticks_per_second = 1'000'000;  // a tick is a microsecond
  const std::string bytes = small_chunk().finish(options);
  EXPECT_TRUE(read_ok(bytes).profiles[0].samples.times_ns.empty());
  ReadOptions keep;
  keep.keep_timestamps = true;
  const ProfileBatch batch = read_ok(bytes, keep);
  ASSERT_EQ(batch.profiles[0].samples.size(), 3u);
  EXPECT_EQ(batch.profiles[0].samples.time_ns(1), options.start_ns + 2'000'000);
}

TEST(Jfr, AddsUpChunks) {
  ChunkOptions later;
  later.start_ns += 10'000'000'000;
  later.duration_ns = 5'000'000'000;
  const std::string bytes = small_chunk(true).finish() + small_chunk(false).finish(later);
  const ProfileBatch batch = read_ok(bytes);
  ASSERT_EQ(batch.profiles.size(), 1u);
  EXPECT_EQ(batch.profiles[0].samples.size(), 2u);
  EXPECT_EQ(total(batch, "samples"), 6);
  EXPECT_EQ(batch.profiles[0].duration_ns, 15'000'000'000);
  EXPECT_EQ(batch.profiles[0].time_ns, ChunkOptions().start_ns);
}

TEST(Jfr, CountsOverlappingChunksOnce) {
  const ProfileBatch batch = read_ok(small_chunk().finish() + small_chunk().finish());
  EXPECT_EQ(batch.profiles[0].duration_ns, 10'000'000'000);
}

TEST(Jfr, FollowsTheChainOfCheckpoints) {
  ChunkOptions options;
  options.checkpoint_count = 5;
  const ProfileBatch batch = read_ok(small_chunk().finish(options));
  EXPECT_EQ(folded(batch, batch.profiles[0], 0), "com.example.Main.main;com.example.Main.work");
}

TEST(Jfr, RefusesCheckpointsInACircle) {
  for (const bool compressed : {true, false}) {
    ChunkOptions options;
    options.checkpoint_count = 2;
    options.checkpoints_in_a_circle = true;
    EXPECT_THAT(error_of(small_chunk(compressed).finish(options)), HasSubstr("is circular"));
  }
}

TEST(Jfr, ReadsEveryStringEncoding) {
  for (const bool compressed : {true, false}) {
    TestChunk chunk(compressed);
    const auto add_thread = [&](int64_t id, const std::string& java_name) {
      chunk.constant("java.lang.Thread", id,
                     chunk.encoder().utf8("os").long_(1).append(java_name).long_(1).take());
      chunk.execution_sample(2000, id, 0, 0);
    };
    const int64_t pooled = chunk.string("pooled");
    add_thread(901, chunk.encoder().null_text().take());
    add_thread(902, chunk.encoder().empty_text().take());
    add_thread(903, chunk.encoder().constant_text(pooled).take());
    add_thread(904, chunk.encoder().utf8("gr\xc3\xbc\xc3\x9f").take());
    add_thread(905, chunk.encoder().latin1("gr\xfc\xdf").take());
    add_thread(906, chunk.encoder().chars(u"\u20ac\U0001f600").take());
    add_thread(907, chunk.encoder().chars(std::u16string{0xd83d, u'x'}).take());
    add_thread(908, chunk.encoder().utf8("\xff").take());
    add_thread(909, chunk.encoder().constant_text(123456).take());
    const ProfileBatch batch = read_ok(chunk.finish());
    std::map<std::string, int> threads;
    const Profile& cpu = batch.profiles[0];
    for (size_t row = 0; row < cpu.samples.size(); ++row) {
      threads[label(batch, cpu.samples.label_set(row), "thread")] =
          static_cast<int>(cpu.value(row, 1));
    }
    const std::map<std::string, int> expected{{"os", 3}, {"pooled", 1},        {"grüß", 2},
                                              {"€😀", 1}, {"\xef\xbf\xbdx", 1}, {"\xef\xbf\xbd", 1}};
    EXPECT_EQ(threads, expected);
    EXPECT_EQ(loss(batch, kLossInvalidUtf8), 2u);
  }
}

TEST(Jfr, ReadsIntegersOfNineBytes) {
  EventChunk e;
  e.define("jdk.ObjectAllocationSample",
           {{"objectClass", "java.lang.Class", true}, {"weight", "long"}});
  const int64_t huge = INT64_MAX - 5;
  e.chunk.event("jdk.ObjectAllocationSample", e.event(2000, 0).long_(0).long_(huge).take());
  EXPECT_EQ(total(read_ok(e.chunk.finish()), "alloc_sample_bytes"), huge);
}

TEST(Jfr, SaturatesInsteadOfOverflowing) {
  EventChunk e;
  e.define("jdk.ObjectAllocationSample", {{"weight", "long"}});
  for (int i = 0; i < 2; ++i)
    e.chunk.event("jdk.ObjectAllocationSample", e.event(2000, 0).long_(INT64_MAX).take());
  EXPECT_EQ(total(read_ok(e.chunk.finish()), "alloc_sample_bytes"), INT64_MAX);
}

TEST(Jfr, ReadsAllocations) {
  for (const bool compressed : {true, false}) {
    EventChunk e(compressed);
    const int64_t array = e.chunk.class_("[Ljava/lang/String;");
    e.define("jdk.ObjectAllocationInNewTLAB", {{"objectClass", "java.lang.Class", true},
                                               {"allocationSize", "long"},
                                               {"tlabSize", "long"}});
    e.define("jdk.ObjectAllocationOutsideTLAB",
             {{"objectClass", "java.lang.Class", true}, {"allocationSize", "long"}});
    e.define("jdk.ObjectAllocationSample",
             {{"objectClass", "java.lang.Class", true}, {"weight", "long"}});
    e.define("profiler.LiveObject",
             {{"objectClass", "java.lang.Class", true}, {"allocationSize", "long"}});
    e.define("jdk.OldObjectSample", {{"objectSize", "long"}});
    e.chunk.event("jdk.ObjectAllocationInNewTLAB",
                  e.event(1, 0).long_(array).long_(24).long_(4096).take());
    e.chunk.event("jdk.ObjectAllocationOutsideTLAB", e.event(1, 0).long_(array).long_(70).take());
    e.chunk.event("jdk.ObjectAllocationSample", e.event(1, 0).long_(array).long_(500).take());
    e.chunk.event("profiler.LiveObject", e.event(1, 0).long_(array).long_(33).take());
    e.chunk.event("jdk.OldObjectSample", e.event(1, 0).long_(77).take());
    const ProfileBatch batch = read_ok(e.chunk.finish());
    EXPECT_EQ(total(batch, "alloc_in_new_tlab_objects"), 1);
    EXPECT_EQ(total(batch, "alloc_in_new_tlab_bytes"), 4096);
    EXPECT_EQ(total(batch, "alloc_outside_tlab_bytes"), 70);
    EXPECT_EQ(total(batch, "alloc_sample_bytes"), 500);
    EXPECT_EQ(total(batch, "live"), 1);
    EXPECT_EQ(total(batch, "live_objects"), 1);
    const Profile& live = *find_profile(batch, "live");
    EXPECT_EQ(live.sample_types[0].temporality, Temporality::kInstant);
    EXPECT_EQ(live.value(0, 1), 33);
    EXPECT_EQ(label(batch, live.samples.label_set(0), "class"), "java.lang.String[]");
    EXPECT_EQ(batch.dictionary.string(find_profile(batch, "alloc_sample_bytes")->name), "memory");
  }
}

TEST(Jfr, ReadsLocksWaitsAndInput) {
  EventChunk e;
  const int64_t monitor = e.chunk.class_("com/example/Cache");
  for (const char* event : {"jdk.JavaMonitorEnter", "jdk.JavaMonitorWait"})
    e.define(event, {{"monitorClass", "java.lang.Class", true}});
  e.define("jdk.ThreadPark", {{"parkedClass", "java.lang.Class", true}});
  e.define("jdk.ThreadSleep");
  e.define("profiler.NativeLock", {{"address", "long"}});
  e.define("jdk.SocketRead", {{"host", "java.lang.String"}, {"bytesRead", "long"}});
  e.define("jdk.FileWrite", {{"path", "java.lang.String"}, {"bytesWritten", "long"}});
  e.chunk.event("jdk.JavaMonitorEnter", e.event(1, 10).long_(monitor).take());
  e.chunk.event("jdk.JavaMonitorEnter", e.event(2, 20).long_(monitor).take());
  e.chunk.event("profiler.NativeLock", e.event(1, 5).long_(0x7000).take());
  e.chunk.event("jdk.JavaMonitorWait", e.event(1, 100).long_(monitor).take());
  e.chunk.event("jdk.ThreadPark", e.event(1, 200).long_(monitor).take());
  e.chunk.event("jdk.ThreadSleep", e.event(1, 400).take());
  e.chunk.event("jdk.SocketRead", e.event(1, 1000).utf8("example.com").long_(11).take());
  e.chunk.event("jdk.FileWrite", e.event(1, 2000).utf8("/tmp/x").long_(22).take());
  ChunkOptions options;
  options.ticks_per_second = 500'000'000;  // a tick is two nanoseconds
  const ProfileBatch batch = read_ok(e.chunk.finish(options));
  ASSERT_EQ(batch.profiles.size(), 6u);
  const Profile& mutex = batch.profiles[0];
  EXPECT_EQ(label(batch, mutex.samples.label_set(0), "class"), "com.example.Cache");
  // mutex and block are what Pyroscope counts as such; other waits have families of their own.
  const auto is = [&](size_t i, std::string_view name, int64_t count, int64_t delay) {
    const Profile& profile = batch.profiles[i];
    EXPECT_EQ(batch.dictionary.string(profile.name), name);
    EXPECT_EQ(total_of(profile, 0), count) << name;
    EXPECT_EQ(total_of(profile, 1), delay) << name;
  };
  is(0, "mutex", 2, 60);
  is(1, "block", 1, 400);
  is(2, "native_lock", 1, 10);
  is(3, "monitor_wait", 1, 200);
  is(4, "thread_sleep", 1, 800);
  const Profile& io = batch.profiles[5];
  EXPECT_EQ(total_of(io, 0), 2);
  EXPECT_EQ(total_of(io, 1), 6000);
  EXPECT_EQ(total_of(io, 2), 33);
}

TEST(Jfr, ReadsNativeSamplesApartFromCpuTime) {
  TestChunk chunk = small_chunk();
  chunk.type("jdk.NativeMethodSample", {{"startTime", "long"},
                                        {"sampledThread", "java.lang.Thread", true},
                                        {"stackTrace", "jdk.types.StackTrace", true},
                                        {"state", "jdk.types.ThreadState", true}});
  chunk.event("jdk.NativeMethodSample", chunk.encoder().long_(5).long_(0).long_(0).long_(0).take());
  chunk.setting("jdk.NativeMethodSample", "period", "1 s");
  const ProfileBatch batch = read_ok(chunk.finish());
  EXPECT_EQ(total(batch, "cpu"), 60'000'000);
  EXPECT_EQ(total(batch, "native"), 1'000'000'000);
}

// The fields of ddprof's events, as its metadata has them.
std::vector<TestField> datadog_fields(std::vector<TestField> own) {
  std::vector<TestField> fields{{"startTime", "long"},
                                {"eventThread", "java.lang.Thread", true},
                                {"stackTrace", "jdk.types.StackTrace", true}};
  fields.insert(fields.end(), own.begin(), own.end());
  fields.push_back({"spanId", "long"});
  fields.push_back({"localRootSpanId", "long"});
  return fields;
}

Encoder& float_(Encoder& encoder, float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  for (int shift = 24; shift >= 0; shift -= 8)
    encoder.raw_byte(static_cast<int>(bits >> shift & 0xff));
  return encoder;
}

TEST(Jfr, ReadsSamplesOfDatadogsProfiler) {
  for (const bool compressed : {true, false}) {
    TestChunk chunk(compressed);
    const int64_t thread = chunk.thread("worker-1");
    const int64_t runnable = chunk.state("RUNNABLE");
    const int64_t stack = chunk.stack({{chunk.method("com/example/Main", "work"), 42}});
    chunk.type("datadog.DatadogProfilerConfig",
               {{"startTime", "long"},
                {"cpuInterval", "long", false, false, "MILLISECONDS"},
                {"wallInterval", "long", false, false, "MILLISECONDS"}});
    chunk.event("datadog.DatadogProfilerConfig",
                chunk.encoder().long_(1).long_(9).long_(15).take());
    for (const auto* event : {"datadog.ExecutionSample", "datadog.MethodSample"}) {
      chunk.type(event,
                 datadog_fields({{"state", "jdk.types.ThreadState", true}, {"weight", "long"}}));
      chunk.event(event, chunk.encoder()
                             .long_(5)
                             .long_(thread)
                             .long_(stack)
                             .long_(runnable)
                             .long_(4)
                             .long_(0x1234)
                             .long_(0x99)
                             .take());
    }
    const ProfileBatch batch = read_ok(chunk.finish());
    EXPECT_EQ(total(batch, "cpu"), 4 * 9'000'000);
    EXPECT_EQ(total(batch, "samples"), 4);
    EXPECT_EQ(total(batch, "wall"), 4 * 15'000'000);
    const Profile* cpu = find_profile(batch, "cpu");
    ASSERT_NE(cpu, nullptr);
    EXPECT_EQ(batch.dictionary.string(cpu->name), "process_cpu");
    EXPECT_EQ(cpu->period, 9'000'000);
    EXPECT_EQ(folded(batch, *cpu, 0), "com.example.Main.work");
    EXPECT_EQ(label(batch, cpu->samples.label_set(0), "profile_id"), "0000000000001234");
    EXPECT_EQ(label(batch, cpu->samples.label_set(0), "local_root_span_id"), "0000000000000099");
    const Profile* wall = find_profile(batch, "wall");
    ASSERT_NE(wall, nullptr);
    EXPECT_EQ(label(batch, wall->samples.label_set(0), "state"), "RUNNABLE");
  }
}

TEST(Jfr, ReadsObjectsOfDatadogsProfiler) {
  for (const bool compressed : {true, false}) {
    TestChunk chunk(compressed);
    const int64_t stack = chunk.stack({{chunk.method("com/example/Main", "work"), 42}});
    const int64_t object = chunk.class_("com/example/Thing");
    const std::vector<TestField> own{
        {"objectClass", "java.lang.Class", true}, {"size", "long"}, {"weight", "float"}};
    for (const auto* event : {"datadog.ObjectSample", "datadog.HeapLiveObject"}) {
      chunk.type(event, datadog_fields(own));
      for (const float weight : {2.5f, 0.0f}) {
        Encoder fields = chunk.encoder();
        fields.long_(5).long_(0).long_(stack).long_(object).long_(100);
        chunk.event(event, float_(fields, weight).long_(0).long_(0).take());
      }
    }
    const ProfileBatch batch = read_ok(chunk.finish());
    EXPECT_EQ(total(batch, "alloc_sample_bytes"), 250 + 100);
    EXPECT_EQ(total(batch, "alloc_sample_objects"), 3 + 1);
    EXPECT_EQ(total(batch, "live_bytes"), 250 + 100);
    EXPECT_EQ(loss(batch, "events datadog.ObjectSample (not read)"), 0u);
  }
}

TEST(Jfr, CountsEventsWithStacksThatItDoesNotRead) {
  EventChunk events;
  events.define("jdk.ExecutionSample");
  events.define("jdk.JavaExceptionThrow", {{"message", "java.lang.String"}});
  events.chunk.type("jdk.CPULoad", {{"startTime", "long"}, {"machineTotal", "float"}});
  events.chunk.event("jdk.ExecutionSample", events.event(5, 0).take());
  for (int i = 0; i < 3; ++i)
    events.chunk.event("jdk.JavaExceptionThrow", events.event(5, 0).empty_text().take());
  // Recorded without its stack.
  events.chunk.event(
      "jdk.JavaExceptionThrow",
      events.chunk.encoder().long_(5).long_(0).long_(0).long_(0).empty_text().take());
  Encoder load = events.chunk.encoder();
  load.long_(5);
  events.chunk.event("jdk.CPULoad", float_(load, 0.5f).take());
  const ProfileBatch batch = read_ok(events.chunk.finish());
  EXPECT_EQ(total(batch, "samples"), 1);
  EXPECT_EQ(loss(batch, "events jdk.JavaExceptionThrow (not read)"), 3u);
  EXPECT_EQ(loss(batch, "events jdk.CPULoad (not read)"), 0u);
}

TEST(Jfr, TrustsCpuTimeSamplesMoreThanExecutionSamples) {
  TestChunk chunk = small_chunk();
  chunk.type("jdk.CPUTimeSample", {{"startTime", "long"},
                                   {"stackTrace", "jdk.types.StackTrace", true},
                                   {"eventThread", "java.lang.Thread", true},
                                   {"failed", "boolean"},
                                   {"samplingPeriod", "long", false, false, "NANOSECONDS"},
                                   {"biased", "boolean"}});
  chunk.type(
      "jdk.CPUTimeSamplesLost",
      {{"startTime", "long"}, {"lostSamples", "int"}, {"eventThread", "java.lang.Thread", true}});
  for (int i = 0; i < 2; ++i) {
    chunk.event("jdk.CPUTimeSample", chunk.encoder()
                                         .long_(5)
                                         .long_(0)
                                         .long_(0)
                                         .boolean(i == 1)
                                         .long_(7'000'000)
                                         .boolean(false)
                                         .take());
  }
  chunk.event("jdk.CPUTimeSamplesLost", chunk.encoder().long_(5).int_(9).long_(0).take());
  const ProfileBatch batch = read_ok(chunk.finish());
  EXPECT_EQ(total(batch, "cpu"), 14'000'000);
  EXPECT_EQ(total(batch, "time"), 60'000'000);
  EXPECT_EQ(loss(batch, "samples lost by the recorder"), 9u);
}

TEST(Jfr, ReadsWallClockSamplesOfAsyncProfiler) {
  TestChunk chunk;
  const int64_t thread = chunk.thread("", "native-thread");
  const int64_t runnable = chunk.state("STATE_RUNNABLE");
  const int64_t sleeping = chunk.state("STATE_SLEEPING");
  chunk.type("profiler.WallClockSample", {{"startTime", "long"},
                                          {"sampledThread", "java.lang.Thread", true},
                                          {"stackTrace", "jdk.types.StackTrace", true},
                                          {"state", "jdk.types.ThreadState", true},
                                          {"samples", "int"}});
  const auto wall_sample = [&](int64_t state, int count) {
    chunk.event("profiler.WallClockSample",
                chunk.encoder().long_(5).long_(thread).long_(0).long_(state).int_(count).take());
  };
  wall_sample(sleeping, 40);
  wall_sample(runnable, 2);
  chunk.execution_sample(5, thread, 0, sleeping);
  chunk.execution_sample(5, thread, 0, runnable);
  // Written last, and still in force for all of the chunk.
  chunk.setting("jdk.ActiveRecording", "event", "wall");
  chunk.setting("jdk.ExecutionSample", "interval", "10000000");
  const ProfileBatch batch = read_ok(chunk.finish());
  EXPECT_EQ(total(batch, "wall"), 440'000'000);
  EXPECT_EQ(total(batch, "cpu"), 30'000'000);
  const Profile& wall = *find_profile(batch, "wall");
  EXPECT_EQ(label(batch, wall.samples.label_set(0), "state"), "STATE_SLEEPING");
  EXPECT_EQ(label(batch, wall.samples.label_set(0), "thread"), "native-thread");
  EXPECT_EQ(label(batch, find_profile(batch, "cpu")->samples.label_set(0), "state"), "");
}

TEST(Jfr, UsesTheDefaultsOfEachRecorder) {
  const auto period = [](auto&& configure) {
    TestChunk chunk;
    configure(chunk);
    chunk.execution_sample(5, 0, 0, 0);
    return read_ok(chunk.finish()).profiles[0].period;
  };
  EXPECT_EQ(period([](TestChunk&) {}), 20'000'000);
  EXPECT_EQ(period([](TestChunk& c) { c.type("profiler.Log", {}); }), 10'000'000);
  EXPECT_EQ(period([](TestChunk& c) { c.setting("jdk.ActiveRecording", "event", "cpu"); }),
            10'000'000);
  EXPECT_EQ(period([](TestChunk& c) { c.setting("jdk.ActiveRecording", "event", "wall"); }),
            50'000'000);
  EXPECT_EQ(period([](TestChunk& c) { c.setting("jdk.ExecutionSample", "period", "everyChunk"); }),
            20'000'000);
}

TEST(Jfr, CountsHardwareEventsAsWhatTheyAre) {
  TestChunk chunk;
  chunk.setting("jdk.ActiveRecording", "event", "cache-misses");
  chunk.setting("jdk.ExecutionSample", "interval", "1000");
  chunk.execution_sample(5, 0, 0, 0);
  chunk.execution_sample(6, 0, 0, 0);
  const ProfileBatch batch = read_ok(chunk.finish());
  ASSERT_EQ(batch.profiles.size(), 1u);
  EXPECT_EQ(batch.dictionary.string(batch.profiles[0].name), "perf_event");
  EXPECT_EQ(total(batch, "cache-misses"), 2000);
}

TEST(Jfr, FindsNativeMemoryThatNobodyFreed) {
  EventChunk e;
  e.define("profiler.Malloc", {{"address", "long"}, {"size", "long"}});
  e.define("profiler.Free", {{"address", "long"}});
  const auto malloc_at = [&](int64_t ticks, int64_t address, int64_t size) {
    e.chunk.event("profiler.Malloc", e.event(ticks, 0).long_(address).long_(size).take());
  };
  // The free is written before the allocation that it ends, and the address is used again.
  e.chunk.event("profiler.Free", e.event(3000, 0).long_(0x10).take());
  malloc_at(2000, 0x10, 100);
  malloc_at(2500, 0x20, 7);
  malloc_at(4000, 0x10, 30);
  e.chunk.event("profiler.Free", e.event(2600, 0).long_(0x20).take());
  const ProfileBatch batch = read_ok(e.chunk.finish());
  EXPECT_EQ(total(batch, "malloc_objects"), 3);
  EXPECT_EQ(total(batch, "malloc_bytes"), 137);
  EXPECT_EQ(total(batch, "inuse_space"), 30);
  EXPECT_EQ(find_profile(batch, "inuse_space")->sample_types[1].temporality, Temporality::kInstant);
}

TEST(Jfr, ReportsNoLeaksWhenFreesWereNotRecorded) {
  EventChunk e;
  e.define("profiler.Malloc", {{"address", "long"}, {"size", "long"}});
  e.chunk.event("profiler.Malloc", e.event(1, 0).long_(0x10).long_(100).take());
  const ProfileBatch batch = read_ok(e.chunk.finish());
  EXPECT_EQ(total(batch, "malloc_bytes"), 100);
  EXPECT_EQ(find_profile(batch, "inuse_space"), nullptr);
}

TEST(Jfr, NestsPhasesOfGarbageCollections) {
  TestChunk chunk;
  chunk.type("jdk.types.GCName", {{"name", "java.lang.String"}});
  chunk.type("jdk.types.GCCause", {{"cause", "java.lang.String"}});
  chunk.constant("jdk.types.GCName", 1, chunk.encoder().utf8("G1New").take());
  chunk.constant("jdk.types.GCCause", 1, chunk.encoder().utf8("System.gc()").take());
  chunk.type("jdk.GarbageCollection", {{"startTime", "long"},
                                       {"duration", "long", false, false, "TICKS"},
                                       {"gcId", "int"},
                                       {"name", "jdk.types.GCName", true},
                                       {"cause", "jdk.types.GCCause", true},
                                       {"sumOfPauses", "long", false, false, "TICKS"}});
  const std::vector<TestField> phase_fields{{"startTime", "long"},
                                            {"duration", "long", false, false, "TICKS"},
                                            {"gcId", "int"},
                                            {"name", "java.lang.String"}};
  for (const char* event : {"jdk.GCPhasePause", "jdk.GCPhasePauseLevel1", "jdk.GCPhasePauseLevel2"})
    chunk.type(event, phase_fields);
  const auto phase = [&](const char* event, int64_t start, int64_t duration, const char* name) {
    chunk.event(event, chunk.encoder().long_(start).long_(duration).int_(7).utf8(name).take());
  };
  phase("jdk.GCPhasePauseLevel2", 2000, 10, "Scan");
  phase("jdk.GCPhasePauseLevel1", 2000, 60, "Mark");
  phase("jdk.GCPhasePauseLevel1", 2060, 30, "Sweep");
  phase("jdk.GCPhasePause", 2000, 100, "GC Pause");
  chunk.event("jdk.GarbageCollection",
              chunk.encoder().long_(2000).long_(150).int_(7).long_(1).long_(1).long_(100).take());
  const ProfileBatch batch = read_ok(chunk.finish());
  EXPECT_EQ(total(batch, "collections"), 1);
  const Profile& gc = *find_profile(batch, "collections");
  EXPECT_EQ(gc.value(0, 1), 150);
  EXPECT_EQ(gc.value(0, 2), 100);
  EXPECT_EQ(folded(batch, gc, 0), "G1New (System.gc())");
  const Profile& pauses = batch.profiles[1];
  EXPECT_EQ(batch.dictionary.string(pauses.name), "gc_pause");
  EXPECT_EQ(total_of(pauses, 0), 1);
  EXPECT_EQ(total_of(pauses, 1), 100);
  std::map<std::string, int64_t> self;
  for (size_t row = 0; row < pauses.samples.size(); ++row)
    self[folded(batch, pauses, row)] = pauses.value(row, 1);
  const std::map<std::string, int64_t> expected{{"G1New (System.gc());GC Pause", 10},
                                                {"G1New (System.gc());GC Pause;Mark", 50},
                                                {"G1New (System.gc());GC Pause;Mark;Scan", 10},
                                                {"G1New (System.gc());GC Pause;Sweep", 30}};
  EXPECT_EQ(self, expected);
}

TEST(Jfr, TellsNativeFramesFromNativeJavaMethods) {
  TestChunk chunk;
  constexpr int64_t kNative = 4;
  constexpr int64_t kCpp = 5;
  constexpr int64_t kKernel = 6;
  const int64_t stack = chunk.stack(
      {{chunk.method("", "do_futex", "(Lk;)L;"), 0, kKernel},
       {chunk.method("libjvm.so", "Parker::park", "()L;"), 0, kCpp},
       {chunk.method("libzstd-jni-1.5.1-16931311898282279136.so", "ZSTD_x", "()L;"), 0, kNative},
       {chunk.method("jdk/internal/misc/Unsafe", "park", "(ZJ)V"), -1, kNative}});
  chunk.execution_sample(5, 0, stack, 0);
  const ProfileBatch batch = read_ok(chunk.finish());
  const Dictionary& d = batch.dictionary;
  const auto frames = d.stacks[batch.profiles[0].samples.stacks[0]];
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(folded(batch, batch.profiles[0], 0),
            "jdk.internal.misc.Unsafe.park;ZSTD_x;Parker::park;do_futex");
  EXPECT_EQ(d.location(frames[0]).kind, FrameKind::kKernel);
  EXPECT_EQ(d.location(frames[1]).kind, FrameKind::kNative);
  EXPECT_EQ(d.string(d.mapping(d.location(frames[1]).mapping).file), "libjvm.so");
  EXPECT_EQ(d.string(d.mapping(d.location(frames[2]).mapping).file), "libzstd-jni-1.5.1.so");
  EXPECT_EQ(d.location(frames[3]).kind, FrameKind::kJvm);
  EXPECT_EQ(d.lines[frames[3]][0].line, 0);
}

TEST(Jfr, KeepsTotalsOfSamplesWithoutStack) {
  TestChunk chunk;
  chunk.execution_sample(5, 0, 0, 0);
  chunk.execution_sample(5, 0, 4711, 0);
  const ProfileBatch batch = read_ok(chunk.finish());
  EXPECT_EQ(total(batch, "samples"), 2);
  EXPECT_EQ(loss(batch, "stack missing from the recording"), 1u);
}

TEST(Jfr, CountsTruncatedStacks) {
  TestChunk chunk;
  const int64_t method = chunk.method("A", "a");
  const int64_t marked = chunk.stack({{method, 1}}, true);
  const int64_t deep = chunk.stack({{method, 1}, {method, 2}, {method, 3}});
  for (int i = 0; i < 3; ++i) chunk.execution_sample(5, 0, marked, 0);
  chunk.execution_sample(5, 0, deep, 0);
  const std::string bytes = chunk.finish();
  EXPECT_EQ(loss(read_ok(bytes), kLossStackTruncated), 3u);
  ReadOptions shallow;
  shallow.max_stack_depth = 2;
  const ProfileBatch batch = read_ok(bytes, shallow);
  EXPECT_EQ(loss(batch, kLossStackTruncated), 4u);
  EXPECT_EQ(batch.dictionary.stacks[batch.profiles[0].samples.stacks[1]].size(), 2u);
}

TEST(Jfr, CutsLongNames) {
  TestChunk chunk;
  const int64_t stack = chunk.stack({{chunk.method(std::string(500, 'a'), "run"), 1}});
  chunk.execution_sample(5, 0, stack, 0);
  ReadOptions options;
  options.max_string_bytes = 100;
  const ProfileBatch batch = read_ok(chunk.finish(), options);
  EXPECT_EQ(folded(batch, batch.profiles[0], 0).size(), 100u);
  EXPECT_GE(loss(batch, kLossNameTruncated), 1u);
}

TEST(Jfr, ReadsSpansAndContexts) {
  EventChunk e;
  e.define("jdk.ObjectAllocationSample",
           {{"weight", "long"}, {"spanId", "long"}, {"spanName", "long"}, {"contextId", "long"}});
  e.define("jdk.JavaMonitorEnter",
           {{"spanName", "java.lang.String"}, {"traceId", "java.lang.String"}, {"spanId", "long"}});
  e.chunk.event("jdk.ObjectAllocationSample",
                e.event(1, 0).long_(8).long_(0xabc).long_(5).long_(6).take());
  e.chunk.event("jdk.JavaMonitorEnter", e.event(1, 0)
                                            .utf8("GET /")
                                            .utf8("000102030405060708090a0b0c0d0e0f")
                                            .long_(0x1122334455667788)
                                            .take());
  const ProfileBatch batch = read_ok(e.chunk.finish());
  const Profile& alloc = *find_profile(batch, "alloc_sample_bytes");
  EXPECT_EQ(label(batch, alloc.samples.label_set(0), "profile_id"), "0000000000000abc");
  EXPECT_EQ(label(batch, alloc.samples.label_set(0), "span_name_id"), "5");
  EXPECT_EQ(label(batch, alloc.samples.label_set(0), "context_id"), "6");
  const Profile& mutex = *find_profile(batch, "contentions");
  EXPECT_EQ(label(batch, mutex.samples.label_set(0), "span_name"), "GET /");
  const Link& link = batch.dictionary.links[mutex.samples.link(0).index()];
  EXPECT_EQ(link.trace_id[15], 0x0f);
  EXPECT_EQ(link.span_id[0], 0x11);
  EXPECT_EQ(link.span_id[7], 0x88);
}

TEST(Jfr, NamesTheProcessButNotItsArguments) {
  TestChunk chunk = small_chunk();
  chunk.type("jdk.JVMInformation", {{"startTime", "long"},
                                    {"jvmName", "java.lang.String"},
                                    {"jvmVersion", "java.lang.String"},
                                    {"javaArguments", "java.lang.String"},
                                    {"pid", "long"}});
  chunk.event("jdk.JVMInformation", chunk.encoder()
                                        .long_(1)
                                        .utf8("OpenJDK 64-Bit Server VM")
                                        .utf8("OpenJDK 64-Bit Server VM (17.0.9+9) for linux")
                                        .utf8("/opt/app/shop.jar --password=hunter2")
                                        .long_(4242)
                                        .take());
  const ProfileBatch batch = read_ok(chunk.finish());
  const LabelSetId resource = batch.profiles[0].resource;
  EXPECT_EQ(label(batch, resource, "process.runtime.name"), "OpenJDK 64-Bit Server VM");
  EXPECT_EQ(label(batch, resource, "process.runtime.version"), "17.0.9+9");
  EXPECT_EQ(label(batch, resource, "jvm.main_class"), "shop.jar");
  EXPECT_EQ(label(batch, resource, "process.pid"), "4242");
  for (size_t i = 0; i < batch.dictionary.strings.size(); ++i)
    EXPECT_THAT(std::string(batch.dictionary.string(StringId(i))), Not(HasSubstr("hunter2")));
}

TEST(Jfr, PropertiesNameTheServiceAndNothingElseOfThemIsKept) {
  TestChunk chunk = small_chunk();
  chunk.type("jdk.JVMInformation", {{"startTime", "long"},
                                    {"jvmName", "java.lang.String"},
                                    {"jvmArguments", "java.lang.String"},
                                    {"javaArguments", "java.lang.String"}});
  chunk.event("jdk.JVMInformation",
              chunk.encoder()
                  .long_(1)
                  .utf8("OpenJDK")
                  .utf8("-Xmx1g -Dapp.name=habit -Dkey=hunter2 -Dspring.application.name=spring")
                  .utf8("com.example.Main --token=hunter2")
                  .take());
  chunk.type("jdk.InitialSystemProperty",
             {{"startTime", "long"}, {"key", "java.lang.String"}, {"value", "java.lang.String"}});
  const auto property = [&](std::string_view key, std::string_view value) {
    chunk.event("jdk.InitialSystemProperty", chunk.encoder().long_(1).utf8(key).utf8(value).take());
  };
  property("db.password", "hunter2");
  property("sun.java.command", "com.example.Other hunter2");
  ProfileBatch batch = read_ok(chunk.finish());
  EXPECT_EQ(label(batch, batch.profiles[0].resource, "service.name"), "spring");
  EXPECT_EQ(label(batch, batch.profiles[0].resource, "jvm.main_class"), "com.example.Main");
  for (size_t i = 0; i < batch.dictionary.strings.size(); ++i)
    EXPECT_THAT(std::string(batch.dictionary.string(StringId(i))), Not(HasSubstr("hunter2")));
  property("otel.resource.attributes", "team=a,service.name=otel,x=y");
  batch = read_ok(chunk.finish());
  EXPECT_EQ(label(batch, batch.profiles[0].resource, "service.name"), "otel");
  property("otel.service.name", "told");
  batch = read_ok(chunk.finish());
  EXPECT_EQ(label(batch, batch.profiles[0].resource, "service.name"), "told");
}

TEST(Jfr, SkipsFieldsAndEventsItDoesNotKnow) {
  TestChunk chunk;
  chunk.type("demo.Point",
             {{"x", "double"}, {"y", "float"}, {"tags", "java.lang.String", false, true}});
  chunk.type("demo.Unknown", {{"what", "demo.Nowhere"}});
  chunk.type("jdk.ExecutionSample", {{"future", "demo.Point", false, true},
                                     {"flag", "boolean"},
                                     {"stackTrace", "jdk.types.StackTrace", true},
                                     {"tail", "demo.Point"}});
  const int64_t stack = chunk.stack({{chunk.method("A", "a"), 1}});
  Encoder fields = chunk.encoder();
  fields.int_(2);
  for (int i = 0; i < 2; ++i) fields.append(std::string(12, '\x01')).int_(1).utf8("tag");
  chunk.event("jdk.ExecutionSample", fields.raw_byte(1).long_(stack).take());
  chunk.event("demo.Unknown", "anything");
  const ProfileBatch batch = read_ok(chunk.finish());
  EXPECT_EQ(folded(batch, batch.profiles[0], 0), "A.a");
}

TEST(Jfr, GivesNoProfileForARecordingWithoutSamples) {
  EXPECT_TRUE(read_ok(TestChunk().finish()).profiles.empty());
}

}  // namespace
}  // namespace vesta::jfr
