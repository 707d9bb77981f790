// Damaged, truncated and malicious recordings: an error that says what is wrong, never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/jfr/test_batch.h"

namespace vesta::jfr {
namespace {

using testing::HasSubstr;

TEST(JfrHostile, SurvivesTruncationAtEveryByte) {
  for (const bool compressed : {true, false}) {
    const std::string bytes = small_chunk(compressed).finish();
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(read_jfr(std::string_view(bytes).substr(0, size), {}).ok()) << size;
  }
}

TEST(JfrHostile, ReadsTheWholeChunksOfACutOffRecording) {
  const std::string one = small_chunk().finish();
  const std::string two = one + small_chunk().finish();
  for (size_t size = one.size() + 1; size < two.size(); ++size) {
    const ProfileBatch batch = read_ok(two.substr(0, size));
    EXPECT_EQ(total(batch, "samples"), 3) << size;
    EXPECT_EQ(loss(batch, "chunk cut off"), 1u) << size;
  }
  EXPECT_EQ(loss(read_ok(two), "chunk cut off"), 0u);
  EXPECT_EQ(total(read_ok(two), "samples"), 6);
  // What follows is no part of a chunk.
  EXPECT_THAT(error_of(one + "FLX"), HasSubstr("chunk header"));
}

TEST(JfrHostile, SurvivesAnyByteChanged) {
  const std::string good = small_chunk().finish();
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int change : {0x01, 0xff}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      auto batch = read_jfr(bytes, {});
      if (batch) {
        EXPECT_EQ(find_inconsistency(*batch), "") << at;
      }
    }
  }
}

TEST(JfrHostile, ReadsWhatAnUnfinishedChunkHolds) {
  ChunkOptions writing;
  writing.file_state = 3;
  const std::string bytes = small_chunk().finish(writing);
  ProfileBatch batch = read_ok(bytes);
  EXPECT_EQ(total(batch, "samples"), 3);
  EXPECT_EQ(loss(batch, "recording not finished"), 1u);
  // Bytes that the header does not count yet.
  batch = read_ok(bytes + "half a record");
  EXPECT_EQ(total(batch, "samples"), 3);
  // A size that was never filled in, as older JDKs leave it.
  std::string unsized = bytes;
  unsized.replace(8, 8, std::string(8, '\0'));
  unsized[64] = 0;
  EXPECT_EQ(total(read_ok(unsized), "samples"), 3);
}

TEST(JfrHostile, SaysThatAnUnfinishedChunkLacksItsTypes) {
  ChunkOptions writing;
  writing.file_state = 3;
  writing.omit_metadata = true;
  EXPECT_THAT(error_of(small_chunk().finish(writing)), HasSubstr("the recording is incomplete"));
  // Whole chunks before it still count.
  const ProfileBatch batch = read_ok(small_chunk().finish() + small_chunk().finish(writing));
  EXPECT_EQ(total(batch, "samples"), 3);
  EXPECT_EQ(loss(batch, "recording not finished"), 1u);
}

TEST(JfrHostile, RefusesWhatIsNoRecording) {
  EXPECT_THAT(error_of(""), HasSubstr("no bytes"));
  EXPECT_THAT(error_of(std::string(100, 'x')), HasSubstr("magic bytes"));
  ChunkOptions old;
  old.major = 0;
  EXPECT_THAT(error_of(small_chunk().finish(old)), HasSubstr("version 0.0 is not supported"));
  ChunkOptions stopped;
  stopped.ticks_per_second = 0;
  EXPECT_THAT(error_of(small_chunk().finish(stopped)), HasSubstr("ticks per second"));
  EXPECT_THAT(error_of(small_chunk().finish() + "garbage after the last chunk, long enough to hold "
                                                "a header of sixty-eight bytes"),
              HasSubstr("magic bytes"));
}

TEST(JfrHostile, RefusesRecordsThatDoNotFit) {
  TestChunk empty = small_chunk();
  empty.raw_record(std::string(8, '\0'));
  EXPECT_THAT(error_of(empty.finish()), HasSubstr("record: size 0"));
  TestChunk huge = small_chunk();
  huge.raw_record(std::string("\xff\xff\xff\xff\x07\x14", 6));
  EXPECT_THAT(error_of(huge.finish()), HasSubstr("record: size 2147483647"));
}

TEST(JfrHostile, RefusesOffsetsOutsideOfTheChunk) {
  for (const size_t field : {16, 24}) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string bytes = small_chunk().finish();
      bytes.replace(field, 8, std::string(8, value));
      EXPECT_THAT(error_of(bytes), HasSubstr("is outside "));
    }
  }
}

TEST(JfrHostile, RefusesEventsShorterThanTheirFields) {
  TestChunk chunk;
  chunk.event("jdk.ExecutionSample", chunk.encoder().long_(5).take());
  EXPECT_THAT(error_of(chunk.finish()), HasSubstr("fields run past its end"));
}

