// Records about this very process: where its code lies, the dynamic linker says.
#include "agent/stream/sample_resolver.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/clock.h"

namespace vesta::agent {
namespace {

using ::testing::ElementsAre;

using Kind = CodeAddress::Kind;

uint64_t address_of(pid_t (*function)()) {
  uint64_t address = 0;
  std::memcpy(&address, &function, sizeof(address));
  return address;
}

// In libc: it has unwind tables, and is loaded at another address than its own.
const uint64_t kCode = address_of(::getpgrp);

uint64_t bias_of(uint64_t address) {
  Dl_info info{};
  const void* place = nullptr;
  std::memcpy(&place, &address, sizeof(place));
  uint64_t base = 0;
  if (::dladdr(place, &info) != 0) std::memcpy(&base, &info.dli_fbase, sizeof(base));
  return base;
}

class SampleResolverTest : public ::testing::Test {
 protected:
  SampleResolverTest() { processes_.scan(); }

  vesta_sample head(vesta_unwind_result result = VESTA_UNWIND_COMPLETE) const {
    vesta_sample out{};
    out.time_ns = now_ns_;
    out.pid = static_cast<uint32_t>(::getpid());
    out.tid = out.pid + 1;
    out.cpu = 3;
    out.probe = 1;
    out.values[0] = 2;
    out.values[1] = 300;
    out.result = static_cast<uint8_t>(result);
    std::strcpy(out.comm, "worker");
    return out;
  }
  void add(vesta_sample head, const std::vector<uint64_t>& kernel,
           const std::vector<uint64_t>& user, size_t stack_bytes = 0) {
    head.kernel_frames = static_cast<uint16_t>(kernel.size());
    head.user_frames = static_cast<uint16_t>(user.size());
    head.stack_bytes = static_cast<uint16_t>(stack_bytes);
    std::vector<char> record(sizeof(head));
    std::memcpy(record.data(), &head, sizeof(head));
    const auto append = [&](const void* data, size_t bytes) {
      const auto* begin = static_cast<const char*>(data);
      record.insert(record.end(), begin, begin + bytes);
    };
    append(kernel.data(), kernel.size() * 8);
    append(user.data(), user.size() * 8);
    if (stack_bytes != 0) record.resize(record.size() + VESTA_LEAF_REGISTERS * 8 + stack_bytes);
    ASSERT_TRUE(parse_sample(record, {}, [&](const SampleRecord& r) { resolver_.add(r); }));
  }
  // Of a thread that waits, with one frame.
  void add_waiting(const vesta_sample& waiting, uint64_t frame, uint64_t switches) {
    vesta_sample first = waiting;
    first.user_frames = 1;
    std::vector<char> record(sizeof(first) + sizeof(frame));
    std::memcpy(record.data(), &first, sizeof(first));
    std::memcpy(record.data() + sizeof(first), &frame, sizeof(frame));
    ASSERT_TRUE(parse_sample(record, {},
                             [&](const SampleRecord& r) { resolver_.add_waiting(r, switches); }));
  }
  std::vector<Kind> kinds(const ResolvedSamples& samples) const {
    std::vector<Kind> out;
    for (const CodeAddress& frame : samples.frames) out.push_back(frame.kind);
    return out;
  }