TEST(JfrHostile, RefusesNegativeValues) {
  EventChunk e;
  e.define("jdk.ObjectAllocationSample", {{"weight", "long"}});
  e.chunk.event("jdk.ObjectAllocationSample", e.event(1, 0).long_(-5).take());
  const std::string bytes = e.chunk.finish();
  EXPECT_THAT(error_of(bytes), HasSubstr("weight is negative"));
  ReadOptions lenient;
  lenient.allow_negative = true;
  EXPECT_EQ(total(read_ok(bytes, lenient), "alloc_sample_bytes"), -5);
}

TEST(JfrHostile, RefusesTypesThatContainThemselves) {
  TestChunk chunk;
  chunk.type("demo.Loop", {{"again", "demo.Loop"}});
  chunk.type("jdk.ExecutionSample",
             {{"loop", "demo.Loop"}, {"stackTrace", "jdk.types.StackTrace", true}});
  EXPECT_THAT(error_of(chunk.finish()), HasSubstr("contains itself"));
}

TEST(JfrHostile, BoundsTypesThatMultiply) {
  // Each level has many fields of the next: without a bound, sixteen levels would never end.
  TestChunk chunk;
  for (int level = 0; level < 15; ++level) {
    const std::vector<TestField> fields(50, {"f", "demo.Level" + std::to_string(level + 1)});
    chunk.type("demo.Level" + std::to_string(level), fields);
  }
  chunk.type("demo.Level15", {});
  chunk.type("jdk.ExecutionSample", {{"all", "demo.Level0"}});
  EXPECT_THAT(error_of(chunk.finish()), HasSubstr("too many fields"));
}

TEST(JfrHostile, RefusesFieldsOfUnknownTypes) {
  TestChunk chunk;
  chunk.type("jdk.ExecutionSample",
             {{"odd", "demo.Nowhere"}, {"stackTrace", "jdk.types.StackTrace", true}});
  EXPECT_THAT(error_of(chunk.finish()), HasSubstr("unknown type"));
}

TEST(JfrHostile, RefusesArraysAndStringsOfTwoGigabytes) {
  TestChunk frames;
  frames.constant("jdk.types.StackTrace", 77,
                  frames.encoder().boolean(false).int_(0x7fffffff).take());
  EXPECT_THAT(error_of(frames.finish()), HasSubstr("run past"));
  TestChunk text;
  text.constant("jdk.types.Symbol", 77, text.encoder().raw_byte(3).int_(0x7fffffff).take());
  EXPECT_THAT(error_of(text.finish()), HasSubstr("run past"));
  TestChunk negative;
  negative.constant("jdk.types.Symbol", 77, negative.encoder().raw_byte(4).int_(-1).take());
  EXPECT_THAT(error_of(negative.finish()), HasSubstr("run past"));
  TestChunk encoding;
  encoding.constant("jdk.types.Symbol", 77, encoding.encoder().raw_byte(9).take());
  EXPECT_THAT(error_of(encoding.finish()), HasSubstr("run past"));
}

TEST(JfrHostile, DoesNotFollowReferencesInACircle) {
  TestChunk chunk;
  // A string that refers to itself, as the name of a class that refers to its own loader.
  chunk.constant("java.lang.String", 500, chunk.encoder().constant_text(500).take());
  chunk.constant("jdk.types.Symbol", 501, chunk.encoder().constant_text(500).take());
  chunk.constant("java.lang.Class", 502, chunk.encoder().long_(503).long_(501).int_(0).take());
  chunk.constant("jdk.types.ClassLoader", 503, chunk.encoder().long_(502).long_(501).take());
  chunk.constant("jdk.types.Method", 504,
                 chunk.encoder().long_(502).long_(501).long_(501).int_(0).raw_byte(0).take());
  chunk.execution_sample(5, 0, chunk.stack({{504, 3}}), 0);
  const ProfileBatch batch = read_ok(chunk.finish());
  EXPECT_EQ(folded(batch, batch.profiles[0], 0), "[unknown method]");
}

TEST(JfrHostile, HonoursTheLimitOnSamples) {
  ReadOptions options;
  options.max_samples = 1;
  EXPECT_THAT(error_of(small_chunk().finish(), options), HasSubstr("limit of 1"));
  options = {};
  options.max_decoded_bytes = 100;
  EXPECT_THAT(error_of(small_chunk().finish(), options), HasSubstr("limit of 100"));
}

TEST(JfrHostile, BoundsTheTextOfNames) {
  // Many methods of one class with a long name: a small file whose names would fill the memory.
  TestChunk chunk;
  const int64_t class_id = chunk.class_(std::string(60'000, 'x'));
  std::vector<TestFrame> frames;
  for (int64_t id = 100'000; id < 100'500; ++id) {
    chunk.constant("jdk.types.Method", id,
                   chunk.encoder().long_(class_id).long_(0).long_(0).int_(0).raw_byte(0).take());
    frames.push_back({id, 1});
  }
  chunk.execution_sample(5, 0, chunk.stack(frames), 0);
  EXPECT_THAT(error_of(chunk.finish()), HasSubstr("text of all names"));
}

}  // namespace
}  // namespace vesta::jfr