  const uint64_t now_ns_ = monotonic_ns();
  ModuleRegistry modules_;
  ProcessTable processes_{modules_};
  TableLoader loader_{nullptr, nullptr, {}};
  ModuleSlots slots_{16};
  SampleResolver resolver_{processes_, modules_, loader_, slots_, nullptr};
};

TEST_F(SampleResolverTest, WhatASampleStandsForIsPassedOn) {
  add(head(), {}, {kCode | VESTA_FRAME_EXACT});
  const ResolvedSamples samples = resolver_.take();
  ASSERT_EQ(samples.samples.size(), 1U);
  const ResolvedSample& sample = samples.samples[0];
  EXPECT_EQ(sample.probe, 1U);
  EXPECT_THAT(sample.values, ElementsAre(2, 300));
  EXPECT_EQ(sample.tid, static_cast<uint32_t>(::getpid()) + 1);
  EXPECT_EQ(sample.cpu, 3U);
  EXPECT_EQ(sample.time_ns, now_ns_);
  EXPECT_STREQ(sample.thread, "worker");
  ASSERT_EQ(samples.processes.size(), 1U);
  EXPECT_EQ(samples.processes[0]->index, sample.process);
  EXPECT_EQ(samples.processes[0]->pid, static_cast<uint32_t>(::getpid()));
  EXPECT_TRUE(resolver_.take().empty());
}

TEST_F(SampleResolverTest, AddressesBecomePlacesInFilesAndCallersTheirCalls) {
  add(head(), {}, {kCode | VESTA_FRAME_EXACT, kCode + 8});
  const ResolvedSamples samples = resolver_.take();
  ASSERT_EQ(samples.frames.size(), 2U);
  EXPECT_THAT(kinds(samples), ElementsAre(Kind::kModule, Kind::kModule));
  EXPECT_EQ(samples.frames[0].address, kCode - bias_of(kCode));
  EXPECT_EQ(samples.frames[1].address, kCode + 8 - 1 - bias_of(kCode));
  // The module is told of once.
  ASSERT_EQ(samples.modules.size(), 1U);
  EXPECT_EQ(samples.frames[0].owner, samples.modules[0]->id().value);
  EXPECT_THAT(samples.modules[0]->path(), ::testing::HasSubstr("libc"));
  add(head(), {}, {kCode | VESTA_FRAME_EXACT});
  EXPECT_TRUE(resolver_.take().modules.empty());
  resolver_.tell_modules_again();
  add(head(), {}, {kCode | VESTA_FRAME_EXACT});
  EXPECT_EQ(resolver_.take().modules.size(), 1U);
}

TEST_F(SampleResolverTest, KernelFramesComeFirstAndOnlyTheLeafIsExact) {
  constexpr uint64_t kKernel = 0xffffffff81000100;
  add(head(), {kKernel, kKernel + 0x100}, {kCode | VESTA_FRAME_EXACT});
  const ResolvedSamples samples = resolver_.take();
  EXPECT_THAT(kinds(samples), ElementsAre(Kind::kKernel, Kind::kKernel, Kind::kModule));
  EXPECT_EQ(samples.frames[0].address, kKernel);
  EXPECT_EQ(samples.frames[1].address, kKernel + 0x100 - 1);
}

TEST_F(SampleResolverTest, CodeOutsideOfFilesBelongsToItsProcess) {
  add(head(), {}, {0x10 | VESTA_FRAME_EXACT});
  const ResolvedSamples samples = resolver_.take();
  EXPECT_THAT(kinds(samples), ElementsAre(Kind::kAnonymous));
  EXPECT_EQ(samples.frames[0].address, 0x10U);
  EXPECT_EQ(samples.frames[0].owner, samples.samples[0].process);
}

TEST_F(SampleResolverTest, CallersThatAreOnlyLikelyAreMarkedAndCounted) {
  add(head(), {},
      {kCode | VESTA_FRAME_EXACT, (kCode + 8) | VESTA_FRAME_DECODED,
       (kCode + 16) | VESTA_FRAME_GUESSED});
  const ResolvedSamples samples = resolver_.take();
  EXPECT_THAT(kinds(samples),
              ElementsAre(Kind::kModule, Kind::kModule, Kind::kGuessedCaller, Kind::kModule));
  EXPECT_EQ(samples.samples[0].decoded_frames, 1U);
  EXPECT_EQ(samples.samples[0].guessed_frames, 1U);
}

TEST_F(SampleResolverTest, AFrameOfARuntimeIsTaggedAndToldOfOnce) {
  const uint64_t tag = VESTA_FRAME_RUNTIME | uint64_t{9} << VESTA_FRAME_RUNTIME_SHIFT;
  // The payload is the runtime's own, whatever bits it has.
  const uint64_t payload = VESTA_FRAME_GUESSED | VESTA_FRAME_RUNTIME | 5;
  add(head(), {}, {kCode | VESTA_FRAME_EXACT, tag | 17, payload, kCode + 8});
  const ResolvedSamples samples = resolver_.take();
  EXPECT_THAT(kinds(samples), ElementsAre(Kind::kModule, Kind::kRuntime, Kind::kModule));
  EXPECT_EQ(samples.samples[0].guessed_frames, 0U);
  ASSERT_EQ(samples.runtime_frames.size(), 1U);
  const RuntimeSampleFrame& frame = samples.runtime_frames[0];
  EXPECT_EQ(frame.runtime, 9U);
  EXPECT_EQ(frame.frame, (RuntimeFrame{17, payload}));
  EXPECT_EQ(frame.process, samples.samples[0].process);
  EXPECT_EQ(samples.frames[1].address, frame.number);
  // The same frame has the same number; another line of it another one.
  add(head(), {}, {tag | 17, payload, tag | 18, payload});
  const ResolvedSamples again = resolver_.take();
  EXPECT_EQ(again.frames[0], samples.frames[1]);
  EXPECT_NE(again.frames[1], samples.frames[1]);
  EXPECT_EQ(again.runtime_frames.size(), 1U);
}

TEST_F(SampleResolverTest, ATaggedFrameThatIsCutIsLeftOut) {
  add(head(), {}, {kCode | VESTA_FRAME_EXACT, VESTA_FRAME_RUNTIME});
  EXPECT_THAT(kinds(resolver_.take()), ElementsAre(Kind::kModule));
}

TEST_F(SampleResolverTest, AResultThatNobodyKnowsIsABadFrame) {
  vesta_sample odd = head();
  odd.result = 200;
  add(odd, {}, {kCode});
  EXPECT_EQ(resolver_.take().samples[0].result, VESTA_UNWIND_BAD_FRAME);
}

TEST_F(SampleResolverTest, AStackWaitsForItsTableAndThenGoesOn) {
  vesta_sample waiting = head(VESTA_UNWIND_NO_TABLE);
  waiting.resume.ip = kCode;
  waiting.resume.sp = 0x7000;
  waiting.resume.has_registers = 1;
  add(waiting, {}, {kCode | VESTA_FRAME_EXACT}, 64);
  EXPECT_TRUE(resolver_.is_waiting());
  EXPECT_EQ(resolver_.oldest_waiting_ns(), now_ns_);
  EXPECT_TRUE(resolver_.take().samples.empty());
  // Not older than itself.
  resolver_.give_up_waiting(now_ns_);
  EXPECT_TRUE(resolver_.is_waiting());
  ASSERT_TRUE(loader_.wait_until_idle(std::chrono::seconds(60)));
  resolver_.retry();
  EXPECT_FALSE(resolver_.is_waiting());
  EXPECT_EQ(resolver_.oldest_waiting_ns(), UINT64_MAX);
  const ResolvedSamples samples = resolver_.take();
  ASSERT_EQ(samples.samples.size(), 1U);
  // At its first instruction the caller is at the stack pointer: address 0, which ends it.
  EXPECT_NE(samples.samples[0].result, VESTA_UNWIND_NO_TABLE);
  EXPECT_GE(samples.samples[0].frame_count, 1U);
}

TEST_F(SampleResolverTest, AStackWhoseTableDoesNotComeIsSentAsItIs) {
  vesta_sample waiting = head(VESTA_UNWIND_NO_TABLE);
  waiting.resume.ip = kCode;
  waiting.resume.sp = 0x7000;
  waiting.resume.has_registers = 1;
  add(waiting, {}, {kCode | VESTA_FRAME_EXACT}, 64);
  resolver_.give_up_waiting();
  EXPECT_FALSE(resolver_.is_waiting());
  EXPECT_EQ(resolver_.take().samples.size(), 1U);
}

TEST_F(SampleResolverTest, AnotherProgramIsAnotherProcess) {
  add(head(), {}, {kCode});
  const uint32_t first = resolver_.take().samples[0].process;
  const auto pid = static_cast<uint32_t>(::getpid());
  processes_.apply(CommEvent{monotonic_ns(), pid, pid, true, "other"});
  vesta_sample later = head();
  later.time_ns = monotonic_ns();
  add(later, {}, {kCode});
  const ResolvedSamples samples = resolver_.take();
  EXPECT_NE(samples.samples[0].process, first);
  EXPECT_THAT(samples.ended, ElementsAre(first));
  EXPECT_EQ(samples.processes[0]->name, "other");
}

TEST_F(SampleResolverTest, AThreadThatHasNotRunKeepsItsStack) {
  vesta_sample waiting = head();
  EXPECT_FALSE(resolver_.add_again(waiting, 5)) << "not known yet";
  add_waiting(waiting, kCode | VESTA_FRAME_EXACT, 5);
  waiting.values[1] = 900;
  waiting.detail = 4;
  EXPECT_TRUE(resolver_.add_again(waiting, 5));
  EXPECT_FALSE(resolver_.add_again(waiting, 6)) << "it has run";
  const ResolvedSamples out = resolver_.take();
  ASSERT_EQ(out.samples.size(), 2U);
  EXPECT_EQ(out.samples[1].values[1], 900U);
  EXPECT_EQ(out.samples[1].detail, 4U);
  EXPECT_EQ(out.frames[out.samples[0].first_frame], out.frames[out.samples[1].first_frame]);
  EXPECT_EQ(out.samples[0].process, out.samples[1].process);
  // It is kept as long as it is named from round to round.
  resolver_.forget_waiting();
  EXPECT_TRUE(resolver_.add_again(waiting, 5));
  resolver_.forget_waiting();
  resolver_.forget_waiting();
  EXPECT_FALSE(resolver_.add_again(waiting, 5));
}

class SampleResolverEnderTest : public SampleResolverTest {
 protected:
  vesta_sample event() const {
    vesta_sample out = head();
    out.link = kLink;
    out.object = 0x1000;
    return out;
  }
  vesta_sample ender(vesta_unwind_result result = VESTA_UNWIND_COMPLETE) const {
    vesta_sample out = head(result);
    out.link = kLink | VESTA_LINK_ENDER;
    out.tid = 4711;
    std::strcpy(out.comm, "waker");
    return out;
  }
  static constexpr uint64_t kLink = 0x1234'5678'9abc;
};

TEST_F(SampleResolverEnderTest, WhoEndedAnEventComesWithIt) {
  add(ender(), {}, {kCode | VESTA_FRAME_EXACT, 0x10});
  const ResolvedSamples first = resolver_.take();
  EXPECT_TRUE(first.samples.empty()) << "no event of its own";
  EXPECT_EQ(first.modules.size(), 1U);
  EXPECT_FALSE(first.empty()) << "it tells of a module, once";
  add(event(), {}, {0x20});
  add(event(), {}, {0x20});
  const ResolvedSamples out = resolver_.take();
  ASSERT_EQ(out.samples.size(), 2U);
  const ResolvedSample& sample = out.samples[0];
  EXPECT_EQ(sample.frame_count, 1U);
  EXPECT_EQ(sample.object, 0x1000U);
  EXPECT_EQ(sample.ender.tid, 4711U);
  EXPECT_EQ(sample.ender.process, sample.process);
  EXPECT_STREQ(sample.ender.thread, "waker");
  ASSERT_EQ(sample.ender.frame_count, 2U);
  EXPECT_EQ(out.frames[sample.ender.first_frame].kind, Kind::kModule);
  EXPECT_EQ(out.frames[sample.ender.first_frame].address, kCode - bias_of(kCode));
  EXPECT_EQ(out.samples[1].ender.process, 0U) << "once";
}

TEST_F(SampleResolverEnderTest, AnEventWaitsForTheTableOfWhoEndedIt) {
  vesta_sample waiting = ender(VESTA_UNWIND_NO_TABLE);
  waiting.resume.ip = kCode;
  waiting.resume.sp = 0x7000;
  waiting.resume.has_registers = 1;
  add(waiting, {}, {kCode | VESTA_FRAME_EXACT}, 64);
  add(event(), {7}, {0x20});
  EXPECT_TRUE(resolver_.take().samples.empty());
  // Nothing changes when what is older is given up.
  resolver_.give_up_waiting(now_ns_);
  ASSERT_TRUE(loader_.wait_until_idle(std::chrono::seconds(60)));
  resolver_.retry();
  EXPECT_FALSE(resolver_.is_waiting());
  const ResolvedSamples out = resolver_.take();
  ASSERT_EQ(out.samples.size(), 1U);
  EXPECT_EQ(out.samples[0].frame_count, 2U);
  EXPECT_EQ(out.samples[0].ender.tid, 4711U);
  EXPECT_NE(out.samples[0].ender.result, VESTA_UNWIND_NO_TABLE);
  EXPECT_GE(out.samples[0].ender.frame_count, 1U);
}

TEST_F(SampleResolverEnderTest, ATableThatDoesNotComeCostsNoEvent) {
  vesta_sample waiting = ender(VESTA_UNWIND_NO_TABLE);
  waiting.resume.ip = kCode;
  waiting.resume.sp = 0x7000;
  add(waiting, {}, {kCode | VESTA_FRAME_EXACT}, 64);
  add(event(), {}, {0x20});
  resolver_.give_up_waiting();
  const ResolvedSamples out = resolver_.take();
  ASSERT_EQ(out.samples.size(), 1U);
  EXPECT_EQ(out.samples[0].ender.tid, 4711U);
}

TEST_F(SampleResolverEnderTest, EndersOfEventsThatNeverComeAreForgotten) {
  vesta_sample first = ender();
  for (uint64_t link = 1; link <= 10'000; ++link) {
    first.link = link | VESTA_LINK_ENDER;
    add(first, {}, {0x10});
  }
  vesta_sample late = event();
  late.link = 1;
  add(late, {}, {0x20});
  late.link = 10'000;
  add(late, {}, {0x20});
  const ResolvedSamples out = resolver_.take();
  ASSERT_EQ(out.samples.size(), 2U);
  EXPECT_EQ(out.samples[0].ender.process, 0U);
  EXPECT_NE(out.samples[1].ender.process, 0U);
}

}  // namespace
}  // namespace vesta::agent
